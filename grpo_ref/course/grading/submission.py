"""An answer as something that can be called: a file in a sandbox, or a function at hand."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import Function, Raised, Submission, format_call
from grpo_ref.course.grading.sandbox import Reply, Sandbox


class Direct:
    """A function of this process as a submission."""

    official = False

    def __init__(self, function: Function) -> None:
        self.function = function
        self.warnings: list[str] = []
        self.last: Any = None

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """The function's value, or Raised."""
        self.last = (arguments, keywords)
        try:
            with np.errstate(all="ignore"):
                return self.function(*arguments, **keywords)
        except Exception as error:
            raise Raised([kind.__name__ for kind in type(error).__mro__], str(error)) from error

    def inputs_after(self) -> Any:
        """The arguments and keywords of the last call as they were left."""
        return self.last

    def printed(self) -> str:
        """Nothing: what the function prints is not caught."""
        return ""


class Sandboxed:
    """A file in a sandbox as a submission."""

    official = True

    def __init__(self, sandbox: Sandbox, function: str) -> None:
        self.sandbox, self.function = sandbox, function
        self.reply: Reply | None = None
        self.warnings: list[str] = []

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """The file's value, or Raised."""
        self.reply = self.sandbox.call(self.function, arguments, keywords)
        self.warnings += self.reply.warnings
        if self.reply.ok:
            return self.reply.value
        raise Raised(self.reply.kinds, self.reply.message, self.reply.lines)

    def inputs_after(self) -> Any:
        """The arguments and keywords of the last call as they were left, if it returned."""
        return None if self.reply is None else self.reply.inputs

    def printed(self) -> str:
        """What the file has printed so far."""
        return self.sandbox.printed()


class Witness:
    """Passes calls on and keeps their values, to compare them with known wrong answers.

    Attributes:
      calls: arguments, keywords and value of each call that returned.
      called: the last call as text.
    """

    def __init__(self, submission: Submission, function: str) -> None:
        self.submission, self.function = submission, function
        self.calls: list[tuple[tuple[Any, ...], dict[str, Any], Any]] = []
        self.called = ""

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """The submission's value, or Raised."""
        self.called = format_call(self.function, arguments, keywords)
        value = self.submission(*arguments, **keywords)
        self.calls.append((arguments, keywords, value))
        return value

    def inputs_after(self) -> Any:
        """Those of the submission."""
        return self.submission.inputs_after()
