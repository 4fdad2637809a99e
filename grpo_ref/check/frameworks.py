"""Call a loss function and return its loss and gradient, by central differences if it has no autograd."""

import contextlib
import inspect
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.check import arguments
from grpo_ref.check.batches import LOG_PROBS, Trial

Loss = Callable[..., Any]
FRAMEWORKS = ("numpy", "torch", "jax")
DTYPES = ("float64", "float32")
DOUBLE = float(np.finfo(float).eps)
STEP = 1e-5
"""Step of the central differences, in nats."""


class LossError(Exception):
    """Raised if the function under test fails or does not return a loss."""


class Answer(NamedTuple):
    """Loss and gradient of a function or a recipe on a batch.

    Attributes:
      loss: the loss, a number.
      gradient: (N, T) gradient with respect to log_probs, NaN where it is unknown; or None.
      numerical: true if the gradient was computed by central differences.
      precision: machine epsilon of the loss's precision.
      scale: sum of the magnitudes of the terms whose sum is the loss; 0 if unknown.
    """

    loss: float
    gradient: Floats | None
    numerical: bool = False
    precision: float = DOUBLE
    scale: float = 0.0


class CallSettings(NamedTuple):
    """Settings of a call.

    Attributes:
      framework: one of `FRAMEWORKS`.
      dtype: precision of the arrays that the function receives, one of `DTYPES`.
      weights: (N, T) weights that average one loss per token, or None if the loss must be a number.
      differences: if true, differentiate a NumPy function that returns no gradient by central differences.
    """

    framework: str = "numpy"
    dtype: str = "float64"
    weights: Floats | None = None
    differences: bool = False


def ask(loss: Loss, trial: Trial, how: CallSettings) -> Answer:
    """Call the function on a batch and return its loss and gradient.

    Args:
      loss: the function.
      trial: the batch.
      how: framework and precision.

    Raises:
      LossError: if the function fails or does not return a loss. The message has the reason, the batch and
        the line.
      ImportError: if the framework is not installed.
    """
    evaluate = {"torch": _torch, "jax": _jax}.get(how.framework) or _numpy
    try:
        with np.errstate(all="ignore"):
            answer = evaluate(loss, trial, how)
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
    """Return the gradient of a function of log_probs, NaN at kinks and on padding."""
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
    """Return whether the derivatives from the right and from the left agree: no kink lies between them."""
    return abs(right - left) <= 1e-3 * max(abs(right), abs(left)) + 1e-6


