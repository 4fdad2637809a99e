"""An answer as something that can be called: a file in a sandbox, or a function at hand."""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import lazy_loader
import numpy as np

from grpo_ref.course.grading.problem import (
    Calls,
    Function,
    Raised,
    Submission,
    copied,
    format_call,
    format_value,
)
from grpo_ref.course.grading.sandbox import Reply, Sandbox

difflib = lazy_loader.load("difflib")  # for those who misspell a name


ENDED = frozenset(("TimedOut", "Died"))
"""Kinds of what is raised for a process that was ended."""
TOGETHER = 64
"""Calls that are made together: many, since each message costs; not all, since they share their time."""


def missing(function: str, names: Sequence[str]) -> str:
    """What is said of a file without the function that is asked for.

    >>> missing("group_advantages", ["group_advantage"])
    'there is no function `group_advantages`; there is `group_advantage`: is that it?'
    """
    nearest = difflib.get_close_matches(function, names, n=1)
    question = f"; there is `{nearest[0]}`: is that it?" if nearest else ""
    return f"there is no function `{function}`{question}"


class Direct:
    """A function of this process as a submission."""

    official = False

    def __init__(self, function: Function) -> None:
        self.function = function
        self.warnings: list[str] = []
        self.last: Any = None

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """The function's value, or Raised."""
        self.last = (copied(arguments), copied(keywords))
        try:
            with np.errstate(all="ignore"):
                return self.function(*self.last[0], **self.last[1])
        except Exception as error:
            raise Raised([kind.__name__ for kind in type(error).__mro__], str(error)) from error

    def announce(self, calls: Calls) -> None:
        """They are made one by one."""

    def inputs_after(self) -> Any:
        """The arguments and keywords of the last call as they were left."""
        return self.last

    def printed(self) -> str:
        """Nothing: what the function prints is not caught."""
        return ""

    def forget(self) -> None:
        """Nothing is kept."""


@dataclass
class Announced:
    """A call that is going to come, and the reply to it, as soon as it was made."""

    arguments: Sequence[Any]
    keywords: Mapping[str, Any]
    reply: Reply | None = None

    def is_of(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> bool:
        """Whether these very objects were announced."""
        return (
            len(self.arguments) == len(arguments)
            and all(map(operator.is_, self.arguments, arguments))
            and self.keywords.keys() == keywords.keys()
            and all(self.keywords[name] is keywords[name] for name in keywords)
        )


class Sandboxed:
    """A file in a sandbox as a submission."""

    official = True

    def __init__(self, sandbox: Sandbox, function: str) -> None:
        self.sandbox, self.function = sandbox, function
        self.reply: Reply | None = None
        self.warnings: list[str] = []
        self.coming: list[Announced] = []

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """The file's value, or Raised."""
        self.reply = self._announced(arguments, keywords) or self.sandbox.call(
            self.function, arguments, keywords
        )
        self.warnings += self.reply.warnings
        if self.reply.ok:
            return self.reply.value
        raise Raised(self.reply.kinds, self.reply.message, self.reply.lines)

    def announce(self, calls: Calls) -> None:
        """They are made together, many at a time, where the sandbox can do that."""
        self.coming = [Announced(*call) for call in calls]

    def _announced(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Reply | None:
        """The reply to a call that was announced; those announced before it do not come any more.

        None if it was not announced, or they cannot be made together: then nothing is announced now.
        """
        at = next((at for at, call in enumerate(self.coming) if call.is_of(arguments, keywords)), None)
        if at is None:
            return None
        call, *self.coming = self.coming[at:]
        if call.reply is None:
            together = [call, *self.coming][:TOGETHER]
            replies = self.sandbox.call_together(
                self.function, [(each.arguments, each.keywords) for each in together]
            )
            if not replies:
                self.announce(())
            for each, reply in zip(together, replies, strict=False):
                each.reply = reply
        return call.reply

    def inputs_after(self) -> Any:
        """The arguments and keywords of the last call as they were left, if it returned and changed them."""
        return None if self.reply is None else self.reply.inputs

    def printed(self) -> str:
        """What the file has printed so far."""
        return self.sandbox.printed()

    def forget(self) -> None:
        """Nothing is kept."""


class Call(NamedTuple):
    """One call of a submission and what came of it."""

    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]
    value: Any = None
    kinds: tuple[str, ...] = ()

    @property
    def raised(self) -> bool:
        """Whether it raised; then `kinds` has the names of the exception's type and its bases."""
        return bool(self.kinds)


class Witness:
    """Passes calls on and keeps what came of them, to compare it with known wrong answers.

    Attributes:
      calls: in their order.
    """

    def __init__(self, submission: Submission, function: str) -> None:
        self.submission, self.function = submission, function
        self.calls: list[Call] = []

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """The submission's value, or Raised."""
        try:
            value = self.submission(*arguments, **keywords)
        except Raised as raised:
            self.calls.append(Call(arguments, keywords, kinds=raised.kinds))
            raise
        self.calls.append(Call(arguments, keywords, value))
        return value

    @property
    def called(self) -> str:
        """The last call as text."""
        last = self.calls[-1:]
        return format_call(self.function, last[0].arguments, last[0].keywords) if last else ""

    @property
    def returned(self) -> str:
        """What the last call returned, as text; nothing if it did not return."""
        return format_value(self.calls[-1].value) if self.calls and not self.calls[-1].raised else ""

    def announce(self, calls: Calls) -> None:
        """They are passed on."""
        self.submission.announce(calls)

    def inputs_after(self) -> Any:
        """Those of the submission."""
        return self.submission.inputs_after()

    def forget(self) -> None:
        """The last call is no part of the evidence."""
        self.calls.pop()
