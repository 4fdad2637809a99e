"""Call a NumPy, PyTorch or JAX function on a vector: its loss and gradient, or its array."""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from grpo_conformance.arguments import Parameters, call, in_form, keywords
from grpo_conformance.vector import Floats, Vector

Function = Callable[..., Any]
FRAMEWORKS = ("numpy", "torch", "jax")
DTYPES = ("float64", "float32")
DOUBLE = float(np.finfo(np.float64).eps)
STEP = 1e-5
"""Step of the central differences, in nats."""


class ReturnError(TypeError):
    """Raised if a function returns something that is neither a loss nor an array."""


class ShapeError(TypeError):
    """Raised if a function returns an array of another shape than the expected one."""


class Result(NamedTuple):
    """The result of a function on a vector.

    Attributes:
      loss: the loss; NaN if the function returns an array.
      gradient: gradient with respect to the first input, NaN where it is unknown; None if it was not computed.
      value: the array, if the function returns one.
      numerical: true if the gradient was computed by central differences.
      precision: machine epsilon of the result's precision, or of the inputs' if that is larger.
    """

    loss: float
    gradient: Floats | None = None
    value: Floats | None = None
    numerical: bool = False
    precision: float = DOUBLE


@dataclass(frozen=True)
class Call:
    """A function, and the vector on which to call it.

    Attributes:
      function: the function.
      parameters: its parameters.
      vector: the vector.
      dtype: precision of the arrays that the function gets, one of `DTYPES`.
      mask_dtype: data type of the mask; "" for that of the other arrays.
    """

    function: Function
    parameters: Parameters
    vector: Vector
    dtype: str = "float64"
    mask_dtype: str = ""

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs in the shapes that the function takes, the one that is differentiated first."""
        return in_form(self.parameters, self.vector.inputs)

    def arrays(self, make: Callable[[Any, str], Any]) -> dict[str, Any]:
        """Return the inputs, with each array made by `make(array, data type)`; numbers stay as they are."""
        return {
            name: make(value, self._dtype_of(name)) if np.ndim(value) else value
            for name, value in self.inputs.items()
        }

    def _dtype_of(self, name: str) -> str:
        if name == "index":
            return "int64"
        return self.mask_dtype if name == "mask" and self.mask_dtype else self.dtype

    def run(self, arrays: Mapping[str, Any]) -> Any:
        """Call the function on arrays, and return what it returns."""
        return call(self.function, self.parameters, self.given(arrays))

    def given(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keyword arguments of the function, by the names of its own parameters."""
        return keywords(self.parameters, arrays, self.vector.settings)

    def on_numpy(self) -> Any:
        """Call the function on NumPy arrays, and return what it returns."""
        return self.run(self.arrays(np.array))

    @property
    def wants_loss(self) -> bool:
        """True if the vector has a loss, false if it has an array."""
        return "loss" in self.vector.expected

    @property
    def wants_gradient(self) -> bool:
        """True if the vector has a gradient."""
        return "gradient" in self.vector.expected


def result_of(asked: Call, framework: str) -> Result:
    """Call a function that is written with one of `FRAMEWORKS`, and differentiate it.

    Raises:
      ReturnError: if the function returns something that is neither a loss nor an array.
      ShapeError: if it returns an array of another shape than the expected one.
      ImportError: if the framework is not installed.
    """
    with np.errstate(all="ignore"):
        return {"numpy": _numpy, "torch": _torch, "jax": _jax}[framework](asked)


# ---- NumPy -----------------------------------------------------------------------------------------


