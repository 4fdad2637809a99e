"""The state that changes while a script is read."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from tree_sitter import Node

from grpo_ref.explain.launch.shell.budget import Budget
from grpo_ref.explain.launch.shell.outline import Outline
from grpo_ref.explain.launch.shell.scope import Scope, Value
from grpo_ref.explain.launch.shell.script import Command, Note
from grpo_ref.explain.launch.text import Hole, Text

FIRST_MARK = 0xE000
MARK = re.compile("([\ue000-\uf8ff])")


class Jump(Exception):
    """Raised by exit, return, break and continue, and caught where the jump leads to.

    Args:
      kind: one of these four words.
      number: the argument: number of loops that a break leaves, or status of a return; -1 if there is none.
    """

    def __init__(self, kind: str, number: int = -1) -> None:
        super().__init__(kind)
        self.kind, self.number = kind, number


@dataclass(frozen=True)
class Function:
    """A function of the script.

    Args:
      outline: outline of the script that defines the function.
      body: node of the function's body.
      maybe: true if the function is defined in a branch whose condition is unknown.
    """

    outline: Outline
    body: Node
    maybe: bool


@dataclass
class Landing:
    """A loop or function, with the scopes of the jumps that may have led to its end.

    Args:
      kinds: kinds of the jumps that lead here.
      scopes: scopes by kind of jump.
      left: true if a branch that may have run left the loop or function.
    """

    kinds: tuple[str, ...]
    scopes: dict[str, list[Scope]] = field(default_factory=dict)
    left: bool = False


@dataclass
class State:
    """The variables, the results so far, and the remaining budget.

    Args:
      beside: returns the text of a script by its path as this script gives it; None if there is none.
      commands, files, python, notes: results so far, as in `Script`.
      followed: the files that are being read.
      scope: the current variables.
      budget: the remaining work.
      functions: functions by name.
      hidden: for each function that is being called, the values that its local variables hide.
      landings: the loops and functions that are being read, the innermost last.
      maybe: true inside a branch whose condition is unknown.
      assumed: true if a variable has been taken as unset since this was last set to False.
      ran: true if the last status is that of a program.
      written: the output inside $(...), with None for unknown pieces; None outside $(...).
      marked: the holes that the marks in the text of `bash -c` stand for.
    """

    beside: Callable[[str], str | None] = lambda path: None
    commands: list[Command] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    python: list[str] = field(default_factory=list)
    followed: list[str] = field(default_factory=list)
    notes: dict[Note, None] = field(default_factory=dict)
    scope: Scope = field(default_factory=Scope)
    budget: Budget = field(default_factory=Budget)
    functions: dict[str, Function] = field(default_factory=dict)
    hidden: list[dict[str, Value]] = field(default_factory=list)
    landings: list[Landing] = field(default_factory=list)
    maybe: bool = False
    assumed: bool = False
    ran: bool = False
    written: list[Text | None] | None = None
    marked: list[Hole] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Add a sentence about the line that is being read, once."""
        self.notes[Note(self.budget.line, text)] = None

    def assume(self, what: str) -> None:
        """Record that a variable is taken as unset, and add a note about it."""
        self.assumed = True
        self.note(what)

    def assign(self, name: str, value: Value) -> None:
        """Assign a value to a variable. The value rests on an assumption if one was just made."""
        self.scope.variables[name] = value
        if self.assumed:
            self.scope.assumed.add(name)
        else:
            self.scope.assumed.discard(name)

    def recall(self, name: str) -> None:
        """Record that the current value rests on an assumption, if the variable does."""
        self.assumed |= name in self.scope.assumed

    def write(self, text: Text | None) -> None:
        """Write text inside $(...); None stands for unknown text."""
        if self.written is not None:
            self.written.append(text)

    def literal(self, string: str) -> Text:
        """Return a string with its marks replaced by the holes that they stand for."""
        if not self.marked or not MARK.search(string):
            return Text.of(string)
        return Text.of(*(self._unmarked(piece) for piece in MARK.split(string)))

    def script_of(self, text: Text) -> str:
        """Return a text to be read as a script, with marks in place of its holes."""
        return "".join(part if isinstance(part, str) else self._mark(part) for part in text.parts)

    def _mark(self, hole: Hole) -> str:
        if hole not in self.marked:
            self.marked.append(hole)
        return chr(FIRST_MARK + self.marked.index(hole) % 6000)

    def _unmarked(self, piece: str) -> str | Hole:
        number = ord(piece) - FIRST_MARK if MARK.fullmatch(piece) else -1
        return self.marked[number] if 0 <= number < len(self.marked) else piece
