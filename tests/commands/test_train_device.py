"""`grpo-ref train --device`: a missing GPU is explained, and runs are continued on either device."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from grpo_ref.arrays import device_namespace
from grpo_ref.cli import main
from grpo_ref.commands import training_run as training

QUICK = ["train", "bandit", "--updates", "5", "--seeds", "2", "--out", "run"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, arguments)


def fake_cupy(count):
    """A CuPy that has been installed without a GPU: asking for the number of devices fails, or gives 0."""

    class CUDARuntimeError(RuntimeError):
        pass

    def devices():
        if count is None:
            raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
        return count

    cupy = ModuleType("cupy")
    runtime = SimpleNamespace(CUDARuntimeError=CUDARuntimeError, getDeviceCount=devices)
    cupy.cuda = SimpleNamespace(runtime=runtime)
    return cupy


MISSING = {
    "no CuPy": (None, "pip install 'grpo-ref[cuda]'"),
    "no driver": (fake_cupy(None), "CuPy finds no GPU to work on (cudaErrorNoDevice"),
    "no GPU": (fake_cupy(0), "CuPy finds no GPU to work on"),
}


@pytest.mark.parametrize(("cupy", "message"), MISSING.values(), ids=MISSING)
def test_a_missing_gpu_is_explained_and_writes_nothing(cupy, message, run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    result = run(*QUICK, "--device", "gpu")
    assert result.exit_code == 1
    assert result.output.startswith("Error: device gpu: ")
    assert message in " ".join(result.output.split())
    assert not list(tmp_path.iterdir())


def test_an_unknown_device_is_named():
    with pytest.raises(ValueError, match="device: expected cpu or gpu, got 'tpu'"):
        device_namespace("tpu")


def test_train_on_a_device_and_resume_on_either(run, monkeypatch, place):
    """Runs are saved on the host: the files of both devices say the same, and each continues the other's."""
    libraries = {"cpu": np, "gpu": place.xp}
    monkeypatch.setattr(training, "device_namespace", libraries.get)
    assert run(*QUICK).exit_code == 0
    expected = np.load("run/checkpoint.npz")["params"]
    assert "device" not in json.loads(Path("run/config.json").read_text())
    for first, second in (("gpu", "cpu"), ("cpu", "gpu"), ("gpu", "gpu")):
        folder = f"{first}-{second}"
        command = [*QUICK[:-1], folder]
        trained = run(*command, "--device", first)
        assert trained.exit_code == 0, trained.output
        assert json.loads(Path(folder, "config.json").read_text()).get("device", "cpu") == first
        np.testing.assert_allclose(np.load(f"{folder}/checkpoint.npz")["params"], expected, rtol=place.rtol)
        before = Path(folder, "checkpoint.npz").read_bytes()
        assert run(*command, "--device", second, "--resume").exit_code == 0
        assert Path(folder, "checkpoint.npz").read_bytes() == before
    result = run(*QUICK, "--device", "gpu", "--resume", "--learning-rate", "0.5")
    assert "holds another run: learning_rate is 0.1 there" in result.output
