"""Read loops, one turn after the other."""

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from grpo_ref.explain.launch.shell.branches import Run
from grpo_ref.explain.launch.shell.budget import TURNS
from grpo_ref.explain.launch.shell.conditions import Truth
from grpo_ref.explain.launch.shell.scope import Value
from grpo_ref.explain.launch.shell.scripts import Scripts
from grpo_ref.explain.launch.shell.state import Jump, Landing
from grpo_ref.explain.launch.text import Hole, Text


class Loops(Scripts):
    """Reads for, while and until."""

    def for_each(self, node: Node) -> Truth:
        """Read `for name in words; do ...; done`."""
        name = node.child_by_field_name("variable")
        body = node.child_by_field_name("body")
        if name is None or body is None:
            return self.statements(node.children)
        values = self._values(node)
        found = len(self.commands)
        variable = self.outline.text(name)

        def turns() -> Iterator[bool]:
            for text in values:
                self.assign(variable, text)
                yield not text.open

        self._loop(turns(), lambda: self.statements(body.children))
        self._note_launches(node, variable, values, len(self.commands) - found)
        return True

    def _values(self, node: Node) -> list[Text]:
        """Return the words after `in`; without `in`, the arguments."""
        places = [child.end_byte for child in node.children if child.type == "in"]
        if not places:
            return list(self.scope.arguments or [])
        tokens = self.outline.command(places[0])
        texts = [text for token in tokens for text in self.expander.words(token.word)]
        return [text for text in texts if str(text) != "$@"]

    def _note_launches(self, node: Node, variable: str, values: Sequence[Text], found: int) -> None:
        self.budget.line = self.outline.line(node)
        if found > 1 and len(values) > 1:
            listed = ", ".join(map(str, values[:8])) + (", ..." if len(values) > 8 else "")
            self.note(
                f"The loop of line {self.budget.line} runs its commands for each {variable} of {listed}."
            )

    def for_counted(self, node: Node) -> Truth:
        """Read `for ((a; b; c)); do ...; done`."""
        body = node.child_by_field_name("body")
        head = self.outline.text(node)[: (body.start_byte if body else node.end_byte) - node.start_byte]
        inside = re.search(r"\(\((.*)\)\)", head, re.DOTALL)
        if body is None or inside is None:
            return self.statements(node.children)
        first, condition, step = [*inside[1].split(";"), "", ""][:3]
        self.builtins.computed(first)

        def turns() -> Iterator[bool]:
            while (truth := self.builtins.computed(condition) if condition.strip() else True) is not False:
                yield truth is True
                if truth is None or self.landings[-1].left:
                    return
                self.builtins.computed(step)

        return self._loop(turns(), lambda: self.statements(body.children))

    def while_true(self, node: Node) -> Truth:
        """Read `while ...; do ...; done`, and `until`."""
        body = node.child_by_field_name("body")
        if body is None:
            return self.statements(node.children)
        conditions = [child for child in node.children if child != body]
        wanted = node.children[0].type == "while"

        def turns() -> Iterator[bool]:
            while (truth := self.noticing(lambda: self.statements(conditions))[0]) in (wanted, None):
                yield truth is wanted
                if truth is None or self.landings[-1].left:
                    return

        return self._loop(turns(), lambda: self.statements(body.children))

    def _loop(self, turns: Iterator[bool], body: Run) -> Truth:
        """Read the body once for each turn.

        Args:
          turns: for each turn, true if the turn certainly runs.
          body: reads the body.
        """
        before, line = dict(self.scope.variables), self.budget.line
        landing = Landing(("break", "continue"))
        self.landings.append(landing)
        for number, certain in enumerate(turns):
            if number == TURNS:
                self._not_to_the_end(before, line)
                break
            if not self._turn(body, certain, landing):
                break
        self.landings.pop()
        self.land(landing, "break", line)
        return True

    def _turn(self, body: Run, certain: bool, landing: Landing) -> bool:
        """Read one turn of a loop, and return true if the loop goes on."""
        line = self.budget.line
        try:
            body() if certain else self.possibly(body)
        except Jump as jump:
            if jump.kind not in ("break", "continue"):
                raise
            if jump.number > 1:
                raise Jump(jump.kind, jump.number - 1) from None
            if jump.kind == "break":
                return False
        self.land(landing, "continue", line)
        return True

    def _not_to_the_end(self, before: dict[str, Value], line: int) -> None:
        self.budget.line = line
        self.note(f"Only the first {TURNS} turns of the loop of line {line} are read.")
        for name, value in self.scope.variables.items():
            if before.get(name) != value:
                hole = Hole(f"${name}", f"changes in the loop of line {line}, which is not read to its end")
                self.scope.variables[name] = Text.of(hole)
