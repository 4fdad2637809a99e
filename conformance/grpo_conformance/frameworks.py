"""Call a NumPy, PyTorch or JAX function and return its loss and gradient, or its array."""

import contextlib
import functools
import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
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


class Answer(NamedTuple):
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


def detected(function: Function) -> str:
    """Return the framework of a function: of the annotations of its parameters, or of the modules that it uses.

    Raises:
      ValueError: if it uses PyTorch and JAX.

    >>> detected(lambda log_probs: np.exp(log_probs))
    'numpy'
    """
    inner = _plain_function(function)
    annotated = {_framework(annotation) for annotation in getattr(inner, "__annotations__", {}).values()} - {
        ""
    }
    if len(annotated) == 1:
        return annotated.pop()
    names, module = _names_used(inner), getattr(inner, "__globals__", {})
    used = {_framework(module[name]) for name in names if name in module}
    used |= {_framework(name) for name in names}  # an import inside the function
    frameworks = used - {""} or {_framework(value) for value in module.values()} - {""}
    if len(frameworks) > 1:
        raise ValueError(
            f"framework: the function uses {' and '.join(sorted(frameworks))}; name one with framework=..."
        )
    return frameworks.pop() if frameworks else "numpy"


def _plain_function(function: Function) -> Any:
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


def _framework(value: Any) -> str:
    """Return "torch" or "jax" if a module, class, function or text belongs to it, else ""."""
    if isinstance(value, str):
        root = value.split(".")[0]
        return {"torch": "torch", "jax": "jax", "jnp": "jax"}.get(root, "")
    place = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "") or ""
    root = place.split(".")[0] if isinstance(place, str) else ""
    return {"torch": "torch", "jax": "jax", "jaxlib": "jax"}.get(root, "")


class Question(NamedTuple):
    """A call of a function on a vector.

    Attributes:
      function, parameters: the function, and its parameters.
      inputs: the arrays, in the shapes that the function takes.
      vector: the vector, with the expected numbers.
      dtypes: data types of the arrays and of the mask; "" for a mask like the arrays.
      wanted: "loss" or "value".
    """

    function: Function
    parameters: Parameters
    inputs: Mapping[str, Any]
    vector: Vector
    dtypes: tuple[str, str]
    wanted: str


def ask(
    function: Function,
    parameters: Parameters,
    vector: Vector,
    *,
    framework: str = "numpy",
    dtype: str = "float64",
    mask_dtype: str = "",
) -> Answer:
    """Call a function on a vector.

    Args:
      function: the function.
      parameters: its parameters.
      vector: the vector.
      framework: one of `FRAMEWORKS`.
      dtype: precision of the arrays that the function gets, one of `DTYPES`.
      mask_dtype: data type of the mask; default that of the other arrays.

    Raises:
      TypeError: if the function returns neither a number nor an array.
      ImportError: if the framework is not installed.
    """
    wanted = "loss" if "loss" in vector.expected else "value"
    inputs = in_form(parameters, vector.inputs)
    question = Question(function, parameters, inputs, vector, (dtype, mask_dtype), wanted)
    with np.errstate(all="ignore"):
        return {"torch": _torch, "jax": _jax, "numpy": _numpy}[framework](question)


def _kind(name: str, value: Any, dtypes: tuple[str, str]) -> str:
    """Return the data type in which a function gets an array."""
    if name == "index":
        return "int64"
    return dtypes[1] if name == "mask" and dtypes[1] else dtypes[0]


def _converted(inputs: Mapping[str, Any], make: Callable[[str, Any], Any]) -> dict[str, Any]:
    return {name: make(name, value) if np.ndim(value) else value for name, value in inputs.items()}


def _numpy(asked: Question) -> Answer:
    function, parameters, inputs, vector, dtypes, wanted = asked
    first = next(iter(inputs))

    def computed(moved: Any = None) -> Any:
        given = _converted(inputs, lambda name, value: np.array(value, dtype=_kind(name, value, dtypes)))
        if moved is not None:
            given[first] = np.array(moved, dtype=dtypes[0])
        return call(function, parameters, keywords(parameters, given, vector.settings))

    result = computed()
    if wanted == "value":
        answer = _array(result, np.asarray, dtypes[0])
        if "gradient" not in vector.expected or vector.detached or answer.precision > DOUBLE:
            return answer
        counted = vector.inputs["mask"] > 0
        summed = central_differences(
            lambda moved: float(np.asarray(first_of(computed(moved)))[counted].sum()), inputs[first], vector
        )
        return answer._replace(gradient=summed, numerical=True)
    loss = _number(first_of(result))
    precision = _precision(np.asarray(first_of(result)).dtype, dtypes[0])
    # A second value of one axis or more is the gradient; metrics are a dict or numbers.
    second = result[1] if isinstance(result, tuple) and len(result) == 2 else None
    if isinstance(second, np.ndarray) and second.ndim > 0:
        return Answer(loss, _shaped(second, inputs[first]), precision=precision)
    if vector.detached or precision > DOUBLE:
        return Answer(loss, precision=precision)
    differences = central_differences(lambda moved: _number(first_of(computed(moved))), inputs[first], vector)
    return Answer(loss, differences, numerical=True, precision=precision)