def raw_answer(loss: Loss, trial: Trial, how: CallSettings) -> Any:
    """Call the function on a batch and return its result unchanged."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(np.errstate(all="ignore"))
        if how.framework == "jax":
            import jax

            stack.enter_context(jax.enable_x64(True))
        given = given_arrays(loss, trial, _array_maker(how))
        return loss(**arguments.keyword_arguments(loss, given))


def _array_maker(how: CallSettings) -> Callable[[Any], Any]:
    """Return the function that turns a NumPy array into an array of the framework and precision.

    Whole numbers, such as the ids of completions, stay int64.
    """

    def dtype(array: Any) -> str:
        return how.dtype if np.asarray(array).dtype.kind == "f" else "int64"

    # Import a framework only when it is asked for: PyTorch and JAX take seconds.
    if how.framework == "torch":
        import torch

        return lambda array: torch.tensor(array, dtype=getattr(torch, dtype(array)))
    if how.framework == "jax":
        import jax

        return lambda array: jax.numpy.asarray(array, dtype=dtype(array))
    return lambda array: np.array(array, dtype=dtype(array))


def _numpy(loss: Loss, trial: Trial, how: CallSettings) -> Answer:
    given = given_arrays(loss, trial, _array_maker(how))
    parameters = inspect.signature(loss).parameters

    def value(log_probs: Floats) -> Any:
        return loss(
            **arguments.keywords_for(parameters, {**given, "log_probs": np.array(log_probs, dtype=how.dtype)})
        )

    answer = value(trial.log_probs)
    number = _summed(first_of(answer), how.weights)
    precision = _precision(np.asarray(number).dtype, how, np.finfo)
    # A second value of one or more axes is the gradient; metrics are a dict or a number.
    second = answer[1] if isinstance(answer, tuple) and len(answer) == 2 else None
    returned = isinstance(second, np.ndarray) and second.ndim > 0
    gradient = np.asarray(second, dtype=float) if returned else None
    # In single precision the differences would be rounding errors.
    if gradient is not None or not how.differences or precision > DOUBLE:
        return Answer(_number(number), gradient, precision=precision)
    differences = central_differences(lambda x: _number(_summed(first_of(value(x)), how.weights)), trial)
    return Answer(_number(number), differences, numerical=True)


def _torch(loss: Loss, trial: Trial, how: CallSettings) -> Answer:
    import torch

    given = given_arrays(loss, trial, _array_maker(how))
    log_probs = given["log_probs"].requires_grad_()
    value = _summed(first_of(loss(**arguments.keyword_arguments(loss, given))), how.weights, torch.tensor)
    if not isinstance(value, torch.Tensor):
        return Answer(_number(value), np.zeros_like(trial.mask))
    number = _number(value.detach().double().numpy())
    if value.requires_grad:
        value.backward()
    gradient = np.zeros_like(trial.mask) if log_probs.grad is None else log_probs.grad.double().numpy().copy()
    return Answer(number, gradient, precision=_precision(value.dtype, how, torch.finfo))


def _jax(loss: Loss, trial: Trial, how: CallSettings) -> Answer:
    import jax

    with jax.enable_x64(True):
        given = given_arrays(loss, trial, _array_maker(how))

        def number(log_probs: Any) -> Any:
            value = first_of(loss(**arguments.keyword_arguments(loss, {**given, "log_probs": log_probs})))
            return _summed(value, how.weights, jax.numpy.asarray)

        value, gradient = jax.value_and_grad(number)(given["log_probs"])
        precision = _precision(value.dtype, how, jax.numpy.finfo)
        return Answer(float(value), np.array(gradient, dtype=float), precision=precision)


def given_arrays(loss: Loss, trial: Trial, make: Callable[[Any], Any]) -> dict[str, Any]:
    """Return all arrays that a function may take, by grpo_ref's names.

    A function with verl's parameter names gets one advantage per token, as verl passes them.
    """
    advantages = trial.advantages
    if arguments.PER_TOKEN in inspect.signature(loss).parameters and advantages.ndim == 1:
        advantages = np.broadcast_to(advantages[:, None], trial.mask.shape)
    arrays = {name: make(getattr(trial, name)) for name in (*LOG_PROBS, "mask")} | {
        "advantages": make(advantages)
    }
    if trial.sequence_ids is not None:
        return arrays | {"sequence_ids": make(trial.sequence_ids), "completions": trial.completions}
    rewards = None if trial.rewards is None else make(trial.rewards)
    return arrays | {"rewards": rewards, "num_generations": trial.group_size}


def first_of(answer: Any) -> Any:
    """Return the loss, which is the first value if a function returns a tuple."""
    return answer[0] if isinstance(answer, tuple) and answer else answer


def _summed(value: Any, weights: Floats | None, make: Callable[..., Any] = np.asarray) -> Any:
    """Average one loss per token (N, T) with the recipe's weights; return any other value unchanged."""
    if weights is None or len(np.shape(value)) != 2 or np.shape(value) != weights.shape:
        return value
    counted = weights > 0
    return (value[make(counted)] * make(weights[counted])).sum()


def _precision(dtype: Any, how: CallSettings, finfo: Callable[[Any], Any]) -> float:
    """Return the machine epsilon of the loss or of the function's inputs, whichever is larger."""
    try:
        own = float(finfo(dtype).eps)
    except (TypeError, ValueError):
        own = DOUBLE
    return max(own, float(np.finfo(how.dtype).eps))


def _number(value: Any) -> float:
    """Return the loss as a float, or raise a TypeError."""
    if value is None or np.size(value) != 1:
        what = "None" if value is None else f"an array of shape {np.shape(value)}"
        raise TypeError(f"expected the loss as one number, or one loss per token, got {what}")
    return float(np.reshape(value, ()))
