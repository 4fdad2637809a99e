"""Carry out the shell's own commands, as far as they change variables or write text."""

import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grpo_ref.explain.launch.shell.arithmetic import NoNumber
from grpo_ref.explain.launch.shell.conditions import Conditions
from grpo_ref.explain.launch.shell.expansion import RUN, Expander
from grpo_ref.explain.launch.shell.scope import Array, Value
from grpo_ref.explain.launch.shell.state import Jump, State, Truth
from grpo_ref.explain.launch.shell.syntax import Assignment, Elements, Literal, Word
from grpo_ref.explain.launch.text import Hole, Text, joined

ITEMS = 50  # characters whose work is that of an element of an array
DECLARATIONS = frozenset({"export", "declare", "typeset", "local", "readonly"})
KEYED = re.compile(r"\[([^\]]*)\]=(.*)", re.DOTALL)


@dataclass(frozen=True)
class Builtins:
    """Carries out commands of the shell on a state."""

    state: State
    expander: Expander

    def find(self, name: str) -> Callable[[Sequence[Text], Text | None], Truth] | None:
        """Return the method for a command; None if the command is a program."""
        return {
            ":": self._nothing, "true": self._nothing, "cd": self._nothing, "wait": self._nothing,
            "pushd": self._nothing, "popd": self._nothing, "trap": self._nothing, "ulimit": self._nothing,
            "shopt": self._nothing, "umask": self._nothing, "alias": self._nothing, "hash": self._nothing,
            "false": self._false, "echo": self._echo, "printf": self._printf, "unset": self._unset,
            "set": self._set, "shift": self._shift, "test": self._test, "[": self._test, "let": self._let,
            "exit": self._jump, "return": self._jump, "break": self._jump, "continue": self._jump,
            "read": self._read, "mapfile": self._mapfile, "readarray": self._mapfile,
        }.get(name)  # fmt: skip

    def assign(self, assignment: Assignment) -> None:
        """Carry out an assignment."""
        self._store(assignment.name, *self._evaluated(assignment))

    def declare(self, kind: str, arguments: Sequence[Text | Assignment]) -> Truth:
        """Carry out export, declare, local or readonly.

        All values are expanded before the first is assigned.
        """
        words = [item for item in arguments if isinstance(item, Text)]
        assignments = [item for item in arguments if isinstance(item, Assignment)]
        options = "".join(str(word) for word in words if str(word).startswith("-"))
        names = [str(word) for word in words if not str(word).startswith("-")]
        for name in [*names, *(assignment.name for assignment in assignments)]:
            self._declare_one(name, kind, options)
        values = [self._evaluated(assignment) for assignment in assignments]
        for assignment, value in zip(assignments, values, strict=True):
            self._store(assignment.name, *value)
        for name in names if kind == "local" else ():
            self.state.assign(name, None)
        return True

    def _evaluated(self, assignment: Assignment) -> tuple[Value, bool]:
        """Return the value of an assignment, and true if it rests on a variable that was taken as unset."""
        before, self.state.assumed = self.state.assumed, False
        value = self._value(assignment)
        assumed, self.state.assumed = self.state.assumed, before
        return value, assumed

    def _store(self, name: str, value: Value, assumed: bool) -> None:
        before, self.state.assumed = self.state.assumed, assumed
        self.state.assign(name, value)
        self.state.assumed |= before

    def _declare_one(self, name: str, kind: str, options: str) -> None:
        scope = self.state.scope
        if kind != "export" and kind != "readonly" and self.state.hidden and "g" not in options:
            self.state.hidden[-1].setdefault(name, scope.variables.get(name))
        if kind == "export" or "x" in options:
            scope.exported.add(name)
        if "n" in options:
            scope.variables[name] = Text.of(Hole(f"${name}", RUN))
        if "A" in options and not isinstance(scope.variables.get(name), Array):
            scope.variables[name] = Array({}, keyed=True)

    def _value(self, assignment: Assignment) -> Value:
        """Return the value of the variable after the assignment."""
        old = self.state.scope.variables.get(assignment.name)
        last = assignment.value[-1] if assignment.value else None
        if isinstance(last, Elements):
            return self._row(old, last, extend=assignment.appends)
        text = self.expander.text(assignment.value)
        if assignment.index is not None:
            return self._with_element(old, assignment, text)
        if assignment.appends:
            text = self._sized(self.state.scope.text(assignment.name) + text)
        return old.with_item("0", text) if isinstance(old, Array) else text

    def _row(self, old: Value, elements: Elements, extend: bool) -> Array:
        keyed = isinstance(old, Array) and old.keyed
        array = _as_array(old) if extend else Array({}, keyed)
        self.state.budget.spend(ITEMS * (len(array.items) + len(elements.words)))
        texts: list[Text] = []
        for word in elements.words:
            if pair := self._key_and_value(array, word):
                array, texts = self._with_item(array.extended(texts), *pair), []
            else:
                texts += self.expander.words(word)
        self._sized(joined(texts))
        return array.extended(texts)

    def _with_item(self, array: Array, key: str, text: Text) -> Array:
        self.state.budget.spend(ITEMS * len(array.items))
        return array.with_item(key, self._sized(text))

    def _key_and_value(self, array: Array, word: Word) -> tuple[str, Text] | None:
        """Return the key and value of [key]=value inside an array."""
        if not (isinstance(word[0], Literal) and not word[0].quoted and word[0].text.startswith("[")):
            return None
        text = self.expander.text(word)
        match = KEYED.match(str(text))
        if not match or not text.known:
            return None
        key = match[1] if array.keyed else self.expander.key(array, (Literal(match[1]),))
        return None if key is None else (key, Text.of(match[2]))

    def _with_element(self, old: Value, assignment: Assignment, text: Text) -> Value:
        array = _as_array(old)
        key = self.expander.key(array, assignment.index or ())
        if key is None or (not array.keyed and (int(key) < 0 or array.open_before(int(key)))):
            return Array.of([Text.of(Hole(f"${{{assignment.name}[@]}}", RUN, splits=True))])
        before = array.items.get(key, Text()) if assignment.appends else Text()
        return self._with_item(array, key, before + text)

    def _sized(self, text: Text) -> Text:
        self.state.budget.length(len(str(text)))
        return text

    def _nothing(self, words: Sequence[Text], given: Text | None) -> Truth:
        return True

    def _false(self, words: Sequence[Text], given: Text | None) -> Truth:
        return False

    def _test(self, words: Sequence[Text], given: Text | None) -> Truth:
        arguments = words[1:-1] if str(words[0]) == "[" else words[1:]
        return Conditions(self.expander).test(arguments)

    def _let(self, words: Sequence[Text], given: Text | None) -> Truth:
        return [self.computed(str(word)) for word in words][-1] if words[1:] else False

    def computed(self, source: str) -> Truth:
        """Return true if an expression is not zero; None if its value is unknown."""
        try:
            return self.expander.arithmetic(source) != 0
        except NoNumber:
            return None

    def _echo(self, words: Sequence[Text], given: Text | None) -> Truth:
        options = [word for word in words[1:] if re.fullmatch(r"-[neE]+", str(word))]
        rest = joined(words[1 + len(options) :])
        escapes = any("e" in str(option) for option in options) and "\\" in str(rest)
        end = "" if any("n" in str(option) for option in options) else "\n"
        self.state.write(None if escapes else rest + end)
        return True

    def _printf(self, words: Sequence[Text], given: Text | None) -> Truth:
        if len(words) > 1 and str(words[1]) == "-v" and len(words) > 2:
            self.state.assign(str(words[2]), Text.of(Hole(f"${words[2]}", RUN)))
        self.state.write(None)
        return True

    def _unset(self, words: Sequence[Text], given: Text | None) -> Truth:
        for word in words[1:]:
            self.state.assign(str(word), None)
        return True

    def _set(self, words: Sequence[Text], given: Text | None) -> Truth:
        if len(words) > 1 and str(words[1]) == "--":
            self.state.scope.arguments = tuple(words[2:])
        return True

    def _shift(self, words: Sequence[Text], given: Text | None) -> Truth:
        number = int(str(words[1])) if len(words) > 1 and re.fullmatch(r"\d{1,6}", str(words[1])) else 1
        if self.state.scope.arguments is not None:
            self.state.scope.arguments = self.state.scope.arguments[number:]
        return True

    def _jump(self, words: Sequence[Text], given: Text | None) -> Truth:
        number = int(str(words[1])) if len(words) > 1 and re.fullmatch(r"\d{1,6}", str(words[1])) else -1
        raise Jump(str(words[0]), number)

    def _read(self, words: Sequence[Text], given: Text | None) -> Truth:
        """Carry out `read` on a text that the script itself holds."""
        options, names = _options_and_names(words[1:])
        if given is None or len(names) != 1:
            for name in names:
                self.state.assign(name, Text.of(Hole(f"${name}", "is what `read` reads")))
            return None
        if "a" in options:
            self.state.assign(names[0], Array.of(self.expander.split(given)))
        else:
            text = str(given) if "d" in options else str(given).split("\n")[0]
            self.state.assign(names[0], Text.of(text.strip()) if given.known else given)
        return True

    def _mapfile(self, words: Sequence[Text], given: Text | None) -> Truth:
        name = _options_and_names(words[1:])[1][-1:]
        for each in name:
            self.state.assign(
                each, Array.of([Text.of(Hole(f"${{{each}[@]}}", "is what `mapfile` reads", splits=True))])
            )
        return True


