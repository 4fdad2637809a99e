"""Limit the work that a script may ask for."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from grpo_ref.explain.launch.shell.script import CannotRead

STEPS = 20_000
TURNS = 64
LENGTH = 100_000
NESTING = 150
CHARACTERS_A_STEP = 1_000


@dataclass
class Budget:
    """The remaining work, and the line that is being read."""

    steps: int = STEPS
    nesting: int = 0
    line: int = 1

    def spend(self, characters: int = 0) -> None:
        """Count a step, and one more for each CHARACTERS_A_STEP characters.

        Raises:
          CannotRead: if no steps are left.
        """
        self.steps -= 1 + characters // CHARACTERS_A_STEP
        if self.steps < 0:
            raise CannotRead(self.line, f"is reached after more than {STEPS:,} steps")

    def length(self, characters: int) -> None:
        """Count the characters of a value.

        Raises:
          CannotRead: if the value is too long.
        """
        if characters > LENGTH:
            raise CannotRead(self.line, f"makes a value of more than {LENGTH:,} characters")
        self.spend(characters)

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Count a level of nesting.

        Raises:
          CannotRead: if there are too many levels.
        """
        self.nesting += 1
        if self.nesting > NESTING:
            raise CannotRead(self.line, f"is nested more than {NESTING} levels deep")
        try:
            yield
        finally:
            self.nesting -= 1
