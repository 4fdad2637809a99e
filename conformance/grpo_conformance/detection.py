"""Recognize whether a function is written with NumPy, PyTorch or JAX."""

import contextlib
import functools
import inspect
import warnings
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import numpy as np

from grpo_conformance.frameworks import first_of

Function = Callable[..., Any]
ROOTS = {"numpy": "numpy", "torch": "torch", "jax": "jax", "jaxlib": "jax"}
"""Top-level package of a value's type -> the framework."""
ABBREVIATIONS = {"torch": "torch", "jax": "jax", "jnp": "jax"}
"""Name of a module in the source of a function -> the framework, for imports inside the function."""


def detected(function: Function, trial: Callable[[], Any] | None = None) -> str:
    """Return the framework of a function: "numpy", "torch" or "jax".

    Annotations of its parameters decide first, then the modules that its own code uses. If these leave a choice, as for a
    function that only calls helpers in a file that imports NumPy and PyTorch, the function is called.

    Args:
      function: the function.
      trial: calls the function with NumPy arrays and returns its result; None to go without a call.

    Raises:
      ValueError: if the choice remains.

    >>> detected(lambda log_probs: np.exp(log_probs))
    'numpy'
    """
    inner = _plain_function(function)
    annotated = _frameworks(getattr(inner, "__annotations__", {}).values())
    if len(annotated) == 1:
        return annotated.pop()
    names, module = _names_used(inner), getattr(inner, "__globals__", {})
    used = _frameworks(module[name] for name in names if name in module)
    used |= {ABBREVIATIONS[name] for name in names if name in ABBREVIATIONS}
    if len(used - {"numpy"}) == 1 and "numpy" not in used:
        return used.pop()
    possible = used | _frameworks(module.values())
    if not possible - {"numpy"}:
        return "numpy"
    if len(possible) == 1:
        return possible.pop()
    return _by_result(trial, possible - {"numpy"})


def _by_result(trial: Callable[[], Any] | None, others: set[str]) -> str:
    """Return the framework of a function's result on NumPy arrays; PyTorch's functions refuse these arrays."""
    if trial is not None:
        with contextlib.suppress(Exception), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return _framework(type(first_of(trial()))) or "numpy"
    if len(others) > 1:
        raise ValueError(
            f"framework: the function may use {' or '.join(sorted(others))}; name one with framework=..."
        )
    return min(others)


def _plain_function(function: Function) -> Any:
    """Return the Python function below partial(), decorators, methods, modules of PyTorch and callable objects."""
    while isinstance(function, functools.partial):
        function = function.func
    if not inspect.isroutine(function) and hasattr(function, "forward"):
        function = function.forward  # a module of PyTorch
    inner = inspect.unwrap(function)
    if not inspect.isroutine(inner) and not inspect.isclass(inner):
        inner = type(inner).__call__
    return getattr(inner, "__func__", inner)


def _names_used(function: Any) -> set[str]:
    """Return the global names in the code of a function, and in the functions inside it."""
    code = getattr(function, "__code__", None)
    pending, used = [code] if code else [], set()
    while pending:
        each = pending.pop()
        used |= {*each.co_names}
        pending += [constant for constant in each.co_consts if inspect.iscode(constant)]
    return used


def _frameworks(values: Iterable[Any]) -> set[str]:
    return {_framework(value) for value in values} - {""}


def _framework(value: Any) -> str:
    """Return the framework of a module, class, function or written annotation, or "" if it belongs to none."""
    if isinstance(value, str):
        return {**ROOTS, **ABBREVIATIONS, "np": "numpy"}.get(value.split(".")[0], "")
    if isinstance(value, np.ufunc):
        return "numpy"  # np.exp has no __module__
    place = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return ROOTS.get(place.split(".")[0], "") if isinstance(place, str) else ""
