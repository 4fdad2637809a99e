"""A GPU for machines without one: arrays that behave as if they lived elsewhere.

They stand in for CuPy's arrays and are stricter: whatever would move numbers between host and GPU unasked, or
make the host wait, is an error here. What is moved by `to_device` and `to_host` is counted. The functions are
NumPy's, so results must equal NumPy's; of the kernels' source text the C++ compiler of the machine makes
functions for the host.
"""

import ctypes
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

KNOWN_TO_CUPY = frozenset(
    """
    abs all any arange argmax argsort astype broadcast_to clip concat cos count_nonzero cumulative_sum
    divide empty empty_like exp expm1 flip floor full full_like isdtype isfinite isnan log matrix_transpose
    matmul max maximum mean min minimum moveaxis ones ones_like repeat reshape searchsorted sign sin sort sqrt
    stack std sum take_along_axis tanh vecdot where zeros zeros_like
    """.split()
)
"""Functions that CuPy 14.2 has too, or array-api-compat for it, with the arguments that are used here.

A name that is missing here is to be looked up there before it is added.
"""
METHODS = frozenset("all any astype copy cumsum max mean min reshape sum take transpose".split())
CONSTANTS = frozenset("bool float32 float64 inf int64 nan".split())
BINARY = "add sub mul truediv floordiv mod pow and or xor lshift rshift".split()
ONE_WAY = "matmul rmatmul lt le eq ne gt ge neg invert abs".split()
FORBIDDEN = "array array_function bool float int index complex contains iter".split()
TYPES = {
    "int32": ("int", ctypes.c_int),
    "int64": ("long long", ctypes.c_longlong),
    "float32": ("float", ctypes.c_float),
    "float64": ("double", ctypes.c_double),
}


class DeviceArray:
    """An array on the device; 0-d ones stay there too."""

    __array_ufunc__ = None
    __hash__ = None

    def __init__(self, held, device):
        self._held, self._device = held, device

    shape, dtype, ndim, size, nbytes, flags = (
        property(lambda self, name=name: getattr(self._held, name))
        for name in ("shape", "dtype", "ndim", "size", "nbytes", "flags")
    )

    def __array_namespace__(self, api_version=None):
        return self._device

    def __getattr__(self, name):
        if name not in METHODS:
            raise AttributeError(f"array.{name}: look up whether CuPy has it, then add it to METHODS")
        return self._device.here(getattr(self._held, name))

    def __getitem__(self, index):
        return self._device.here(self._held.__getitem__)(self._index(index))

    def __setitem__(self, index, value):
        self._device.here(self._held.__setitem__)(self._index(index), value)

    def __len__(self):
        return len(self._held)

    def __repr__(self):
        return f"DeviceArray{self._held.shape}"

    def _index(self, index):
        for part in index if isinstance(index, tuple) else (index,):
            if isinstance(part, list) or (isinstance(part, DeviceArray) and part.dtype == bool):
                raise TypeError("indexing by a list or by truth values: CuPy would ask the host")
        return index

    def to_device(self, device, stream=None):
        """Array API: to the host and nowhere else."""
        assert device == "cpu"
        self._device.down += 1
        return self._held.copy()


def _operator(name):
    return lambda self, *other: self._device.here(getattr(self._held, name))(*other)


def _in_place(name):
    def method(self, other):
        self._device.here(getattr(self._held, name))(other)
        return self

    return method


def _forbidden(name):
    def method(self, *arguments, **settings):
        raise TypeError(f"{name}: an array of the device is wanted on the host")

    return method


for _name in BINARY:
    setattr(DeviceArray, f"__{_name}__", _operator(f"__{_name}__"))
    setattr(DeviceArray, f"__r{_name}__", _operator(f"__r{_name}__"))
    setattr(DeviceArray, f"__i{_name}__", _in_place(f"__i{_name}__"))
for _name in ONE_WAY:
    setattr(DeviceArray, f"__{_name}__", _operator(f"__{_name}__"))
for _name in FORBIDDEN:
    setattr(DeviceArray, f"__{_name}__", _forbidden(f"__{_name}__"))


class Device:
    """The device's library: NumPy's functions, for the device's arrays only.

    Attributes:
      up, down: how many arrays were moved to the device and to the host so far.
    """

    __name__ = "device double"

    def __init__(self):
        self.up = self.down = 0
        self.add = SimpleNamespace(at=self.here(np.add.at))

    def __getattr__(self, name):
        if name in CONSTANTS:
            return getattr(np, name)
        if name not in KNOWN_TO_CUPY:
            raise AttributeError(f"{name}: look up whether CuPy has it, then add it to KNOWN_TO_CUPY")
        return self.here(getattr(np, name))

    def asarray(self, array):
        """From the host."""
        if isinstance(array, DeviceArray):
            return array
        self.up += 1
        return DeviceArray(np.array(array), self)

    def here(self, function):
        """The function of NumPy's arrays as one of the device's, which does not warn."""

        def on_device(*arguments, **settings):
            given = [self._unwrapped(argument) for argument in arguments]
            named = {name: self._unwrapped(value) for name, value in settings.items()}
            with np.errstate(all="ignore"):
                result = function(*given, **named)
            is_array = isinstance(result, np.ndarray | np.generic)
            return DeviceArray(np.asarray(result), self) if is_array else result

        return on_device

    def _unwrapped(self, value):
        if isinstance(value, np.ndarray):
            raise TypeError(f"a NumPy array of shape {value.shape} among arrays of the device")
        if isinstance(value, list | tuple):
            return type(value)(self._unwrapped(part) for part in value)
        return value._held if isinstance(value, DeviceArray) else value

    def ElementwiseKernel(self, inputs, outputs, operation, name):
        """As `cupy.ElementwiseKernel`, for arrays that are all raw."""
        parameters = tuple(f"{inputs}, {outputs}".split(", "))

        def call(*arguments, size):
            precision = str(arguments[0].dtype)
            given = zip(arguments, parameters, strict=True)
            passed = [self._passed(argument, parameter, precision) for argument, parameter in given]
            _compiled(parameters, operation, precision)(ctypes.c_longlong(size), *passed)

        return call

    def _passed(self, argument, parameter, precision):
        """A pointer for a raw array, else the number."""
        *raw, kind, _ = parameter.split()
        kind = precision if kind == "T" else kind
        if not raw:
            return TYPES[kind][1](argument)
        held = self._unwrapped(argument)
        assert held.dtype == kind, f"{parameter}: got {held.dtype}"
        assert held.flags.c_contiguous, parameter
        return ctypes.c_void_p(held.ctypes.data)


@cache
def _compiled(parameters, operation, precision):
    """The kernel as a function that runs its threads one by one."""
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler to try the kernels' source text with")
    source = f"""
        #include <cmath>
        #include <cstddef>
        using std::exp;
        using std::log;
        using std::ptrdiff_t;
        typedef {TYPES[precision][0]} T;
        typedef int int32;
        typedef long long int64;
        typedef double float64;
        extern "C" void run(long long size, {", ".join(map(_declared, parameters))}) {{
            for (ptrdiff_t i = 0; i < size; ++i) {{ {operation} }}
        }}"""
    library = Path(tempfile.mkdtemp()) / "kernel.so"
    command = [compiler, "-O1", "-shared", "-fPIC", "-x", "c++", "-", "-o", str(library)]
    subprocess.run(command, input=source, text=True, check=True)
    return ctypes.CDLL(str(library)).run


def _declared(parameter):
    *raw, kind, name = parameter.split()
    return f"{kind}{'*' * len(raw)} {name}"