def _numpy(asked: Call) -> Result:
    arrays = asked.arrays(np.array)
    first = next(iter(arrays))
    at = asked.inputs[first]

    def moved_to(point: Floats) -> Any:
        """Return the result with the first input at another point. Every call gets arrays of its own."""
        return asked.run({**asked.arrays(np.array), first: point.astype(asked.dtype)})

    returned = asked.run(arrays)
    # Central differences need double precision, and see through a factor that the loss holds constant.
    differentiable = asked.wants_gradient and not asked.vector.detached
    if not asked.wants_loss:
        result = _value(np.asarray(array_in(returned)), asked)
        if not differentiable or result.precision > DOUBLE:
            return result
        mask = asked.vector.inputs["mask"] > 0
        slope = central_differences(
            lambda point: float(np.asarray(array_in(moved_to(point)))[mask].sum()), at, mask
        )
        return result._replace(gradient=slope, numerical=True)
    loss = loss_in(returned, asked.vector)
    precision = _precision(np.asarray(loss).dtype, asked.dtype)
    # A second value of one axis or more is the gradient; metrics are a dict or numbers.
    second = returned[1] if isinstance(returned, tuple) and len(returned) == 2 else None
    if isinstance(second, np.ndarray) and second.ndim > 0:
        return Result(_number(loss), _gradient(second, at), precision=precision)
    if not differentiable or precision > DOUBLE:
        return Result(_number(loss), precision=precision)
    mask = asked.vector.inputs["mask"] > 0
    slope = central_differences(lambda point: _number(first_of(moved_to(point))), at, mask)
    return Result(_number(loss), slope, numerical=True, precision=precision)


def central_differences(loss: Callable[[Floats], float], at: Floats, counted: Any) -> Floats:
    """Return the gradient of a function where `counted` is true, and NaN elsewhere and at kinks."""
    gradient, middle = np.full(at.shape, np.nan), loss(at)
    for index in zip(*np.nonzero(counted), strict=True):
        slopes = []
        for step in (STEP, -STEP):
            moved = at.copy()
            moved[index] += step
            slopes.append((loss(moved) - middle) / step)
        smooth = abs(slopes[0] - slopes[1]) <= 1e-3 * max(map(abs, slopes)) + 1e-6
        gradient[index] = np.mean(slopes) if smooth else np.nan
    return gradient


# ---- PyTorch ---------------------------------------------------------------------------------------


def _torch(asked: Call) -> Result:
    import torch

    arrays = asked.arrays(lambda value, dtype: torch.tensor(value, dtype=getattr(torch, dtype)))
    leaf = next(iter(arrays.values()))
    if asked.wants_gradient:
        leaf.requires_grad_()
    returned = asked.run(arrays)
    if not asked.wants_loss:
        array = array_in(returned)
        result = _value(torch.as_tensor(array).detach().numpy(), asked)
        if not asked.wants_gradient or not getattr(array, "requires_grad", False):
            return result
        array[torch.tensor(asked.vector.inputs["mask"] > 0)].sum().backward()
        return result._replace(gradient=_torch_gradient(leaf))
    loss = loss_in(returned, asked.vector)
    if not isinstance(loss, torch.Tensor):  # .item() or numpy(): no gradient can reach it
        return Result(_number(loss), np.zeros(leaf.shape))
    if loss.dtype in (torch.float16, torch.bfloat16):
        raise TypeError(
            f"the loss is in {loss.dtype}, whose three digits say too little; compute it in float32"
        )
    if loss.requires_grad:
        loss.sum().backward()
    double = loss.dtype == torch.float64
    precision = _precision("float64" if double else "float32", asked.dtype)
    return Result(_number(loss.detach().double().numpy()), _torch_gradient(leaf), precision=precision)


def _torch_gradient(leaf: Any) -> Floats:
    if leaf.grad is None:
        return np.zeros(leaf.shape)
    return np.array(leaf.grad.double().numpy())


# ---- JAX -------------------------------------------------------------------------------------------


def _jax(asked: Call) -> Result:
    import jax

    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else contextlib.nullcontext():
        arrays = asked.arrays(lambda value, dtype: jax.numpy.asarray(value, dtype=dtype))
        first, leaf = next(iter(arrays.items()))

        def moved_to(point: Any) -> Any:
            return asked.run({**arrays, first: point})

        if asked.wants_loss:
            loss, gradient = jax.value_and_grad(
                lambda point: jax.numpy.reshape(loss_in(moved_to(point), asked.vector), ())
            )(leaf)
            precision = _precision(loss.dtype.name, asked.dtype)
            return Result(float(loss), np.array(gradient, dtype=np.float64), precision=precision)
        result = _value(np.asarray(array_in(moved_to(leaf))), asked)
        if not asked.wants_gradient:
            return result
        counted = asked.vector.inputs["mask"] > 0
        slope = jax.grad(lambda point: jax.numpy.where(counted, array_in(moved_to(point)), 0.0).sum())(leaf)
        return result._replace(gradient=np.array(slope, dtype=np.float64))


