"""Expand words as the shell does: parameters, outputs of commands, arithmetic, splitting."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from grpo_ref.explain.launch.shell.arithmetic import NoNumber, evaluate
from grpo_ref.explain.launch.shell.braces import braced
from grpo_ref.explain.launch.shell.fields import WHITE, Fields, Piece
from grpo_ref.explain.launch.shell.lexer import ARRAY, operand
from grpo_ref.explain.launch.shell.patterns import Pattern, removed, replaced
from grpo_ref.explain.launch.shell.scope import GIVEN_BY_SHELL, Array
from grpo_ref.explain.launch.shell.state import State
from grpo_ref.explain.launch.shell.syntax import Elements, Expansion, Literal, Placeholder, Word
from grpo_ref.explain.launch.text import UNSET, Hole, Text, joined

ARGUMENT = "is an argument that the file is given"
RUN = "is known only when the file runs"
BLANKS = re.compile("[ \t\n]+")
MATCHING = 20  # characters whose work is that of one character in a pattern
PARAMETER = re.compile(
    r"([#!]?)([A-Za-z_]\w*|\d+|[@*#?$!-])(?:\[((?:[^\[\]]|\[[^\]]*\])*)\])?(.*)", re.DOTALL
)
OPERATOR = re.compile(r":?[-=?+]|##?|%%?|/[/#%]?|\^\^?|,,?|:|@")
CASES: dict[str, Callable[[str], str]] = {
    "^^": str.upper,
    ",,": str.lower,
    "^": lambda s: s[:1].upper() + s[1:],
    ",": lambda s: s[:1].lower() + s[1:],
}


@dataclass(frozen=True)
class Expander:
    """Expands words with the variables of a shell. `output` returns the output of a script in $(...)."""

    shell: State
    output: Callable[[str], Text]

    def words(self, word: Word) -> list[Text]:
        """Expand a word of a command into any number of words."""
        return [text for one in braced(word, self.shell.budget) for text in self._fields(_tilde(one))]

    def text(self, word: Word) -> Text:
        """Expand a word into one text at a place where it is not split, as in an assignment."""
        return self._sized(Text.of(*(joined(piece.texts) for piece in self._pieces(_tilde(word))))).splitting(
            False
        )

    def elements(self, elements: Elements) -> list[Text]:
        """Expand the words between the brackets of an array."""
        return [text for word in elements.words for text in self.words(word)]

    def split(self, text: Text) -> list[Text]:
        """Split a text into words as `read -a` does."""
        fields = Fields(self._separators())
        fields.add(
            Piece([Text.of(*text.parts[:-1], str(text.parts[-1]).rstrip("\n"))] if text else [], False, True)
        )
        fields.end()
        return fields.done

    def pattern(self, word: Word) -> Pattern | None:
        """Return the pattern that a word stands for; None if it is unknown."""
        pieces = [(joined(piece.texts), piece.quoted) for piece in self._pieces(word)]
        if not all(text.known for text, _ in pieces):
            return None
        if any(not quoted and re.search(r"[@?*+!]\(", str(text)) for text, quoted in pieces):
            return None
        return Pattern.of((str(text), quoted) for text, quoted in pieces)

    def number(self, name: str) -> int:
        """Return the value of a variable in arithmetic."""
        value = self.shell.scope.text(name)
        if not value.known:
            raise NoNumber(f"{name} is not known")
        with self.shell.budget.nested():
            return evaluate(str(value), self)

    def set_number(self, name: str, value: int) -> None:
        """Assign a value to a variable in arithmetic."""
        self.shell.assign(name, Text.of(str(value)))

    def arithmetic(self, source: str) -> int:
        """Return the value of an expression.

        Raises:
          NoNumber: if the value is unknown.
        """
        return self._evaluated(self.text(operand(source, quoted=True)))

    def _evaluated(self, expression: Text) -> int:
        if not expression.known:
            raise NoNumber(f"{expression.holes[0]} {expression.holes[0].why}")
        self.shell.budget.spend(len(str(expression)))
        return evaluate(str(expression), self)

    def _fields(self, word: Word) -> list[Text]:
        fields = Fields(self._separators())
        for piece in self._pieces(word):
            fields.add(piece)
        fields.end()
        return [self._sized(text) for text in fields.done]

    def _separators(self) -> re.Pattern[str]:
        if "IFS" not in self.shell.scope.variables:
            return BLANKS
        characters = self.shell.scope.text("IFS")
        known = str(characters) if characters.known else WHITE
        white = "".join(set(known) & set(WHITE))
        hard = "".join(set(known) - set(WHITE))
        alternatives = (
            [f"[{white}]*[{re.escape(hard)}][{white}]*" if white else f"[{re.escape(hard)}]"] if hard else []
        )
        return re.compile("|".join([*alternatives, *([f"[{white}]+"] if white else [])]) or r"(?!)")

    def _sized(self, text: Text) -> Text:
        self.shell.budget.length(len(str(text)))
        return text

    def _pieces(self, word: Word, splits: bool = False) -> Iterator[Piece]:
        """Yield the expansion of each part of a word.

        `splits` is true for an unquoted word after an operator.
        """
        for part in word:
            if isinstance(part, Literal):
                yield Piece([self.shell.literal(part.text)], part.quoted, splits and not part.quoted)
            elif isinstance(part, Placeholder):
                yield Piece([Text.of(Hole(part.name, "is a place to fill in"))], quoted=True)
            elif isinstance(part, Elements):
                yield Piece([joined(self.elements(part))], quoted=True)
            else:
                with self.shell.budget.nested():
                    yield from self._expanded(part)

    def _expanded(self, part: Expansion) -> Iterator[Piece]:
        if part.kind == "parameter":
            yield from self._parameter(part.source, part.quoted)
        elif part.kind == "file":
            yield Piece([Text.of(Hole(f"<({part.source})", "is a file that a command writes"))], quoted=True)
        elif part.kind == "output":
            yield Piece([self.output(part.source)], part.quoted, not part.quoted)
        else:
            yield Piece([self._computed(part.source)], part.quoted, not part.quoted)

    def _computed(self, source: str) -> Text:
        try:
            return Text.of(str(self.arithmetic(source)))
        except NoNumber as error:
            return Text.of(Hole(f"$(({source}))", f"cannot be computed: {error}"))

    def _parameter(self, source: str, quoted: bool) -> Iterator[Piece]:
        """Expand $name, ${name} and ${name...}."""
        match = PARAMETER.fullmatch(source)
        if not match or (match[1] and match[4] and match[1] == "#"):
            yield self._unknown(source, quoted)
        elif match[1] == "#":
            yield self._piece(self._length(match, source), quoted)
        elif match[1] == "!":
            yield from self._indirect(match, source, quoted)
        elif match[4]:
            yield from self._with_operator(match, source, quoted)
        else:
            yield self._plain(match, quoted)

    def _plain(self, match: re.Match[str], quoted: bool) -> Piece:
        self.shell.recall(match[2])
        texts = self._many(match[2], match[3])
        if texts is None:
            return self._piece(self._one(match[2], match[3]), quoted)
        return self._row(texts, "*" in (match[2], match[3]), quoted)

    def _row(self, texts: Sequence[Text], star: bool, quoted: bool) -> Piece:
        """Return the elements of $@ as one word each, those of "$*" as one word. Unquoted, both are split."""
        if star and quoted:
            first = str(self.shell.scope.text("IFS"))[:1] if "IFS" in self.shell.scope.variables else " "
            return Piece([joined(texts, first)], quoted)
        return Piece(texts, quoted, splits=not quoted)

    def _many(self, name: str, index: str | None) -> Sequence[Text] | None:
        """Return the texts of $@ or ${A[@]}; None for a parameter with a single text."""
        scope = self.shell.scope
        if name in ("@", "*"):
            return (
                [Text.of(Hole("$@", ARGUMENT, splits=True))] if scope.arguments is None else scope.arguments
            )
        if index not in ("@", "*"):
            return None
        if name not in scope.variables:
            return [Text.of(Hole(f"${{{name}[@]}}", UNSET, splits=True))]
        value = scope.variables[name]
        if isinstance(value, Array):
            return value.texts
        return [] if value is None else [value]

    def _one(self, name: str, index: str | None) -> Text:
        scope = self.shell.scope
        if name == "#":
            return self._count()
        if name.isdigit():
            return self._argument(int(name))
        if not name.isidentifier():
            return Text.of(Hole(f"${name}", RUN))
        value = scope.variables.get(name)
        if index is None or not isinstance(value, Array):
            return scope.text(name)
        return self._element(value, index, name)

    def _element(self, value: Array, index: str, name: str) -> Text:
        key = self.key(value, operand(index, quoted=False))
        if key is None or (not value.keyed and value.open_before(int(key))):
            return Text.of(Hole(f"${{{name}[{index}]}}", RUN))
        if not value.keyed and int(key) < 0:
            return value.texts[int(key)] if -int(key) <= len(value.texts) else Text()
        return value.items.get(key, Text())

    def key(self, value: Array, index: Word) -> str | None:
        """Return the key that an index in brackets means; None if it is unknown."""
        text = self.text(index)
        if value.keyed:
            return str(text) if text.known else None
        try:
            return str(self._evaluated(text))
        except NoNumber:
            return None

    def _count(self) -> Text:
        if self.shell.scope.arguments is None:
            self.shell.assume("The file is taken to be run without arguments.")
            return Text.of("0")
        if any(text.open for text in self.shell.scope.arguments):
            return Text.of(Hole("$#", RUN))
        return Text.of(str(len(self.shell.scope.arguments)))

    def _argument(self, number: int) -> Text:
        arguments = self.shell.scope.arguments
        if number == 0:
            return Text.of(Hole("$0", RUN))
        if arguments is None:
            return Text.of(Hole(f"${number}", ARGUMENT))
        if any(text.open for text in arguments[:number]):
            return Text.of(Hole(f"${number}", RUN))
        return arguments[number - 1] if number <= len(arguments) else Text()

    def _length(self, match: re.Match[str], source: str) -> Text:
        texts = self._many(match[2], match[3])
        if texts is not None and not any(text.open for text in texts):
            return Text.of(str(len(texts)))
        text = self._one(match[2], match[3])
        if texts is None and text.known:
            return Text.of(str(len(str(text))))
        return Text.of(Hole(f"${{{source}}}", RUN))

    def _indirect(self, match: re.Match[str], source: str, quoted: bool) -> Iterator[Piece]:
        """Expand ${!name}, the variable whose name `name` holds, and ${!A[@]}, the keys of an array."""
        value = self.shell.scope.variables.get(match[2])
        if isinstance(value, Array) and match[3] in ("@", "*") and not match[4] and not value.open_before(-1):
            yield self._row([Text.of(key) for key in value.items], match[3] == "*", quoted)
        elif (
            isinstance(value, Text)
            and value.known
            and str(value).isidentifier()
            and match[4] not in ("*", "@")
        ):
            yield from self._parameter(str(value) + match[4], quoted)
        else:
            yield self._unknown(source, quoted)

    def _with_operator(self, match: re.Match[str], source: str, quoted: bool) -> Iterator[Piece]:
        operator = OPERATOR.match(match[4])
        if not operator:
            yield self._unknown(source, quoted)
            return
        rest = match[4][operator.end() :]
        if operator[0].lstrip(":") in ("-", "=", "?", "+") and operator[0][-1:] in "-=?+":
            yield from self._default(match, operator[0], rest, quoted)
            return
        plain = self._plain(match, quoted)
        if operator[0] == ":" and self._many(match[2], match[3]) is not None:
            yield self._sliced_row(plain, match, rest, source)
            return
        texts = [self._changed(text, operator[0], rest, source) for text in plain.texts]
        yield Piece(texts, plain.quoted, plain.splits)

    def _default(self, match: re.Match[str], operator: str, rest: str, quoted: bool) -> Iterator[Piece]:
        """Expand ${x:-d} and similar operators."""
        plain = self._plain(match, quoted)
        missing = self._missing(match, operator, rest, plain)
        if missing is None or (missing and operator[-1] == "?"):
            yield self._unknown(match[0], quoted)
        elif missing == (operator[-1] == "+"):
            yield plain if operator[-1] != "+" else Piece([Text()], quoted, not quoted)
        else:
            word = operand(rest, quoted)
            if operator[-1] == "=":
                self.shell.assign(match[2], self.text(word))
            yield from self._pieces(word or (Literal("", quoted),), splits=not quoted)

    def _missing(self, match: re.Match[str], operator: str, rest: str, plain: Piece) -> bool | None:
        """Return true if the variable is unset (or empty, for operators with a colon); None if that is unknown."""
        name, variables = match[2], self.shell.scope.variables
        if name in variables and (variables[name] is None or operator[0] != ":"):
            return variables[name] is None
        whole = joined(plain.texts)
        if not whole.known and not any(isinstance(part, str) for part in whole.parts):
            return self._assumed_missing(whole, match[0])
        if operator[0] != ":" and not name.isdigit():
            return False
        return not whole

    def _assumed_missing(self, whole: Text, source: str) -> bool | None:
        """Take a variable from outside the script as unset, and add a note about it."""
        if not all(is_outside(hole) for hole in whole.holes):
            return False if any(hole.name[1:] in GIVEN_BY_SHELL for hole in whole.holes) else None
        name = outside_name(whole.holes[0])
        self.shell.assume(f"{name} is taken as unset in ${{{source}}}.")
        return True

    def _changed(self, text: Text, operator: str, rest: str, source: str) -> Text:
        """Apply an operator such as #, %, /, ^ or a slice to a text."""
        if operator == "##" and rest == "*/" and text.parts and "/" in str(text.parts[-1]):
            last = text.parts[-1]
            if isinstance(last, str):
                return Text.of(last[last.rindex("/") + 1 :])
        changed = self._changed_string(str(text), operator, rest) if text.known else None
        return Text.of(Hole(f"${{{source}}}", _why(text)) if changed is None else changed)

    def _changed_string(self, string: str, operator: str, rest: str) -> str | None:
        if operator in CASES:
            return None if rest else CASES[operator](string)
        if operator == ":":
            return self._slice(string, rest)
        if operator == "@":
            return None
        if operator[0] == "/":
            return self._substituted(string, operator, rest)
        pattern = self.pattern(operand(rest, quoted=False))
        if pattern is None:
            return None
        self.shell.budget.spend(MATCHING * len(string))
        return removed(string, pattern, operator)

    def _substituted(self, string: str, operator: str, rest: str) -> str | None:
        """Expand ${x/pattern/by}."""
        found, by = _parted(operand(rest, quoted=False))
        pattern, replacement = self.pattern(found), self.text(by)
        if pattern is None or not replacement.known or "&" in str(replacement):
            return None
        if not pattern.items:
            return string
        self.shell.budget.spend(MATCHING * len(string) * (len(string) if None in pattern.items else 1))
        changed = replaced(string, pattern, str(replacement), operator)
        self.shell.budget.length(len(changed))
        return changed

    def _slice(self, string: str, rest: str) -> str | None:
        """Expand ${x:offset:length}."""
        bounds = self._bounds(rest, len(string))
        return None if bounds is None else string[slice(*bounds)]

    def _bounds(self, rest: str, size: int) -> tuple[int, int] | None:
        offset_source, colon, length_source = rest.partition(":")
        try:
            offset = self.arithmetic(offset_source)
            length = self.arithmetic(length_source) if colon else size
        except NoNumber:
            return None
        begin = offset if offset >= 0 else size + offset
        if begin < 0 or begin > size:
            return 0, 0
        return begin, begin + length if length >= 0 else size + length

    def _sliced_row(self, plain: Piece, match: re.Match[str], rest: str, source: str) -> Piece:
        """Expand ${A[@]:offset:length}. Element 0 of $@ is $0."""
        of_arguments = match[2] in ("@", "*")
        texts = [Text.of(Hole("$0", RUN)), *plain.texts] if of_arguments else list(plain.texts)
        bounds = self._bounds(rest, len(texts))
        if bounds is None or any(text.open for text in texts):
            return self._unknown(source, plain.quoted)
        return Piece(texts[slice(*bounds)], plain.quoted, plain.splits)

    @staticmethod
    def _piece(text: Text, quoted: bool) -> Piece:
        return Piece([text.splitting(False) if quoted else text], quoted, splits=not quoted)

    def _unknown(self, source: str, quoted: bool) -> Piece:
        return self._piece(Text.of(Hole(f"${{{source}}}", RUN)), quoted)


