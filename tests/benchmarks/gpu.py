"""On a GPU, through CuPy: loss and gradient from logits, and training, each beside the same in NumPy.

From logits the yardstick is what the GPU's memory allows: a copy of the logits reads and writes them once,
ours reads them twice and writes a gradient. PyTorch, eager and compiled, runs beside it on the same GPU if it
is installed. All sides are compared with NumPy before anything is timed. Without a GPU the script says so and
runs nothing.
"""

import argparse
import importlib.metadata
import importlib.util
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measure import heading, interleaved, last_of, machine, spread
from peers import RECIPE, objective

from grpo_ref import GRPO, TASKS, config_for, iter_train, policy_loss_from_logits, token_log_probs
from grpo_ref.arrays import DeviceError, device_namespace, to_device, to_host

V = 32000
CASES = {"float32": (2048, 16384), "float64": (2048, 8192)}
"""Rows of logits in each precision; with few, the many small kernels between the two large ones show."""
HELD = 8
"""So many arrays of the size of the logits must fit into the GPU's memory, all sides together."""
TOKENS = 128
TARGET = 0.7
WARM = {"in a loop": 3, "after a pause": 0}
"""Untimed runs of an action before the timed one. A pause of 20 ms slows down the processor and the GPU."""
OURS, LOOP, COPY = "ours, out given", "ours, compiled=True", "copy of the logits"
EAGER, COMPILED = "PyTorch eager", "torch.compile"
SEEDS, UPDATES = (1, 16, 100, 1000), 10
TORCH_DEVICE = "cuda"


