"""The state that changes while a script is read, and the branches that may or may not run."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from grpo_ref.explain.launch.shell.budget import Budget
from grpo_ref.explain.launch.shell.scope import Scope, Value, join
from grpo_ref.explain.launch.shell.script import Command, Note
from grpo_ref.explain.launch.shell.syntax import Statement
from grpo_ref.explain.launch.text import Hole, Text

T = TypeVar("T")
Truth = bool | None
"""The status of a command: true for 0, false for others, None if it is unknown."""
Run = Callable[[], Truth]
FIRST_MARK = 0xE000
MARK = re.compile("([\ue000-\uf8ff])")
JOINING = 100  # characters whose work is that of a variable in a join


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
class Callee:
    """A function of the script. `maybe` is true if it is defined in a branch whose condition is unknown."""

    body: Statement
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
      commands, files, python, notes: results so far, as in `Script`.
      scope: the current variables.
      budget: the remaining work, and the line that is being read.
      functions: functions by name.
      hidden: for each function that is being called, the values that its local variables hide.
      landings: the loops and functions that are being read, the innermost last.
      maybe: true inside a branch whose condition is unknown.
      assumed: true if a variable has been taken as unset since this was last set to False.
      ran: true if the last status is that of a program.
      written: the output inside $(...), with None for unknown pieces; None outside $(...).
      marked: the holes that the marks in the text of `bash -c` stand for.
    """

    commands: list[Command] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    python: list[str] = field(default_factory=list)
    notes: dict[Note, None] = field(default_factory=dict)
    scope: Scope = field(default_factory=Scope)
    budget: Budget = field(default_factory=Budget)
    functions: dict[str, Callee] = field(default_factory=dict)
    hidden: list[dict[str, Value]] = field(default_factory=list)
    landings: list[Landing] = field(default_factory=list)
    maybe: bool = False
    assumed: bool = False
    ran: bool = False
    written: list[Text | None] | None = None
    marked: list[Hole] = field(default_factory=list)

    def note(self, text: str, kind: str = "") -> None:
        """Add a sentence about the line that is being read, once."""
        self.notes[Note(self.budget.line, text, kind)] = None

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

    @contextmanager
    def writing(self, written: list[Text | None] | None) -> Iterator[None]:
        """Collect the output in another list; None drops the output."""
        outer, self.written = self.written, written
        try:
            yield
        finally:
            self.written = outer

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

    # branches

    def noticing(self, run: Callable[[], T]) -> tuple[T, bool]:
        """Return the result of a function, and true if the function took a variable as unset."""
        before, self.assumed = self.assumed, False
        result = run()
        assumed, self.assumed = self.assumed, self.assumed or before
        return result, assumed

    def apart(self, run: Run) -> Truth:
        """Read commands that cannot change the variables outside."""
        before, landings = self.scope, self.landings
        self.scope, self.landings = before.copy(), []
        self.budget.spend(len(before.variables))
        try:
            return run()
        except Jump:
            return None
        finally:
            self.scope, self.landings = before, landings

    def unless_it_leaves(self, run: Run, assumed: bool, other: Run = lambda: None) -> Truth:
        """Read a branch; if it rests on an assumption and ends the script, read the other branch instead."""
        if not assumed:
            return run()
        before = self.scope.copy()
        try:
            return run()
        except Jump as jump:
            if jump.kind not in ("exit", "return"):
                raise
            self.scope = before
            return other()

    def possibly(self, run: Run) -> Truth:
        """Read a branch that may or may not run."""
        self.either(run, lambda: True)
        return None

    def either(self, *runs: Run) -> Truth:
        """Read several branches of which one runs, and join the variables that they leave."""
        line, maybe, written = self.budget.line, self.maybe, len(self.written or ())
        before, ends, truths, jumps = self.scope, list[Scope](), list[Truth](), list[Jump]()
        self.maybe = True
        for run in runs:
            self.scope = before.copy()
            self.budget.spend(JOINING * len(before.variables))
            try:
                truths.append(run())
                ends.append(self.scope)
            except Jump as jump:
                jumps.append(jump)
                self._keep_scope(jump)
        self.maybe, self.ran = maybe, False
        if self.written is not None and len(self.written) > written:
            self.written[written:] = [None]
        if not ends:
            raise jumps[0]
        self.scope = join(ends, f"depends on a condition in line {line}")
        return truths[0] if all(truth == truths[0] for truth in truths) and not jumps else None

    def _keep_scope(self, jump: Jump) -> None:
        """Keep the scope of a branch for the loop or function that its jump leads to."""
        if self.landings and jump.kind != "continue":
            self.landings[-1].left = True
        for landing in reversed(self.landings):
            if jump.kind in landing.kinds:
                landing.scopes.setdefault(jump.kind, []).append(self.scope)
                return

    def land(self, landing: Landing, kind: str, line: int) -> None:
        """Join the scopes of the jumps that may have happened."""
        if scopes := landing.scopes.pop(kind, []):
            self.scope = join([self.scope, *scopes], f"depends on a condition after line {line}")
