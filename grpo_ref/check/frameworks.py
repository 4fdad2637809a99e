"""Ask a loss function for its loss and gradient; central differences where it has no autograd."""

import inspect
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.check import arguments
from grpo_ref.check.batches import Trial

Loss = Callable[..., Any]
FRAMEWORKS = ("numpy", "torch", "jax")
DTYPES = ("float64", "float32")
DOUBLE = float(np.finfo(float).eps)
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
      precision: the distance of 1 to the next number in the precision of the loss.
      scale: the sum of the magnitudes of the terms whose sum is the loss; 0 if it is not known.
    """

    loss: float
    gradient: Floats | None
    numerical: bool = False
    precision: float = DOUBLE
    scale: float = 0.0


class Asked(NamedTuple):
    """How a function is asked.

    Attributes:
      framework: one of `FRAMEWORKS`.
      dtype: one of `DTYPES`: of the arrays that it is given.
      weights: (N, T) with which losses per token are added up, or None where a number is expected.
      differences: whether a NumPy function that returns no gradient is differentiated numerically.
    """

    framework: str = "numpy"
    dtype: str = "float64"
    weights: Floats | None = None
    differences: bool = False


def ask(loss: Loss, trial: Trial, how: Asked) -> Answer:
    """What the function says of a batch.

    Args:
      loss: the function.
      trial: the batch.
      how: framework and precision.

    Raises:
      LossError: if the function fails or returns no loss; says why, on which batch and in which line.
      ImportError: if the framework is not installed.
    """
    answer_of = {"torch": _torch, "jax": _jax}.get(how.framework) or _numpy
    try:
        with np.errstate(all="ignore"):
            answer = answer_of(loss, trial, how)
        if answer.gradient is not None and answer.gradient.shape != trial.mask.shape:
            raise TypeError(f"expected a gradient of shape {trial.mask.shape}, got {answer.gradient.shape}")
    except ImportError:
        raise
    except (Exception, SystemExit) as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        ours = where.filename in (__file__, arguments.__file__)
        place = "" if ours else f" ({where.filename}:{where.lineno})"
        raise LossError(f"on the batch {trial.kind!r}: {type(error).__name__}: {error}{place}") from error
    return answer


def central_differences(loss: Callable[[Floats], float], trial: Trial) -> Floats:
    """The gradient of a function of log_probs; NaN at a kink, where both sides differ, and on padding."""
    gradient, middle = np.full(trial.mask.shape, np.nan), loss(trial.log_probs)
    for index in zip(*np.nonzero(trial.mask), strict=True):
        sides = []
        for step in (STEP, -STEP):
            moved = trial.log_probs.copy()
            moved[index] += step
            sides.append((loss(moved) - middle) / step)
        gradient[index] = np.mean(sides) if is_smooth(*sides) else np.nan
    return gradient


def is_smooth(right: float, left: float) -> bool:
    """Whether the derivatives from both sides are one derivative, not those of a kink between them."""
    return abs(right - left) <= 1e-3 * max(abs(right), abs(left)) + 1e-6


def raw_answer(loss: Loss, trial: Trial, how: Asked) -> Any:
    """What the function returns, as it returns it; arrays are NumPy's."""
    if how.framework == "torch":
        import torch

        given = given_arrays(
            loss, trial, lambda array: torch.tensor(array, dtype=getattr(torch, _dtype(array, how)))
        )
    elif how.framework == "jax":
        import jax

        with jax.enable_x64(True):
            given = given_arrays(
                loss, trial, lambda array: jax.numpy.asarray(array, dtype=_dtype(array, how))
            )
            return loss(**arguments.named(loss, given))
    else:
        given = given_arrays(loss, trial, lambda array: np.array(array, dtype=_dtype(array, how)))
    with np.errstate(all="ignore"):
        return loss(**arguments.named(loss, given))


def _numpy(loss: Loss, trial: Trial, how: Asked) -> Answer:
    given = given_arrays(loss, trial, lambda array: np.array(array, dtype=_dtype(array, how)))
    parameters = inspect.signature(loss).parameters

    def value(log_probs: Floats) -> Any:
        return loss(
            **arguments.chosen(parameters, {**given, "log_probs": np.array(log_probs, dtype=how.dtype)})
        )

    answer = value(trial.log_probs)
    number = _summed(first_of(answer), how.weights)
    precision = _precision(np.asarray(number).dtype, how, np.finfo)
    gradient = _given_gradient(answer)
    if gradient is not None or not how.differences or precision > DOUBLE:
        return Answer(_number(number), gradient, precision=precision)
    differences = central_differences(lambda x: _number(_summed(first_of(value(x)), how.weights)), trial)
    return Answer(_number(number), differences, numerical=True)