def named_part(path: Text, program: str, suffix: str = "") -> Text | None:
    """Return the output of `basename` or `dirname` for a path; None if it is unknown.

    >>> str(named_part(Text.of("/models/Qwen3/"), "basename"))
    'Qwen3'
    """
    last = path.parts[-1] if path.parts else ""
    enough = path.known or (program == "basename" and isinstance(last, str) and "/" in last.rstrip("/"))
    stripped = str(last).rstrip("/")
    if not enough or not stripped:
        return None
    if program == "dirname":
        return Text.of(posixpath.dirname(stripped).rstrip("/") or ("/" if stripped[0] == "/" else "."))
    name = posixpath.basename(stripped)
    return Text.of(name.removesuffix(suffix) if name != suffix else name)


def _as_array(value: Value) -> Array:
    if isinstance(value, Array):
        return value
    return Array.of([value] if value else [])


def _options_and_names(words: Sequence[Text]) -> tuple[str, list[str]]:
    """Return the letters of the options, and the words that are names.

    An option's own value is not a name.
    """
    options, names, skip = "", list[str](), False
    for word in map(str, words):
        if skip:
            skip = False
        elif word.startswith("-"):
            options += word[1:]
            skip = word[-1:] in "dpntNu"
        elif word.isidentifier():
            names.append(word)
    return options, names
