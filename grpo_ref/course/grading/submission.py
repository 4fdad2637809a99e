"""An answer as something that can be called: a file in a sandbox, or a function at hand."""

import operator
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import lazy_loader
import numpy as np

from grpo_ref.course.grading.problem import Function, Raised, Submission, copied, format_call, format_value
from grpo_ref.course.grading.sandbox import Reply, Sandbox

difflib = lazy_loader.load("difflib")  # for those who misspell a name


ENDED = frozenset(("TimedOut", "Died"))
"""Kinds of what is raised for a process that was ended."""
TOGETHER = 8
"""Calls that are made together: more than one, since each message costs; few, since they share their time."""
Calls = Sequence[tuple[Sequence[Any], Mapping[str, Any]]]


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


class Sandboxed:
    """A file in a sandbox as a submission."""

    official = True

    def __init__(self, sandbox: Sandbox, function: str) -> None:
        self.sandbox, self.function = sandbox, function
        self.reply: Reply | None = None
        self.warnings: list[str] = []
        self.coming: Calls = ()
        self.replies: list[Reply] = []

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
        """They are made together, a few at a time, where the sandbox can do that."""
        self.coming, self.replies = calls, []

    def _announced(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Reply | None:
        """The reply to the call that was announced next, if it is this one; else nothing is announced now."""
        if not self.coming or not _is_same_call(self.coming[0], arguments, keywords):
            self.announce(())
            return None
        if not self.replies:
            self.replies = self.sandbox.call_together(self.function, self.coming[:TOGETHER])
        if not self.replies:
            self.announce(())
            return None
        self.coming = self.coming[1:]
        return self.replies.pop(0)

    def inputs_after(self) -> Any:
        """The arguments and keywords of the last call as they were left, if it returned and changed them."""
        return None if self.reply is None else self.reply.inputs

    def printed(self) -> str:
        """What the file has printed so far."""
        return self.sandbox.printed()

    def forget(self) -> None:
        """Nothing is kept."""


def _is_same_call(
    announced: tuple[Sequence[Any], Mapping[str, Any]], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> bool:
    """Whether these very objects were announced."""
    theirs, named = announced
    return (
        len(theirs) == len(arguments)
        and all(map(operator.is_, theirs, arguments))
        and named.keys() == keywords.keys()
        and all(named[name] is keywords[name] for name in named)
    )


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
