"""Call a function of a trainer, and notice if its signature has changed."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any


class SignatureChanged(Exception):
    """A function is gone, or takes other arguments than the recorded version. The message says which."""


def call(function: Callable[..., Any], also: Mapping[str, Any] | None = None, **arguments: Any) -> Any:
    """Call a function, after a check that it has these parameters and requires no others.

    A parameter has to be named: one that `**kwargs` would swallow counts as missing.

    Args:
      function: function, class or bound method of the trainer.
      also: arguments that the function takes as `**kwargs`; they are not checked.
      arguments: arguments by name.

    Raises:
      SignatureChanged: if the parameters are others.
    """
    name = getattr(function, "__qualname__", str(function))
    parameters = inspect.signature(function).parameters
    gone = [each for each in arguments if each not in parameters]
    new = [
        each.name
        for each in parameters.values()
        if each.default is each.empty
        and each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
        and each.name not in arguments
    ]
    if gone or new:
        reasons = [f"no {', '.join(gone)}"] * bool(gone) + [f"another argument: {', '.join(new)}"] * bool(new)
        raise SignatureChanged(f"{name} takes {' and '.join(reasons)}")
    return function(**arguments, **(also or {}))
