"""Shared fixtures: the array libraries and precisions that every kernel must serve."""

import importlib.util
import os
from contextlib import suppress

import numpy as np
import pytest
from devices import PLACES
from sampling import kept, measured

try:
    from hypothesis import settings
except ImportError:
    pass  # the tests in core.txt run without it
else:
    settings.register_profile("stable", derandomize=True, deadline=None, max_examples=60)
    settings.load_profile("stable")

# everyday_python.py is run by a benchmark of the pages, and warns on purpose
collect_ignore = ["everyday_python.py"]
if not importlib.util.find_spec("torch"):
    collect_ignore += ["torch_transformer.py", "torch_update.py"]


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="run a part of the slow tests: make test")
    parser.addoption("--share", type=int, metavar="NUMBER", help="run this part of them: make test-share")
    parser.addoption(
        "--times", metavar="FILE", help="write the CPU seconds and memory of each test: make test-times"
    )


def pytest_configure(config):
    """With `--times`, measure each test."""
    if config.getoption("--times", default=None):
        from times import Times  # it needs a module that Windows does not have

        config.pluginmanager.register(Times(config))


def pytest_collection_modifyitems(config, items):
    """With `--quick` or `--share`, keep a part of the slow tests."""
    share = config.getoption("--share", default=None)
    if share is not None or config.getoption("--quick", default=False):
        chosen = set(kept([item.nodeid for item in items], measured(), share))
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
        items[:] = [item for item in items if item.nodeid in chosen]


LIBRARIES = {"numpy": np}
try:
    import array_api_strict

    LIBRARIES["array-api-strict"] = array_api_strict
except ImportError:
    pass  # likewise
try:
    import cupy

    if cupy.cuda.runtime.getDeviceCount() > 0:
        LIBRARIES["cupy"] = cupy
except Exception:
    pass  # no CuPy, or no device: the other libraries are tested all the same
RTOL = {"float64": 1e-12, "float32": 1e-5}


class Maker:
    """Makes arrays of one library and precision, and compares what a kernel gives back."""

    def __init__(self, library, dtype):
        self.xp, self.dtype, self.rtol = LIBRARIES[library], dtype, RTOL[dtype]

    def __call__(self, values):
        """Numbers in this precision; truth values, and NumPy arrays of integers, keep their type."""
        array = np.asarray(values)
        keep = array.dtype.kind == "b" or (isinstance(values, np.ndarray) and array.dtype.kind == "i")
        return self.xp.asarray(array if keep else array.astype(self.dtype))

    def check(self, got, expected):
        """The values and the shape agree; the library and the precision are those of the inputs."""
        assert isinstance(got, np.ndarray | np.generic) == (self.xp is np)
        got = self.to_numpy(got)
        assert got.shape == np.shape(expected)
        np.testing.assert_allclose(got, expected, rtol=self.rtol, atol=self.rtol)
        assert got.dtype.kind != "f" or got.dtype == self.dtype

    @staticmethod
    def to_numpy(array):
        """Whatever the library, as a NumPy array."""
        return array.get() if hasattr(array, "get") else np.asarray(array)


@pytest.fixture(params=[f"{library}, {dtype}" for library in LIBRARIES for dtype in RTOL])
def asarray(request):
    """A `Maker`, once for each library and precision."""
    return Maker(*request.param.split(", "))


@pytest.fixture(params=PLACES)
def place(request, monkeypatch):
    """A device: its library, how closely it must agree, and the numbers of transfers so far, up and down."""
    return PLACES[request.param](monkeypatch)


@pytest.fixture(scope="session")
def compiled_sandbox(tmp_path_factory):
    """Compile the sandbox of WebAssembly once for all test processes. This takes minutes on a new machine.

    Otherwise each student's process compiles it within that student's time, and is stopped before the end.
    """
    from grpo_ref.course.classroom.parallel_grading import prepare

    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    with (shared / "compiling").open("w") as lock:
        with suppress(ImportError):  # Windows has no such lock; there two processes may compile at a time
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)  # until the file is closed
        prepare()


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch):
    """Commands write as into a pipe: the processes of a parallel run are told the width of a terminal."""
    monkeypatch.delenv("COLUMNS", raising=False)
