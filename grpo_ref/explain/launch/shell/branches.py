"""Read branches that may or may not run."""

from abc import ABC
from collections.abc import Callable
from typing import TypeVar

from grpo_ref.explain.launch.shell.conditions import Truth
from grpo_ref.explain.launch.shell.scope import Scope, join
from grpo_ref.explain.launch.shell.state import Jump, Landing, State

T = TypeVar("T")
Run = Callable[[], Truth]
JOINING = 100  # characters whose work is that of a variable in a join


class Branches(State, ABC):
    """Reads branches and joins the variables that they leave."""

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