def _torch(asked: Question) -> Answer:
    function, parameters, inputs, vector, dtypes, wanted = asked
    import torch

    given = _converted(
        inputs, lambda name, value: torch.tensor(value, dtype=getattr(torch, _kind(name, value, dtypes)))
    )
    leaf = given[next(iter(inputs))]
    if "gradient" in vector.expected:
        leaf.requires_grad_()
    result = call(function, parameters, keywords(parameters, given, vector.settings))
    if wanted == "value":
        answer = _array(result, lambda array: torch.as_tensor(array).detach().double().numpy(), dtypes[0])
        array = first_of(result)
        if "gradient" not in vector.expected or not getattr(array, "requires_grad", False):
            return answer
        array[torch.tensor(vector.inputs["mask"] > 0)].sum().backward()
        return answer._replace(
            gradient=np.zeros(leaf.shape) if leaf.grad is None else leaf.grad.double().numpy()
        )
    loss = first_of(result)
    if not isinstance(loss, torch.Tensor):
        return Answer(_number(loss), np.zeros(leaf.shape))
    number = _number(loss.detach().double().numpy())
    if loss.requires_grad:
        loss.sum().backward()
    gradient = np.zeros(leaf.shape) if leaf.grad is None else leaf.grad.double().numpy().copy()
    precision = _precision(
        np.dtype("float64") if loss.dtype == torch.float64 else np.dtype("float32"), dtypes[0]
    )
    if loss.dtype in (torch.float16, torch.bfloat16):
        raise TypeError(
            f"the loss is in {loss.dtype}, whose three digits say too little; compute it in float32"
        )
    return Answer(number, gradient, precision=precision)


def _jax(asked: Question) -> Answer:
    function, parameters, inputs, vector, dtypes, wanted = asked
    import jax

    first = next(iter(inputs))
    enabled = jax.enable_x64(True) if hasattr(jax, "enable_x64") else contextlib.nullcontext()
    with enabled:
        given = _converted(
            inputs, lambda name, value: jax.numpy.asarray(value, dtype=_kind(name, value, dtypes))
        )

        def computed(leaf: Any) -> Any:
            return call(function, parameters, keywords(parameters, {**given, first: leaf}, vector.settings))

        if wanted == "value":
            answer = _array(computed(given[first]), np.asarray, dtypes[0])
            if "gradient" not in vector.expected:
                return answer
            counted = vector.inputs["mask"] > 0
            slope = jax.grad(lambda leaf: jax.numpy.where(counted, first_of(computed(leaf)), 0.0).sum())(
                given[first]
            )
            return answer._replace(gradient=np.array(slope, dtype=np.float64))
        loss, gradient = jax.value_and_grad(lambda leaf: first_of(computed(leaf)))(given[first])
        precision = _precision(np.dtype(loss.dtype.name), dtypes[0])
        return Answer(float(loss), np.array(gradient, dtype=np.float64), precision=precision)


def central_differences(loss: Callable[[Floats], float], at: Floats, vector: Vector) -> Floats:
    """Return the gradient of a function of the first input: NaN at kinks, 0 on padding if the loss ignores it."""
    gradient, middle = np.full(at.shape, np.nan), loss(at)
    counted = vector.inputs["mask"] > 0 if "mask" in vector.inputs else np.ones(at.shape, dtype=bool)
    for index in zip(*np.nonzero(counted), strict=True):
        sides = []
        for step in (STEP, -STEP):
            moved = at.copy()
            moved[index] += step
            sides.append((loss(moved) - middle) / step)
        smooth = abs(sides[0] - sides[1]) <= 1e-3 * max(map(abs, sides)) + 1e-6
        gradient[index] = np.mean(sides) if smooth else np.nan
    return gradient


def first_of(result: Any) -> Any:
    """Return the first value if a function returns several: the loss, or verl's advantages before its returns."""
    return result[0] if isinstance(result, tuple) and result else result


def _array(result: Any, make: Callable[[Any], Any], dtype: str) -> Answer:
    """Return a function's array; the first one of a tuple, as verl returns advantages and returns."""
    array = np.asarray(make(first_of(result)))
    precision = _precision(array.dtype, dtype)
    return Answer(float("nan"), value=np.array(array, dtype=np.float64), precision=precision)


def _shaped(gradient: Any, like: Floats) -> Floats:
    if gradient.shape != like.shape:
        raise TypeError(f"expected a gradient of shape {like.shape}, got {gradient.shape}")
    return np.array(gradient, dtype=np.float64)


def _number(value: Any) -> float:
    """Return the loss as a number.

    Raises:
      TypeError: if the value is not one number.
    """
    if value is None or np.size(value) != 1:
        what = "None" if value is None else f"an array of shape {np.shape(value)}"
        raise TypeError(f"expected the loss as one number, got {what}")
    return float(np.reshape(value, ()))


def _precision(dtype: Any, given: str) -> float:
    own = float(np.finfo(dtype).eps) if np.dtype(dtype).kind == "f" else DOUBLE
    return max(own, float(np.finfo(given).eps))
