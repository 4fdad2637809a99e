"""Split a shell script into tokens, each with its place, and words into parts."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest

from grpo_ref.explain.launch.shell.script import CUT_OFF, CannotRead, Note
from grpo_ref.explain.launch.shell.syntax import (
    Document,
    Elements,
    Expansion,
    Literal,
    Part,
    Placeholder,
    Token,
    Word,
)

VARIABLE = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
ARRAY = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
REDIRECT = re.compile(r"(?:\d+|\{[A-Za-z_]\w*\})?(<<<|<<-|<<|<>|<&|>&|>>|>\||&>>|&>|<|>)")
OPERATOR = re.compile(r";;&|;;|;&|;|\|\||\|&|\||&&|&|\(|\)")
PLACEHOLDER = re.compile(r"<[A-Za-z_][\w.-]*>(?=[\s/\"']|$)")
RESERVED = frozenset("if then elif else fi for select while until do done case esac function { } !".split())
NAMED = frozenset({"for", "case", "select", "function"})
"""Reserved words that a name follows, not a command."""
BLANK = re.compile(r"(?:[ \t]|\\\n)*")
TEST_BEGIN = re.compile(r"\[\[\s")
TEST_END = re.compile(r"(?<=\s)\]\](?=[\s;&|)]|$)")
FENCE = re.compile(r"(?:```|''')[\w-]*[ \t]*(?=\n|$)")
STRAY = re.compile(r"`(?![^`\n]*`)")
"""A backtick that is not closed in its line."""
RUN = re.compile(r"[^\"$`\\]+")
PLAIN = re.compile(r"[^\s\\'\"$`;&|()<>]+")
ARGUMENT = re.compile(r"\s*[-+~'\"]*[\w@/]*[-.][\w.-]*")
BRACKETS = re.compile(r"[()]")
ARITHMETIC = 10_000  # the most characters of an expression
BRACKET_SEARCHES = 200  # the most searches for )) that find none
DEPTH = 60  # the most levels of $(...) and ${...}
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}


@dataclass
class Lexer:
    """Reads tokens and words.

    Args:
      text: text of the script.
      first_line: line number of its beginning.
      documents: here-documents found so far, by the place of their `<<`.
      notes: remarks for the reader, so far.
    """

    text: str
    first_line: int = 1
    documents: dict[int, Document] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    _depth: int = 0
    _searches: int = 0

    def line(self, place: int) -> int:
        """Return the line number of a place."""
        return self.first_line + bisect_left(self._line_ends, place)

    @cached_property
    def _line_ends(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text)]

    def tokens(self, place: int = 0) -> Iterator[Token]:
        """Yield the tokens from a place on, where a command may begin.

        The meaning of `[[`, `((` and reserved words depends on the place, so the lexer keeps track of it:
        `head` is true where a command may begin, and `names` counts the words that may follow `for`, `case`
        or `function` before `in` or the body.
        """
        head, names, is_function = True, 0, False
        pending: list[Token] = []
        while (place := self._skip_blanks(place)) < len(self.text):
            token = self._token(place, head, names)
            yield token
            place = token.end
            source = self.text[token.start : token.end]
            if token.kind == "redirect" and token.operator in ("<<", "<<-"):
                pending.append(token)
            elif token.kind == "newline":
                place = self._documents(place, pending)
                pending = []
            if token.kind == "reserved":
                names = 2 if source in NAMED else 0
                head, is_function = source not in NAMED and source != "in", source == "function"
                continue
            names -= bool(names and token.kind != "newline")
            goes_on = token.kind in ("comment", "redirect") or source == "time"
            head = token.kind in ("operator", "newline") or is_function or (head and goes_on)
            is_function = False

    def word(self, place: int) -> tuple[Word, int]:
        """Return the word that begins at a place, and its end."""
        parts: list[Part] = []
        begin = place
        while place < len(self.text):
            if self.text[place] == "(" and ARRAY.fullmatch(self.text, begin, place):
                elements, place = self._elements(place + 1)
                parts.append(elements)
                break
            part, end = self._part(place)
            if end == place:
                break
            parts += part
            place = end
        return merged(parts), place

    def quoted(self, place: int, stop: str = '"') -> tuple[Word, int]:
        """Return the text between double quotes from a place on, and the place after the closing quote.

        Args:
          place: after the opening quote.
          stop: the closing quote; "" for the end of the text, as in a here-document.
        """
        parts: list[Part] = []
        begin = place
        while place < len(self.text) and (not stop or self.text[place] != stop):
            if self.text[place] in "$`":
                part, place = self._dollar(place, quoted=True)
                parts += part
            elif self.text[place] == "\\" and place + 1 < len(self.text):
                kept = _kept_after_backslash(self.text[place + 1], "$`\\\n" + stop)
                parts.append(Literal(kept, quoted=True))
                place += 2
            else:
                match = RUN.match(self.text, place)
                end = match.end() if match else place + 1
                parts.append(Literal(self.text[place:end], quoted=True))
                place = end
        if stop and place >= len(self.text):
            raise CannotRead(self.line(begin), f"opens a quote, {stop}, that is not closed")
        return merged(parts), place

    def _skip_blanks(self, place: int) -> int:
        match = BLANK.match(self.text, place)
        return match.end() if match else place

    def _token(self, place: int, head: bool, names: int) -> Token:
        text = self.text
        if text[place] == "\n":
            return Token("newline", place, place + 1)
        if text[place] == "#":
            return self._comment(place)
        if head and (match := FENCE.match(text, place) or STRAY.match(text, place)):
            self._note(
                self.line(place), f"Line {self.line(place)} has a stray {match[0].strip()}, which is ignored."
            )
            return Token("comment", place, match.end())
        if (head or names) and text.startswith("((", place):
            end = self._arithmetic_end(place + 2)
            if end is not None:
                return Token("arithmetic", place, end)
        if head and TEST_BEGIN.match(text, place):
            return Token("test", place, self._test_end(place + 2))
        if (match := REDIRECT.match(text, place)) and not self._is_no_redirect(match):
            word, end = self.word(self._skip_blanks(match.end()))
            return Token("redirect", place, end, word, match[1])
        if match := OPERATOR.match(text, place):
            return Token("operator", place, match.end())
        word, end = self.word(place)
        if end == place:
            raise CannotRead(self.line(place), f"has {text[place]!r} where no word can begin")
        reserved = (head and text[place:end] in RESERVED) or (names == 1 and text[place:end] == "in")
        return Token("reserved" if reserved else "word", place, end, word)

    def _is_no_redirect(self, match: re.Match[str]) -> bool:
        """Return true for <(...), >(...) and a placeholder such as <your_model>, which are words."""
        process = match[1] in "<>" and self.text[match.end() : match.end() + 1] == "("
        return process or bool(PLACEHOLDER.match(self.text, match.start()))

    def _comment(self, place: int) -> Token:
        end = self.text.find("\n", place)
        end = len(self.text) if end < 0 else end
        line_begin = self.text.rfind("\n", 0, place)
        continued = line_begin > 0 and self.text[line_begin - 1] == "\\"
        if continued and not self.text[line_begin:place].strip() and ARGUMENT.match(self.text, end + 1):
            line = self.line(place)
            ends = f"The comment of line {line} ends the command before it; "
            self._note(line, ends + "what follows the comment is not passed to that command.", CUT_OFF)
        return Token("comment", place, end)

    def _note(self, line: int, text: str, kind: str = "") -> None:
        if (note := Note(line, text, kind)) not in self.notes:
            self.notes.append(note)

    def _test_end(self, place: int) -> int:
        """Return the end of the [[ that was opened before a place."""
        begin = place
        while place < len(self.text):
            if TEST_END.match(self.text, place):
                return place + 2
            _, end = self.word(place)
            place = max(end, place + 1)
        raise CannotRead(self.line(begin), "opens a [[ that is not closed")

    def _documents(self, place: int, pending: list[Token]) -> int:
        """Keep the here-documents that begin at a place, and return the place after them."""
        for token in pending:
            end_mark = "".join(part.text for part in token.word if isinstance(part, Literal))
            tabs = "\t*" if token.operator == "<<-" else ""
            closing = re.compile(rf"^{tabs}{re.escape(end_mark)}(?:\n|\Z)", re.MULTILINE)
            match = closing.search(self.text, place)
            body = self.text[place : match.start() if match else len(self.text)]
            body = re.sub(r"^\t+", "", body, flags=re.MULTILINE) if tabs else body
            quoted = any(isinstance(part, Literal) and part.quoted for part in token.word)
            self.documents[token.start] = Document(body, quoted)
            place = match.end() if match else len(self.text)
        return place

    def _elements(self, place: int) -> tuple[Elements, int]:
        words = list[Word]()
        begin = place
        while (place := self._skip_blanks(place)) < len(self.text):
            if self.text[place] == ")":
                return Elements(tuple(words)), place + 1
            if self.text[place] == "\n":
                place += 1
            elif self.text[place] == "#":
                place = self._comment(place).end
            else:
                word, end = self.word(place)
                if end == place:
                    break
                words.append(word)
                place = end
        raise CannotRead(self.line(begin), "opens a list with ( that is not closed")

    def _part(self, place: int) -> tuple[Word, int]:
        """Return the next part of a word and its end. At the end of the word, both places are equal."""
        text = self.text
        if match := PLAIN.match(text, place):
            return (Literal(match[0]),), match.end()
        if text[place] == "\\":
            return self._backslash(place)
        if text[place] == "'":
            return self._single(place + 1)
        if text[place] == '"':
            word, end = self.quoted(place + 1)
            return word or (Literal("", quoted=True),), end + 1
        if text[place] in "$`":
            return self._dollar(place, quoted=False)
        if text[place : place + 2] in ("<(", ">("):
            end = self._closing(place + 2)
            return (Expansion("file", text[place + 2 : end], quoted=True),), end + 1
        if match := PLACEHOLDER.match(text, place):
            return (Placeholder(match[0]),), match.end()
        return (), place

    def _backslash(self, place: int) -> tuple[Word, int]:
        following = self.text[place + 1 : place + 2]
        if following in ("\n", ""):
            return (Literal(""),), place + 2
        if re.compile(r"[ \t]+\n").match(self.text, place + 1):
            line = self.line(place)
            ends = f"The backslash of line {line} has a blank after it, which ends the command: "
            self._note(line, ends + "the next line is not passed to it.", CUT_OFF)
        return (Literal(following, quoted=True),), place + 2

    def _single(self, place: int) -> tuple[Word, int]:
        end = self.text.find("'", place)
        if end < 0:
            raise CannotRead(self.line(place), "opens a quote, ', that is not closed")
        return (Literal(self.text[place:end], quoted=True),), end + 1

    def _dollar(self, place: int, quoted: bool) -> tuple[Word, int]:
        """Return the part that begins with a $ or a `, and its end."""
        text, after = self.text, self.text[place + 1 : place + 2]
        if text[place] == "`":
            return self._backticks(place + 1, quoted)
        if after == "{":
            end = self._closing_brace(place + 2, quoted)
            return (Expansion("parameter", text[place + 2 : end], quoted),), end + 1
        if after == "(":
            return self._brackets(place, quoted)
        if after in ("'", '"') and not quoted:
            return self._ansi(place + 2) if after == "'" else self._part(place + 1)
        if match := VARIABLE.match(text, place + 1):
            return (Expansion("parameter", match[0], quoted, bare=True),), match.end()
        return (Literal("$", quoted),), place + 1

    def _brackets(self, place: int, quoted: bool) -> tuple[Word, int]:
        if self.text.startswith("((", place + 1):
            end = self._arithmetic_end(place + 3)
            if end is not None:
                return (Expansion("arithmetic", self.text[place + 3 : end - 2], quoted),), end
        end = self._closing(place + 2)
        return (Expansion("output", self.text[place + 2 : end], quoted),), end + 1

    def _backticks(self, place: int, quoted: bool) -> tuple[Word, int]:
        match = re.compile(r"(?:[^`\\]|\\.)*`", re.DOTALL).match(self.text, place)
        if not match:
            raise CannotRead(self.line(place), "opens a quote, `, that is not closed")
        source = re.sub(r"\\([\\`$])", r"\1", match[0][:-1])
        return (Expansion("output", source, quoted),), match.end()

    def _ansi(self, place: int) -> tuple[Word, int]:
        match = re.compile(r"(?:[^'\\]|\\.)*'", re.DOTALL).match(self.text, place)
        if not match:
            raise CannotRead(self.line(place), "opens a quote, $', that is not closed")
        code = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|[0-7]{1,3}|.)", re.DOTALL)
        return (Literal(code.sub(_ansi_character, match[0][:-1]), quoted=True),), match.end()

    def _deeper(self, place: int) -> None:
        self._depth += 1
        if self._depth > DEPTH:
            raise CannotRead(self.line(place), "is nested too deep")

    def _closing(self, place: int) -> int:
        """Return the place of the bracket that closes the $( before a place."""
        self._deeper(place)
        depth, cases = 0, 0
        for token in self.tokens(place):
            text = self.text[token.start : token.end]
            if token.kind == "reserved":
                cases += (text == "case") - (text == "esac")
            elif token.kind == "operator" and text == "(":
                depth += 1
            elif token.kind == "operator" and text == ")" and depth:
                depth -= 1
            elif token.kind == "operator" and text == ")" and not cases:
                self._depth -= 1
                return token.start
        raise CannotRead(self.line(place), "opens a bracket, (, that is not closed")

    def _closing_brace(self, place: int, quoted: bool) -> int:
        """Return the place of the brace that closes the ${ before a place."""
        self._deeper(place)
        begin, text = place, self.text
        while place < len(text) and text[place] != "}":
            if text[place] == "\\":
                place += 2
            elif text[place] == "'" and not quoted:
                place = self._single(place + 1)[1]
            elif text[place] == '"':
                place = self.quoted(place + 1)[1] + 1
            elif text[place] in "$`":
                place = self._dollar(place, quoted)[1]
            else:
                place += 1
        if place >= len(text):
            raise CannotRead(self.line(begin), "opens a brace, ${, that is not closed")
        self._depth -= 1
        return place

    def _arithmetic_end(self, place: int) -> int | None:
        """Return the place after the )) that closes the (( before a place; None if it is not arithmetic."""
        depth = 0
        for match in BRACKETS.finditer(self.text, place, place + ARITHMETIC):
            if match[0] == "(":
                depth += 1
            elif depth:
                depth -= 1
            else:
                return match.end() + 1 if self.text.startswith("))", match.start()) else None
        self._searches += 1
        if self._searches > BRACKET_SEARCHES:
            raise CannotRead(self.line(place), "is nested too deep")
        return None


def operand(source: str, quoted: bool) -> Word:
    """Return the parts of the text after the operator in ${x:-...}.

    >>> operand("a b", quoted=False)
    (Literal(text='a b', quoted=False),)
    """
    lexer, parts, place = Lexer(source), list[Part](), 0
    part: Word
    while place < len(source):
        if quoted and source[place] not in '"$`\\':
            part, end = (Literal(source[place], quoted=True),), place + 1
        elif quoted and source[place] == "\\":
            kept = _kept_after_backslash(source[place + 1 : place + 2], '$`"\\\n}')
            part, end = (Literal(kept, quoted=True),), place + 2
        elif quoted and source[place] in "$`":
            part, end = lexer._dollar(place, quoted=True)
        else:
            part, end = lexer._part(place)
        if end == place:
            part, end = (Literal(source[place]),), place + 1
        parts += part
        place = end
    return merged(parts)


def merged(parts: list[Part]) -> Word:
    """Merge neighbouring literals that are both quoted or both unquoted."""
    merged: list[Part] = []
    pieces: list[str] = []
    for part, following in zip_longest(parts, parts[1:]):
        if not isinstance(part, Literal):
            merged.append(part)
            continue
        pieces.append(part.text)
        if not (isinstance(following, Literal) and following.quoted == part.quoted):
            merged.append(Literal("".join(pieces), part.quoted))
            pieces = []
    return tuple(merged)


def _kept_after_backslash(character: str, special: str) -> str:
    if character == "\n":
        return ""
    return character if character in special else "\\" + character


def _ansi_character(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "xu" and len(code) > 1:
        return chr(int(code[1:], 16))
    if code[0] in "01234567":
        return chr(int(code, 8) & 255)
    return ESCAPES.get(code, code if code in "\\'\"?" else "\\" + code)
