"""Ask a loss function for its loss and gradient; central differences where it has no autograd."""

import inspect
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.check.batches import Trial

Loss = Callable[..., Any]
FRAMEWORKS = ("numpy", "torch", "jax")
STEP = 1e-5
"""Of the central differences, in nats."""


class LossError(Exception):
    """The function that was to be checked failed, or what it returned is no loss."""


class Answer(NamedTuple):
    """What a loss function says of a batch.

    Attributes:
      loss: a number.
      gradient: (N, T), or None if it was not asked for or cannot be had; NaN where it is not known.
      numerical: whether the gradient is by finite differences.
    """

    loss: float
    gradient: Floats | None
    numerical: bool = False


def ask(loss: Loss, trial: Trial, framework: str, differences: bool) -> Answer:
    """What the function says of a batch.

    Args:
      loss: the function.
      trial: the batch.
      framework: one of `FRAMEWORKS`.
      differences: whether a NumPy function that returns no gradient is differentiated numerically.

    Raises:
      LossError: if the function fails or returns no loss; says why, on which batch and in which line.
      ImportError: if the framework is not installed.
    """
    answer_of = {"torch": _torch, "jax": _jax}.get(framework) or partial(_numpy, differences=differences)
    try:
        answer = answer_of(loss, trial)
        if answer.gradient is not None and answer.gradient.shape != trial.mask.shape:
            raise TypeError(f"expected a gradient of shape {trial.mask.shape}, got {answer.gradient.shape}")
    except ImportError:
        raise
    except (Exception, SystemExit) as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = "" if where.filename == __file__ else f" ({where.filename}:{where.lineno})"
        raise LossError(f"on the batch {trial.kind!r}: {type(error).__name__}: {error}{place}") from error
    return answer


def central_differences(loss: Loss, trial: Trial) -> Floats:
    """The gradient of a function without one; NaN at a kink, where both sides differ."""
    arguments, gradient = _arguments(loss, trial), np.zeros_like(trial.mask)
    middle = _number(loss(**arguments))
    for index in zip(*np.nonzero(trial.mask), strict=True):
        sides = []
        for step in (STEP, -STEP):
            moved = trial.log_probs.copy()
            moved[index] += step
            sides.append((_number(loss(**{**arguments, "log_probs": moved})) - middle) / step)
        gradient[index] = np.mean(sides) if is_smooth(*sides) else np.nan
    return gradient


def is_smooth(right: float, left: float) -> bool:
    """Whether the derivatives from both sides are one derivative, not those of a kink between them."""
    return abs(right - left) <= 1e-3 * max(abs(right), abs(left)) + 1e-6


def _numpy(loss: Loss, trial: Trial, *, differences: bool) -> Answer:
    answer = loss(**_arguments(loss, trial))
    if isinstance(answer, tuple):
        return Answer(_number(answer[0]), np.asarray(answer[1], dtype=float))
    gradient = central_differences(loss, trial) if differences else None
    return Answer(_number(answer), gradient, numerical=True)


def _torch(loss: Loss, trial: Trial) -> Answer:
    import torch

    arguments = _arguments(loss, trial, torch.tensor)
    arguments["log_probs"].requires_grad_()
    value = loss(**arguments)
    number = _number(None if value is None else value.detach().numpy())
    value.backward()
    return Answer(number, arguments["log_probs"].grad.numpy().copy())


def _jax(loss: Loss, trial: Trial) -> Answer:
    import jax

    with jax.enable_x64(True):
        arguments = _arguments(loss, trial, jax.numpy.asarray)
        log_probs = arguments.pop("log_probs")
        value, gradient = jax.value_and_grad(lambda x: loss(log_probs=x, **arguments))(log_probs)
        return Answer(float(value), np.array(gradient))


def _arguments(loss: Loss, trial: Trial, make: Callable[[Floats], Any] = np.copy) -> dict[str, Any]:
    """The five arrays by name, and what else the function has a parameter for."""
    names = ["log_probs", "old_log_probs", "ref_log_probs", "advantages", "mask"]
    if trial.sequence_ids is not None:
        names.append("sequence_ids")
    asked = inspect.signature(loss).parameters
    if "rollout_log_probs" in asked:
        names.append("rollout_log_probs")
    number = {"completions": trial.completions} if "completions" in asked else {}
    return {name: make(getattr(trial, name)) for name in names} | number


def _number(value: Any) -> float:
    if value is None or np.size(value) != 1:
        what = "None" if value is None else f"an array of shape {np.shape(value)}"
        raise TypeError(f"expected the loss, a number, got {what}")
    return float(np.reshape(value, ()))