def outside_name(hole: Hole) -> str:
    """Return the name of a variable or argument from outside: LR, $1."""
    name = hole.name.strip("${}")
    return f"${name}" if name.isdigit() else name


def is_outside(hole: Hole) -> bool:
    """Return true if a hole is a variable or argument from outside, which may be taken as unset."""
    return hole.why in (UNSET, ARGUMENT)


def _why(text: Text) -> str:
    return f"depends on {text.holes[0]}, which {text.holes[0].why}" if text.holes else RUN


def _parted(word: Word) -> tuple[Word, Word]:
    """Split a word at its first unquoted slash."""
    for i, part in enumerate(word):
        if isinstance(part, Literal) and not part.quoted and "/" in part.text:
            before, after = part.text.split("/", 1)
            return (*word[:i], Literal(before)), (Literal(after), *word[i + 1 :])
    return word, ()


def _tilde(word: Word) -> Word:
    """Replace ~/x by $HOME/x."""
    first = word[0] if word else None
    if not isinstance(first, Literal) or first.quoted or "~" not in first.text:
        return word
    assignment = ARRAY.match(first.text)
    before = assignment[0] if assignment else ""
    match = re.compile(r"~(?=/|$)").match(first.text, len(before))
    if not match:
        return word
    return (
        Literal(before),
        Expansion("parameter", "HOME", quoted=True),
        Literal(first.text[match.end() :]),
        *word[1:],
    )