def _torch(loss: Loss, trial: Trial, how: Asked) -> Answer:
    import torch

    given = given_arrays(
        loss, trial, lambda array: torch.tensor(array, dtype=getattr(torch, _dtype(array, how)))
    )
    log_probs = given["log_probs"].requires_grad_()
    value = _summed(first_of(loss(**arguments.named(loss, given))), how.weights, torch.tensor)
    if not isinstance(value, torch.Tensor):
        return Answer(_number(value), np.zeros_like(trial.mask))
    number = _number(value.detach().double().numpy())
    if value.requires_grad:
        value.backward()
    gradient = np.zeros_like(trial.mask) if log_probs.grad is None else log_probs.grad.double().numpy().copy()
    return Answer(number, gradient, precision=_precision(value.dtype, how, torch.finfo))


def _jax(loss: Loss, trial: Trial, how: Asked) -> Answer:
    import jax

    with jax.enable_x64(True):
        given = given_arrays(loss, trial, lambda array: jax.numpy.asarray(array, dtype=_dtype(array, how)))

        def number(log_probs: Any) -> Any:
            value = first_of(loss(**arguments.named(loss, {**given, "log_probs": log_probs})))
            return _summed(value, how.weights, jax.numpy.asarray)

        value, gradient = jax.value_and_grad(number)(given["log_probs"])
        precision = _precision(value.dtype, how, jax.numpy.finfo)
        return Answer(float(value), np.array(gradient, dtype=float), precision=precision)


def given_arrays(loss: Loss, trial: Trial, make: Callable[[Any], Any]) -> dict[str, Any]:
    """What a function may be given, by our names; advantages of each token where it expects them so."""
    advantages = trial.advantages
    if arguments.PER_TOKEN in inspect.signature(loss).parameters and advantages.ndim == 1:
        advantages = np.broadcast_to(advantages[:, None], trial.mask.shape)
    names = ["log_probs", "old_log_probs", "ref_log_probs", "rollout_log_probs", "mask"]
    arrays = {name: make(getattr(trial, name)) for name in names} | {"advantages": make(advantages)}
    if trial.sequence_ids is not None:
        return arrays | {"sequence_ids": make(trial.sequence_ids), "completions": trial.completions}
    rewards = None if trial.rewards is None else make(trial.rewards)
    return arrays | {"rewards": rewards, "num_generations": trial.group_size}


def _dtype(array: Any, how: Asked) -> str:
    """That which was asked for, but for whole numbers."""
    return how.dtype if np.asarray(array).dtype.kind == "f" else "int64"


def first_of(answer: Any) -> Any:
    """The loss of what a function returns: (loss, metrics) and (loss, gradient) begin with it."""
    return answer[0] if isinstance(answer, tuple) and answer else answer


def _given_gradient(answer: Any) -> Floats | None:
    """The gradient of (loss, gradient); metrics are no array."""
    second = answer[1] if isinstance(answer, tuple) and len(answer) == 2 else None
    return np.asarray(second, dtype=float) if isinstance(second, np.ndarray) and second.ndim else None


def _summed(value: Any, weights: Floats | None, make: Callable[..., Any] = np.asarray) -> Any:
    """The loss, or of losses per token, (N, T), their sum with the recipe's weights."""
    if weights is None or len(np.shape(value)) != 2 or np.shape(value) != weights.shape:
        return value
    counted = weights > 0
    return (value[make(counted)] * make(weights[counted])).sum()


def _precision(dtype: Any, how: Asked, finfo: Callable[[Any], Any]) -> float:
    """The distance of 1 to the next number, in the loss or in what was given, whichever is more."""
    try:
        own = float(finfo(dtype).eps)
    except (TypeError, ValueError):
        own = DOUBLE
    return max(own, float(np.finfo(how.dtype).eps))


def _number(value: Any) -> float:
    if value is None or np.size(value) != 1:
        what = "None" if value is None else f"an array of shape {np.shape(value)}"
        raise TypeError(f"expected the loss, a number, or one per token, got {what}")
    return float(np.reshape(value, ()))
