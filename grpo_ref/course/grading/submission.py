"""An answer as a callable: a file in a sandbox, or a function of this process."""

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
"""Kinds of the exception that is raised if a process was ended."""
TOGETHER = 64
"""Number of calls that are made together. Many calls, since each message costs time; not all, since they
share one time limit.
"""


def missing(function: str, names: Sequence[str]) -> str:
    """Return the message about a file that lacks the requested function.

    >>> missing("group_advantages", ["group_advantage"])
    'there is no function `group_advantages`; did you mean `group_advantage`?'
    """
    nearest = difflib.get_close_matches(function, names, n=1)
    question = f"; did you mean `{nearest[0]}`?" if nearest else ""
    return f"there is no function `{function}`{question}"


class Direct:
    """A function of this process as a submission."""

    official = False

    def __init__(self, function: Function) -> None:
        self.function = function
        self.warnings: list[str] = []
        self.last: Any = None

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Return the function's value, or raise Raised."""
        self.last = (copied(arguments), copied(keywords))
        try:
            with np.errstate(all="ignore"):
                return self.function(*self.last[0], **self.last[1])
        except Exception as error:
            raise Raised([kind.__name__ for kind in type(error).__mro__], str(error)) from error

    def announce(self, calls: Calls) -> None:
        """Do nothing: calls are made one by one."""

    def inputs_after(self) -> Any:
        """Return the arguments and keywords of the last call after it returned."""
        return self.last

    def printed(self) -> str:
        """Return "": the function's output is not captured."""
        return ""

    def forget(self) -> None:
        """Do nothing: no calls are stored."""


@dataclass
class Announced:
    """A call that was announced, and its reply as soon as the call was made."""

    arguments: Sequence[Any]
    keywords: Mapping[str, Any]
    reply: Reply | None = None

    def is_of(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> bool:
        """Return whether exactly these objects were announced."""
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
        """Return the value of the file's function, or raise Raised."""
        self.reply = self._announced(arguments, keywords) or self.sandbox.call(
            self.function, arguments, keywords
        )
        self.warnings += self.reply.warnings
        if self.reply.ok:
            return self.reply.value
        raise Raised(self.reply.kinds, self.reply.message, self.reply.lines)

    def announce(self, calls: Calls) -> None:
        """Store the calls. If the sandbox supports it, many are made together."""
        self.coming = [Announced(*call) for call in calls]

    def _announced(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Reply | None:
        """Return the reply to a call that was announced. Calls that were announced before it are cancelled.

        Return None if the call was not announced, or if the calls cannot be made together. In the second case
        all announced calls are cancelled.
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
        """Return the arguments and keywords of the last call after it returned, if it changed them, else
        None.
        """
        return None if self.reply is None else self.reply.inputs

    def printed(self) -> str:
        """Return what the file has printed so far."""
        return self.sandbox.printed()

    def forget(self) -> None:
        """Do nothing: no calls are stored."""


class Call(NamedTuple):
    """One call of a submission and its result."""

    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]
    value: Any = None
    kinds: tuple[str, ...] = ()

    @property
    def raised(self) -> bool:
        """True if the call raised; then `kinds` holds the names of the exception's type and its bases."""
        return bool(self.kinds)


class Witness:
    """Pass calls on and store their results, to compare them with known wrong answers.

    Attributes:
      calls: the calls, in order.
    """

    def __init__(self, submission: Submission, function: str) -> None:
        self.submission, self.function = submission, function
        self.calls: list[Call] = []

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Return the submission's value, or raise Raised."""
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
        """The value that the last call returned, as text; "" if the call raised."""
        return format_value(self.calls[-1].value) if self.calls and not self.calls[-1].raised else ""

    def announce(self, calls: Calls) -> None:
        """Pass the announced calls on."""
        self.submission.announce(calls)

    def inputs_after(self) -> Any:
        """Return the inputs of the last call after it returned, as the submission reports them."""
        return self.submission.inputs_after()

    def forget(self) -> None:
        """Discard the last call: it is not evidence."""
        self.calls.pop()