# ---- what a function returns -----------------------------------------------------------------------


def first_of(returned: Any) -> Any:
    """Return the first value of a tuple: the loss before its metrics, or verl's advantages before its returns."""
    return returned[0] if isinstance(returned, tuple) and returned else returned


def loss_in(returned: Any, vector: Vector) -> Any:
    """Return the loss that a function returned: a number, or an array or tensor of one element.

    Raises:
      ReturnError: if the result is something else. The message says what was returned and what was expected.
    """
    loss = first_of(returned)
    shape = _shape(loss)
    if shape is not None and np.prod(shape) == 1:
        return loss
    per_token = np.shape(next(iter(vector.inputs.values())))
    hints = {
        per_token: ", one number for each token; return their average over the mask",
        per_token[:1]: ", one number for each completion; return their average",
    }
    hint = hints.get(shape, "") if shape else ""
    raise ReturnError(
        "expected the loss as one number, (loss, metrics) or (loss, gradient);"
        f" your function returned {described(returned)}{hint}"
    )


def array_in(returned: Any) -> Any:
    """Return the array that a function returned.

    Raises:
      ReturnError: if the result is something else. The message says what was returned.
    """
    array = first_of(returned)
    if _shape(array) is None and not isinstance(array, list):
        raise ReturnError(f"expected an array; your function returned {described(returned)}")
    return array


def described(returned: Any) -> str:
    """Return a few words for the result of a function.

    >>> described({"loss": 0.5, "kl": 0.1})
    "a dict with the keys 'loss', 'kl'"
    >>> described((np.zeros((2, 3)), {}))
    'a tuple that begins with an array of shape (2, 3)'
    """
    if isinstance(returned, tuple) and returned:
        return f"a tuple that begins with {described(returned[0])}"
    if isinstance(returned, dict):
        keys = ", ".join(map(repr, returned))
        return f"a dict with the keys {keys}" if keys else "an empty dict"
    if returned is None:
        return "None"
    shape = _shape(returned)
    return f"a value of type {type(returned).__name__}" if shape is None else f"an array of shape {shape}"


def _shape(value: Any) -> tuple[int, ...] | None:
    """Return the shape of an array, a tensor or a number; None for anything else."""
    if isinstance(value, (bool, int, float)):
        return ()
    shape = getattr(value, "shape", None)
    return None if shape is None else tuple(shape)


def _number(loss: Any) -> float:
    return float(np.reshape(loss, ()))


def _value(array: Any, asked: Call) -> Result:
    return Result(
        float("nan"),
        value=fitted(np.array(array, dtype=np.float64), asked.vector),
        precision=_precision(array.dtype, asked.dtype),
    )


def fitted(value: Floats, vector: Vector) -> Floats:
    """Return the array of a function in a shape in which it can be compared with the expected one.

    One value per completion may be given as (N,), as (P, G) or, the same for all its tokens, as (N, T), and the reverse.
    An array that is differentiated has the expected shape.

    Raises:
      ShapeError: if the array has another shape. The message has both shapes.
    """
    wanted = np.shape(vector.expected["value"])
    if value.shape == wanted:
        return value
    if "gradient" not in vector.expected:
        if value.size == np.prod(wanted):
            return value.reshape(wanted)
        if len(wanted) == 1 and "mask" in vector.inputs and value.shape == vector.inputs["mask"].shape:
            return value
        if len(wanted) == 2 and value.shape in (wanted[:1], (wanted[0], 1)):
            return np.broadcast_to(value.reshape(-1, 1), wanted)
    each = {1: ": one value per completion", 2: ": one value per token"}.get(len(wanted), "")
    raise ShapeError(f"your function returned shape {value.shape}, expected {wanted}{each}")


def _gradient(gradient: Any, like: Floats) -> Floats:
    if gradient.shape != like.shape:
        raise TypeError(f"expected a gradient of shape {like.shape}, got {gradient.shape}")
    return np.array(gradient, dtype=np.float64)


def _precision(dtype: Any, given: str) -> float:
    """Return the machine epsilon of the less precise of two data types. Whole numbers count as exact."""
    own = float(np.finfo(dtype).eps) if np.dtype(dtype).kind == "f" else DOUBLE
    return max(own, float(np.finfo(given).eps))
