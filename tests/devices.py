"""Where the tests of devices run: on a strict double of a GPU, and on CuPy where it finds a GPU."""

from types import SimpleNamespace

import numpy as np
from device_double import Device

from grpo_ref import arrays
from grpo_ref.arrays import DeviceError, device_namespace, to_host

DOUBLE_RTOL, GPU_RTOL = 1e-12, 1e-9
try:
    GPU, NO_GPU = device_namespace("gpu"), ""
except DeviceError as error:
    GPU, NO_GPU = None, str(error)


def double(monkeypatch):
    """The double: its library, how closely it must agree, and its transfers so far, up and down."""
    xp = Device()
    return SimpleNamespace(xp=xp, rtol=DOUBLE_RTOL, crossings=lambda: (xp.up, xp.down))


def gpu(monkeypatch):
    """The same of CuPy, whose transfers are counted by the way."""
    xp, counts = GPU, [0, 0]

    def counting(index, function):
        def counted(array):
            counts[index] += isinstance(array, np.ndarray) == (index == 0)
            return function(array)

        return counted

    monkeypatch.setitem(vars(xp), "asarray", counting(0, xp.asarray))
    monkeypatch.setattr(arrays, "_fetched", counting(1, arrays._fetched))
    return SimpleNamespace(xp=xp, rtol=GPU_RTOL, crossings=lambda: tuple(counts))


PLACES = {"double": double} if GPU is None else {"double": double, "gpu": gpu}


def assert_close(ours, theirs, rtol):
    """An array of the device and one of NumPy."""
    ours = to_host(ours)
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol)
