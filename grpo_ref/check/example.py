"""Print a batch as lines of Python to run: imports, arrays, the call, expected and received result."""

import sys
from pathlib import Path
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.check.arguments import INPUTS, KNOWN, keyword_arguments
from grpo_ref.check.batches import Trial
from grpo_ref.check.frameworks import Answer, CallSettings, Loss, first_of, given_arrays, raw_answer
from grpo_ref.check.reference import same_loss

IMPORTS = {"numpy": "import numpy as np", "torch": "import torch", "jax": "import jax"}
MAKE = {"numpy": "np.array({}{})", "torch": "torch.tensor({}{})", "jax": "jax.numpy.asarray({}{})"}


def example(loss: Loss, trial: Trial, how: CallSettings, ours: Answer, theirs: Answer) -> str:
    """Return lines of Python that call the function on a batch and print its result.

    Args:
      loss: the function.
      trial: the batch.
      how: framework and precision.
      ours: result of the recipe on the batch.
      theirs: result of the function on the batch.
    """
    arguments = keyword_arguments(loss, given_arrays(loss, trial, np.asarray))
    variables = {**arguments.get(INPUTS, {}), **{k: v for k, v in arguments.items() if k != INPUTS}}
    call, answer = _call(loss, arguments), raw_answer(loss, trial, how)
    lines = [IMPORTS[how.framework]]
    if _is_importable(loss):
        lines += _path(loss)
        lines.append(f"from {loss.__module__} import {loss.__qualname__.split('.')[0]}")
    else:
        lines.append("# loss = your function")
    if any(np.isnan(value).any() for value in variables.values() if isinstance(value, np.ndarray)):
        lines.append('nan = float("nan")')  # `tolist` writes NaN as nan
    lines += [f"{name} = {_written(value, how)}" for name, value in variables.items()]
    if per_token := how.weights is not None and np.shape(first_of(answer)) == how.weights.shape:
        lines.append(f"weights = {_written(how.weights, how)}  # the recipe's")
    value = f"{call}[0]" if isinstance(answer, tuple) else call
    value = f"({value} * weights).sum()" if per_token else value
    if not same_loss(ours, theirs, 1e-6):
        return "\n".join([*lines, f"print({value})", f"# expected {ours.loss:.8g}, got {theirs.loss:.8g}"])
    name = next(name for name in variables if KNOWN[name] == "log_probs")
    lines += _gradient(name, value, f"{call}[1]" if not theirs.numerical else "", how)
    if ours.gradient is not None and theirs.gradient is not None:
        lines += [f"# expected {_short(ours.gradient)}", f"# got      {_short(theirs.gradient)}"]
    return "\n".join(lines)


def _is_importable(loss: Loss) -> bool:
    return "<" not in getattr(loss, "__qualname__", "<") and loss.__module__ != "__main__"


def _path(loss: Loss) -> list[str]:
    """Return the lines that let Python find a module which is neither here nor installed."""
    file = getattr(sys.modules.get(loss.__module__), "__file__", None)
    if file is None or "." in loss.__module__:
        return []
    folder = Path(file).resolve().parent
    if folder == Path.cwd() or folder in {Path(entry).resolve() for entry in sys.path if entry}:
        return []
    return ["import sys", f"sys.path.insert(0, {str(folder)!r})"]


def _written(value: Any, how: CallSettings) -> str:
    """Return a number or an array as a Python expression."""
    if not isinstance(value, np.ndarray):
        return repr(value)
    library = {"numpy": "np", "torch": "torch", "jax": "jax.numpy"}[how.framework]
    if value.dtype.kind != "f":  # ids of completions
        return MAKE[how.framework].format(value.tolist(), f", dtype={library}.int64")
    plain = how.framework == "numpy" and how.dtype == "float64"
    dtype = "" if plain else f", dtype={library}.{how.dtype}"
    numbers = np.array([float(f"{number:.15g}") for number in value.reshape(-1)]).reshape(value.shape)
    return MAKE[how.framework].format(numbers.tolist(), dtype)


def _call(loss: Loss, arguments: dict[str, Any]) -> str:
    """Return the call, with every argument passed by name."""
    name = loss.__qualname__ if _is_importable(loss) else "loss"
    owner = getattr(loss, "__self__", None)
    if "." in name and owner is not None and not isinstance(owner, type):
        name = "().".join(name.rsplit(".", 1))
    inputs = {key: key for key in arguments.get(INPUTS, {})}
    texts = [f"{key}={key}" for key in arguments if key != INPUTS]
    if inputs:
        texts.insert(0, f"{INPUTS}={{{', '.join(f'{key!r}: {key}' for key in inputs)}}}")
    return f"{name}({', '.join(texts)})"


def _gradient(name: str, value: str, given: str, how: CallSettings) -> list[str]:
    """Return lines that print the gradient.

    Args:
      name: variable that holds the log-probabilities.
      value: expression for the loss.
      given: expression for the gradient that the function returns, or "".
      how: framework and precision.
    """
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


def _short(array: Floats) -> str:
    return str([[float(f"{number:.6g}") for number in row] for row in array])
