"""Keep the variables of a script, and their possible values after a branch that may have run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from grpo_ref.explain.launch.text import UNSET, Hole, Text, joined

GIVEN_BY_SHELL = frozenset(
    "BASH BASHPID BASH_SOURCE BASH_VERSION EUID FUNCNAME HOME HOSTNAME HOSTTYPE LINENO LOGNAME MACHTYPE "
    "OLDPWD OPTARG OPTIND OSTYPE PATH PPID PWD RANDOM REPLY SECONDS SHELL SHLVL TERM UID USER".split()
)


@dataclass(frozen=True)
class Array:
    """The elements of an array in order.

    Args:
      items: elements by key. The keys of an indexed array are numbers as text.
      keyed: true for an associative array.
    """

    items: dict[str, Text]
    keyed: bool = False

    @classmethod
    def of(cls, texts: Sequence[Text]) -> "Array":
        """Make an indexed array."""
        return cls({str(i): text for i, text in enumerate(texts)})

    def extended(self, texts: Sequence[Text]) -> "Array":
        """Return the array with more elements after the last."""
        begin = max((int(key) for key in self.items if key.isdigit()), default=-1) + 1
        return replace(self, items=self.items | {str(begin + i): text for i, text in enumerate(texts)})

    def with_item(self, key: str, text: Text) -> "Array":
        """Return the array with one element added or replaced, in the order of the numbers."""
        items = self.items | {key: text}
        return Array(
            items if self.keyed else dict(sorted(items.items(), key=lambda item: int(item[0]))), self.keyed
        )

    def open_before(self, place: int) -> bool:
        """Return true if an element up to a place stands for an unknown number of elements; -1 for any place."""
        return any(text.open for key, text in self.items.items() if place < 0 or int(key) <= place)

    @property
    def texts(self) -> list[Text]:
        """The elements without their keys."""
        return list(self.items.values())


Value = Text | Array | None


@dataclass
class Scope:
    """The variables.

    Args:
      variables: values by name; None for a variable that `unset` removed.
      assumed: names of variables whose values rest on a variable that is taken as unset.
      exported: names of variables that a program started from here sees.
      arguments: $1, $2, ... of a function; None for those of the script, which are unknown.
    """

    variables: dict[str, Value] = field(default_factory=dict)
    assumed: set[str] = field(default_factory=set)
    exported: set[str] = field(default_factory=set)
    arguments: tuple[Text, ...] | None = None

    def copy(self) -> "Scope":
        """Return a copy that can change independently."""
        return Scope(dict(self.variables), set(self.assumed), set(self.exported), self.arguments)

    def of_program(self) -> "Scope":
        """Return the scope that a shell started from here sees."""
        seen = {name: value for name, value in self.variables.items() if name in self.exported}
        return Scope(seen, self.assumed & self.exported, set(self.exported))

    def text(self, name: str) -> Text:
        """Return the value of $name; the first element, if it is an array."""
        if name not in self.variables:
            return Text.of(Hole(f"${name}", _why(name)))
        value = self.variables[name]
        if isinstance(value, Array):
            return value.items.get("0", Text())
        return Text() if value is None else value

    def may_be_set(self, name: str) -> bool:
        """Return true if the script or the shell itself has, or may have, set the variable."""
        return name in GIVEN_BY_SHELL or self.variables.get(name) is not None


def join(scopes: Sequence[Scope], why: str) -> Scope:
    """Join several scopes into one that covers all of them, because it is unknown which one applies.

    Args:
      scopes: the scope after each branch.
      why: the condition that a value depends on, for its holes.
    """
    first, rest = scopes[0], scopes[1:]
    names = dict.fromkeys(name for scope in scopes for name in scope.variables)
    variables: dict[str, Value] = {}
    for name in names:
        values = [scope.variables.get(name, _outside(name)) for scope in scopes]
        same = all(value == values[0] for value in values)
        variables[name] = values[0] if same else _either(name, values, why)
    assumed = first.assumed.union(*(scope.assumed for scope in rest))
    exported = first.exported.union(*(scope.exported for scope in rest))
    same = all(scope.arguments == first.arguments for scope in rest)
    arguments = first.arguments if same else (Text.of(Hole("$@", why, splits=True)),)
    return Scope(variables, assumed, exported, arguments)


def _why(name: str) -> str:
    return "is given by the shell that runs the file" if name in GIVEN_BY_SHELL else UNSET


def _outside(name: str) -> Text:
    return Text.of(Hole(f"${name}", _why(name)))


def _either(name: str, values: list[Value], why: str) -> Value:
    """Return the common beginning of several values, followed by a hole."""
    if any(isinstance(value, Array) for value in values):
        return _either_array(name, [_elements(value) for value in values], why)
    texts = [value if isinstance(value, Text) else Text() for value in values]
    if not all(text.known for text in texts):
        return Text.of(Hole(f"${name}", why, _distinct(map(str, texts))))
    strings = [str(text) for text in texts]
    same = next((i for i, letters in enumerate(zip(*strings, strict=False)) if len(set(letters)) > 1), None)
    begin = strings[0][:same] if same is not None else min(strings, key=len)
    rests = [string[len(begin) :] for string in strings]
    if not all(rest == "" or rest[0] == " " or begin.endswith(" ") for rest in rests):
        begin, rests = "", strings
    return Text.of(begin, Hole(f"${name}", why, _distinct(rests)))


def _either_array(name: str, rows: list[list[Text]], why: str) -> Array:
    same = 0
    while all(same < len(row) and row[same] == rows[0][same] for row in rows):
        same += 1
    rests = _distinct(str(joined(row[same:])) for row in rows)
    return Array.of([*rows[0][:same], Text.of(Hole(f"${{{name}[@]}}", why, rests, splits=True))])


def _elements(value: Value) -> list[Text]:
    if isinstance(value, Array):
        return value.texts
    return [value] if value else []


def _distinct(strings: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(strings))
