"""A batch as a few lines of Python, to be run: imports, arrays, the call, what is expected and what came."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.check.arguments import INPUTS, KNOWN, named
from grpo_ref.check.batches import Trial
from grpo_ref.check.frameworks import Answer, Asked, Loss, first_of, given_arrays, raw_answer
from grpo_ref.check.reference import same_loss

IMPORTS = {"numpy": "import numpy as np", "torch": "import torch", "jax": "import jax"}
MAKE = {"numpy": "np.array({}{})", "torch": "torch.tensor({}{})", "jax": "jax.numpy.asarray({}{})"}


def example(loss: Loss, trial: Trial, how: Asked, ours: Answer, theirs: Answer) -> str:
    """Lines that call the function on a batch and show what it answers.

    Args:
      loss: the function.
      trial: the batch.
      how: framework and precision.
      ours, theirs: what the recipe and the function answer on it.
    """
    arguments = named(loss, given_arrays(loss, trial, np.asarray))
    variables = {**arguments.get(INPUTS, {}), **{k: v for k, v in arguments.items() if k != INPUTS}}
    call, answer = _call(loss, arguments), raw_answer(loss, trial, how)
    lines = [*_beginning(loss, how, variables)]
    lines += [f"{name} = {_written(value, how)}" for name, value in variables.items()]
    if per_token := how.weights is not None and np.shape(first_of(answer)) == how.weights.shape:
        lines.append(f"weights = {_written(how.weights, how)}  # of the recipe")
    value = f"{call}[0]" if isinstance(answer, tuple) else call
    value = f"({value} * weights).sum()" if per_token else value
    if not same_loss(ours, theirs, 1e-6):
        return "\n".join([*lines, f"print({value})", f"# expected {ours.loss:.8g}, got {theirs.loss:.8g}"])
    name = next(name for name in variables if KNOWN[name] == "log_probs")
    lines += _gradient(name, value, f"{call}[1]" if not theirs.numerical else "", how)
    return "\n".join([*lines, *_gradients(ours, theirs)])


def _beginning(loss: Loss, how: Asked, variables: dict[str, Any]) -> Iterator[str]:
    yield IMPORTS[how.framework]
    if _is_importable(loss):
        yield f"from {loss.__module__} import {loss.__qualname__.split('.')[0]}"
    else:
        yield "# loss = your function"
    arrays = [value for value in variables.values() if isinstance(value, np.ndarray)]
    if any(np.isnan(array).any() for array in arrays):
        yield 'nan = float("nan")'


def _is_importable(loss: Loss) -> bool:
    return "<" not in getattr(loss, "__qualname__", "<") and loss.__module__ != "__main__"


def _written(value: Any, how: Asked) -> str:
    """A number or an array as Python."""
    if not isinstance(value, np.ndarray):
        return repr(value)
    library = {"numpy": "np", "torch": "torch", "jax": "jax.numpy"}[how.framework]
    plain = how.framework == "numpy" and how.dtype == "float64"
    dtype = "" if plain else f", dtype={library}.{how.dtype}"
    numbers = np.array([float(f"{number:.15g}") for number in value.reshape(-1)]).reshape(value.shape)
    return MAKE[how.framework].format(numbers.tolist(), dtype)


def _call(loss: Loss, arguments: dict[str, Any]) -> str:
    """The call, every argument by its name."""
    name = loss.__qualname__ if _is_importable(loss) else "loss"
    owner = getattr(loss, "__self__", None)
    if "." in name and owner is not None and not isinstance(owner, type):
        name = "().".join(name.rsplit(".", 1))
    inputs = {key: key for key in arguments.get(INPUTS, {})}
    texts = [f"{key}={key}" for key in arguments if key != INPUTS]
    if inputs:
        texts.insert(0, f"{INPUTS}={{{', '.join(f'{key!r}: {key}' for key in inputs)}}}")
    return f"{name}({', '.join(texts)})"


def _gradient(name: str, value: str, given: str, how: Asked) -> list[str]:
    """Lines that print the gradient."""
    if how.framework == "torch":
        return [f"{name}.requires_grad_()", f"{value}.backward()", f"print({name}.grad)"]
    if how.framework == "jax":
        return [f"print(jax.grad(lambda {name}: {value})({name}))"]
    if given:
        return [f"print({given})"]
    return [
        f"value = lambda {name}: {value}",
        f"steps = 1e-5 * np.eye({name}.size).reshape(-1, *{name}.shape)",
        f"slopes = [(value({name} + step) - value({name} - step)) / 2e-5 for step in steps]",
        f"print(np.reshape(slopes, {name}.shape))",
    ]


def _gradients(ours: Answer, theirs: Answer) -> Iterator[str]:
    """What gradient is expected and what came, as comments."""
    if ours.gradient is not None and theirs.gradient is not None:
        yield f"# expected {_short(ours.gradient)}"
        yield f"# got      {_short(theirs.gradient)}"


def _short(array: Floats) -> str:
    return str([[float(f"{number:.6g}") for number in row] for row in array])
