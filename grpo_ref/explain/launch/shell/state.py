"""What changes while a script is read."""

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
    """exit, return, break or continue, on its way to where it leads.

    Args:
      kind: one of these words.
      number: its argument, how many loops a break leaves or the status of a return; -1 if it has none.
    """

    def __init__(self, kind: str, number: int = -1) -> None:
        super().__init__(kind)
        self.kind, self.number = kind, number


@dataclass(frozen=True)
class Function:
    """A function of the script.

    Args:
      outline: of the script where it stands.
      body: its node.
      maybe: whether it is defined in a branch whose condition is not known.
    """

    outline: Outline
    body: Node
    maybe: bool


@dataclass
class Landing:
    """A loop or function, and the scopes in which a jump may have left a branch for it.

    Args:
      kinds: of the jumps that lead here.
      scopes: by kind.
      left: whether a branch that may have run left the loop or function.
    """

    kinds: tuple[str, ...]
    scopes: dict[str, list[Scope]] = field(default_factory=dict)
    left: bool = False


@dataclass
class State:
    """The variables, what has been found, and what may still be spent.

    Args:
      beside: the text of a script by its path as this one gives it; None if there is none.
      commands, files, python, notes: found so far; `python` are programs that Python is given in the script.
      followed: the files that are being read.
      scope: the variables now.
      budget: what is left.
      functions: by name.
      hidden: for each function that runs, the values that its local variables hide.
      landings: the loops and functions that run, the innermost last.
      maybe: whether the condition of the branch is not known.
      assumed: whether something has been taken as unset since this was last set to False.
      ran: whether the last status is that of a program.
      written: what has been written inside $(...), None for what is not known; None outside.
      marked: the holes that marks in the text of `bash -c` stand for.
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
        """Remember that something is taken as unset, and say so."""
        self.assumed = True
        self.note(what)

    def assign(self, name: str, value: Value) -> None:
        """Give a variable a value; it rests on an assumption if one was just made."""
        self.scope.variables[name] = value
        if self.assumed:
            self.scope.assumed.add(name)
        else:
            self.scope.assumed.discard(name)

    def recall(self, name: str) -> None:
        """Remember that what is read rests on an assumption, if the variable does."""
        self.assumed |= name in self.scope.assumed

    def write(self, text: Text | None) -> None:
        """Write inside $(...); None for what is not known."""
        if self.written is not None:
            self.written.append(text)

    def literal(self, string: str) -> Text:
        """A string with the holes that its marks stand for."""
        if not self.marked or not MARK.search(string):
            return Text.of(string)
        return Text.of(*(self._unmarked(piece) for piece in MARK.split(string)))

    def script_of(self, text: Text) -> str:
        """A text to be read as a script, with marks for its holes."""
        return "".join(part if isinstance(part, str) else self._mark(part) for part in text.parts)

    def _mark(self, hole: Hole) -> str:
        if hole not in self.marked:
            self.marked.append(hole)
        return chr(FIRST_MARK + self.marked.index(hole) % 6000)

    def _unmarked(self, piece: str) -> str | Hole:
        number = ord(piece) - FIRST_MARK if MARK.fullmatch(piece) else -1
        return self.marked[number] if 0 <= number < len(self.marked) else piece