def main() -> None:
    """Check, time and print; write the figures if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", choices=("logits", "training"), help="leave out the other half")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    arguments = parser.parse_args()
    report: dict[str, Any] = {"machine": machine()}
    heading("loss and gradient from logits, and training, on a GPU")
    try:
        xp = device_namespace("gpu")
    except DeviceError as error:
        print(f"not run: {error}")
        report["not run"] = str(error)
    else:
        report |= {"gpu": describe(), "logits": {}, "training": {}}
        print("  " + ", ".join(f"{name} {value}" for name, value in report["gpu"].items()))
        for dtype, sizes in ({} if arguments.only == "training" else CASES).items():
            for rows in sizes:
                if HELD * rows * V * np.dtype(dtype).itemsize > 1e9 * report["gpu"]["GB"]:
                    print(f"\n  {rows} rows, {dtype}: left out, the GPU's memory is too small")
                    continue
                report["logits"][f"{rows} rows, {dtype}"] = from_logits(xp, rows, dtype, arguments.rounds)
        if arguments.only != "logits":
            check_training(xp)
        for seeds in () if arguments.only == "logits" else SEEDS:
            report["training"][seeds] = training(xp, seeds, arguments.rounds)
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")


def describe() -> dict[str, Any]:
    """The GPU, and the versions that matter."""
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    return {
        "GPU": properties["name"].decode(),
        "GB": round(properties["totalGlobalMem"] / 1e9),
        "CUDA": cupy.cuda.runtime.runtimeGetVersion(),
        "driver": cupy.cuda.runtime.driverGetVersion(),
        "cupy": cupy.__version__,
        "torch": importlib.metadata.version("torch") if has_torch() else "not installed, or without CUDA",
    }


def has_numba() -> bool:
    """Return True if the loop per token can be compiled."""
    return importlib.util.find_spec("numba") is not None


def has_torch() -> bool:
    """Return True if PyTorch can use a GPU."""
    if not importlib.util.find_spec("torch"):
        return False
    import torch

    return torch.cuda.is_available()


def finished(action: Callable[[], Any]) -> Callable[[], None]:
    """The action, and waiting until the GPU is done with it."""
    import cupy

    def run() -> None:
        action()
        cupy.cuda.Device().synchronize()

    return run


# ---- from logits -----------------------------------------------------------------------------------


def inputs(rows: int, vocabulary: int, dtype: str) -> dict[str, np.ndarray]:
    """Arguments of `policy_loss_from_logits`, on the host."""
    rng = np.random.default_rng(0)
    shape = (rows // TOKENS, TOKENS)
    logits = rng.standard_normal((*shape, vocabulary), np.float32).astype(dtype, copy=False)
    tokens = rng.integers(0, vocabulary, shape)
    at = token_log_probs(logits, tokens)
    old, ref = (at + 0.1 * rng.normal(size=shape) for _ in range(2))
    given = {"logits": logits, "tokens": tokens, "advantages": rng.normal(size=shape[0])}
    return given | {"mask": np.ones(shape), "old_log_probs": old, "ref_log_probs": ref}


def from_logits(xp: Any, rows: int, dtype: str, rounds: int) -> dict[str, Any]:
    """One size: check, time, and set in relation to a copy."""
    given = inputs(rows, V, dtype)
    expected = policy_loss_from_logits(**given, recipe=RECIPE)
    there = to_device(given, xp)
    out = xp.zeros(there["logits"].shape, dtype=there["logits"].dtype)

    def copy() -> None:
        out[...] = there["logits"]

    ours = partial(policy_loss_from_logits, **there, recipe=RECIPE, out=out, metrics=())
    sides = {OURS: ours, LOOP: partial(ours, compiled=True)} if has_numba() else {OURS: ours}
    for side, run in sides.items():
        result = run()
        agree(side, result.loss, to_host(result.gradient), expected)
    actions = {side: finished(run) for side, run in sides.items()} | {COPY: finished(copy)}
    if has_torch():
        for side in (EAGER, COMPILED):
            run = torch_on_gpu(given, compiled=side == COMPILED)
            loss, gradient = run()
            agree(side, float(loss), gradient.cpu().numpy(), expected)
            actions[side] = finished(run)
    for action in actions.values():
        action()
    report: dict[str, Any] = {}
    for name, warm in WARM.items():
        seconds = interleaved(actions, rounds, warm)
        print(f"\n  {rows} rows, V = {V}, {dtype}, {name}: milliseconds")
        for side, values in seconds.items():
            ratios = [value / mine for value, mine in zip(values, seconds[OURS], strict=True)]
            print(f"    {side:24} {spread([1e3 * value for value in values])}   {spread(ratios, 2)} x ours")
        bandwidth = [2e-9 * given["logits"].nbytes / value for value in seconds[COPY]]
        print(f"    copy bandwidth, read and write: {spread(bandwidth, 0)} GB/s")
        shares = {}
        for side in sides:
            share = [1.5 * copied / value for copied, value in zip(seconds[COPY], seconds[side], strict=True)]
            verdict = "met" if np.median(share) >= TARGET else "NOT met"
            print(f"    share of it, {side:19} {spread(share, 2)}   at least {TARGET}: {verdict}")
            shares[side] = share
        report[name] = {"seconds": seconds, "copy_GB_a_second": bandwidth, "share": shares}
    return report


def agree(side: str, loss: float, gradient: np.ndarray, expected: Any) -> None:
    """Stop unless a side computes what NumPy does, as closely as its precision allows."""
    near = 1e-4 if gradient.dtype == np.float32 else 1e-10
    assert abs(loss - expected.loss) < near, (side, loss, expected.loss)
    assert np.abs(gradient - expected.gradient).max() < near * np.abs(expected.gradient).max(), side


def torch_on_gpu(given: dict[str, np.ndarray], *, compiled: bool) -> Callable[[], Any]:
    """PyTorch on the GPU, differentiated by autograd, as it is or by `torch.compile`."""
    import torch

    torch._dynamo.reset()
    arrays = {name: torch.as_tensor(array, device=TORCH_DEVICE) for name, array in given.items()}
    dtype, tokens = arrays["logits"].dtype, arrays["tokens"][..., None]
    old, ref = (arrays[name].to(dtype) for name in ("old_log_probs", "ref_log_probs"))
    advantages = arrays["advantages"].to(dtype)[:, None]

    def loss_of(leaf: Any) -> Any:
        log_probs = torch.log_softmax(leaf, -1).gather(-1, tokens)[..., 0]
        return objective(torch, log_probs, old, ref, advantages)

    forward = torch.compile(loss_of) if compiled else loss_of

    def run() -> Any:
        leaf = arrays["logits"].detach().requires_grad_()
        loss = forward(leaf)
        loss.backward()
        return loss.detach(), leaf.grad

    return run


# ---- training --------------------------------------------------------------------------------------


def check_training(xp: Any) -> None:
    """Every task, a few updates: the same random numbers give the same policies."""
    for build in TASKS.values():
        task = build()
        config = config_for(task, seeds=3, updates=5)
        ours = last_of(iter_train(to_device(task, xp), GRPO, config)).state.params
        theirs = last_of(iter_train(task, GRPO, config)).state.params
        np.testing.assert_allclose(to_host(ours), theirs, rtol=1e-9, atol=1e-9)
    print("  checked: training on the GPU gives NumPy's policies (to 1e-9)")


def training(xp: Any, seeds: int, rounds: int) -> dict[str, list[float]]:
    """Milliseconds an update on either device."""
    task = TASKS["arithmetic"]()
    there, config = to_device(task, xp), config_for(task, seeds=seeds, updates=UPDATES)
    sides = {
        "cpu": lambda: last_of(iter_train(task, GRPO, config)),
        "gpu": finished(lambda: last_of(iter_train(there, GRPO, config))),
    }
    seconds = interleaved(sides, max(rounds // 3, 1))
    figures = {side: [1e3 * value / UPDATES for value in values] for side, values in seconds.items()}
    ratios = [cpu / gpu for cpu, gpu in zip(figures["cpu"], figures["gpu"], strict=True)]
    print(f"\n  training on arithmetic, {seeds} seeds: milliseconds an update")
    for side, values in figures.items():
        print(f"    {side}   {spread(values, 2)}")
    print(f"    cpu / gpu   {spread(ratios, 2)}")
    return figures


if __name__ == "__main__":
    main()
