"""Kernels and training away from the host: equal to NumPy's, few transfers, clear errors without a GPU.

Every test of results runs on a strict double of a GPU (`device_double`), and on CuPy where it finds a GPU.
"""

import json
import sys
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from device_double import Device
from test_identities import KERNELS, inputs, outputs

from grpo_ref import (
    DAPO,
    GRPO,
    RECIPES,
    TASKS,
    arrays,
    config_for,
    policy_loss,
    policy_loss_from_logits,
    sample,
    token_log_probs,
    train,
)
from grpo_ref.arrays import DeviceError, array_namespace, device_namespace, sums_at, to_device, to_host
from grpo_ref.frontends.cli import main
from grpo_ref.frontends.commands import train as train_command
from grpo_ref.learning.tasks.arithmetic import arithmetic
from grpo_ref.learning.tasks.bandit import bandit
from grpo_ref.learning.tasks.names import names

DOUBLE_RTOL, GPU_RTOL = 1e-12, 1e-9


try:
    GPU, NO_GPU = device_namespace("gpu"), ""
except DeviceError as error:
    GPU, NO_GPU = None, str(error)


@pytest.mark.skipif(GPU is None, reason=f"this module was tried on the double alone: {NO_GPU}")
def test_a_gpu_was_tried():
    """Shows in the summary whether the tests below ran on a GPU too."""
    assert GPU.__name__ == "cupy"


@pytest.fixture(params=["double"] if GPU is None else ["double", "gpu"])
def place(request, monkeypatch):
    """A device: its library, how closely it must agree, and the numbers of transfers so far, up and down."""
    if request.param == "double":
        xp = Device()
        return SimpleNamespace(xp=xp, rtol=DOUBLE_RTOL, crossings=lambda: (xp.up, xp.down))
    xp, counts = GPU, [0, 0]

    def counting(index, function):
        def counted(array):
            counts[index] += isinstance(array, np.ndarray) == (index == 0)
            return function(array)

        return counted

    monkeypatch.setitem(vars(xp), "asarray", counting(0, xp.asarray))
    monkeypatch.setattr(arrays, "_fetched", counting(1, arrays._fetched))
    return SimpleNamespace(xp=xp, rtol=GPU_RTOL, crossings=lambda: tuple(counts))


def assert_close(ours, theirs, rtol):
    """An array of the device and one of NumPy."""
    ours = to_host(ours)
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol)


# ---- kernels and losses ----------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_every_kernel(kernel, place):
    expected, got = outputs(kernel, inputs()), outputs(kernel, to_device(inputs(), place.xp))
    for ours, theirs in zip(got, expected, strict=True):
        assert_close(ours, theirs, place.rtol)


FIELDS = ("old_log_probs", "ref_log_probs", "rollout_log_probs", "entropies", "noise")
FIELDS += ("top_log_probs", "top_old_log_probs")


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_every_recipe(recipe, place):
    def loss(batch):
        needed = [batch[name] for name in ("log_probs", "advantages", "mask")]
        return policy_loss(*needed, recipe=replace(recipe, kl_coef=0.1), **{n: batch[n] for n in FIELDS})

    expected, got = loss(inputs()), loss(to_device(inputs(), place.xp))
    assert_close(got.loss, expected.loss, place.rtol)
    assert_close(got.gradient, expected.gradient, place.rtol)
    for name, value in expected.metrics.items():
        assert_close(got.metrics[name], value, place.rtol)


def test_sums_at(place):
    index, weights = np.array([3, 0, 3, 1]), np.array([1.0, 2.0, 0.25, -1.0])
    assert_close(
        sums_at(*(to_device(x, place.xp) for x in (index, weights)), 5), np.array([2, -1, 0, 1.25, 0]), 0.0
    )


# ---- from logits -----------------------------------------------------------------------------------

SHAPE = (2, 3, 5)
MASK = np.arange(5) < np.array([[5, 2, 0], [1, 4, 3]])[..., None]


def batch_of(vocabulary, dtype="float64"):
    """The arguments of `policy_loss_from_logits`; what the padding holds is no distribution."""
    generator = np.random.default_rng(3)
    logits = generator.normal(size=(*SHAPE, vocabulary)).astype(dtype) * 3
    tokens = generator.integers(0, vocabulary, SHAPE)
    at = token_log_probs(logits, tokens)
    probs = generator.dirichlet(np.ones(4), (2, *SHAPE))[..., :3]
    others = {name: at + 0.1 * generator.normal(size=SHAPE) for name in FIELDS[:3]}
    others |= {name: generator.random(SHAPE) for name in FIELDS[3:5]}
    others |= dict(zip(FIELDS[5:], np.log(probs), strict=True))
    dirty = np.where(MASK[..., None], logits, np.nan).astype(dtype)
    return {
        "logits": dirty,
        "tokens": tokens,
        "advantages": generator.normal(size=SHAPE[:-1]),
        "mask": MASK,
    } | others


def check_logits(place, given, recipe, rtol, **settings):
    expected = policy_loss_from_logits(**given, recipe=recipe, **settings)
    got = policy_loss_from_logits(**to_device(given, place.xp), recipe=recipe, **settings)
    assert got.loss == pytest.approx(expected.loss, rel=rtol, abs=rtol)
    assert_close(got.gradient, expected.gradient, rtol)
    for name, value in expected.metrics.items():
        np.testing.assert_allclose(to_host(got.metrics[name]), value, rtol=rtol, atol=rtol)
    assert (to_host(got.gradient)[~MASK] == 0.0).all()


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_every_recipe_from_logits(recipe, place):
    check_logits(place, batch_of(7), replace(recipe, kl_coef=0.1), place.rtol, max_length=9, temperature=0.7)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("vocabulary", [1, 3, 256, 257, 1024, 5000])
def test_any_vocabulary_in_both_precisions(vocabulary, dtype, place):
    """Around the number of lanes that share a row, and around the four logits that each reads at a time."""
    check_logits(place, batch_of(vocabulary, dtype), GRPO, place.rtol if dtype == "float64" else 2e-6)


ROWS = {
    "ten thousand": np.array([1e4, 0.0, -1e4, 3.0, 2.0, 1.0, 0.0]),
    "minus ten thousand": np.full(7, -1e4) + np.arange(7.0),
    "all equal": np.full(7, 88.0),
    "rising": np.arange(7.0) * 100,
    "banned tokens": np.array([-np.inf, 0.0, 1.0, -np.inf, -np.inf, 2.0, 0.5]),
    "all but one banned": np.array([-np.inf] * 6 + [3.0]),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_any_row_and_in_place(row, dtype, place):
    logits, tokens = np.stack([row, row[::-1]])[None].astype(dtype), np.array([[6, 0]])
    given = {"logits": logits, "tokens": tokens, "advantages": np.array([1.5]), "mask": np.ones((1, 2))}
    recipe = replace(GRPO, kl_coef=0.0)
    expected = policy_loss_from_logits(**given, recipe=recipe)
    there = to_device(given, place.xp)
    log_probs = token_log_probs(there["logits"], there["tokens"])
    got = policy_loss_from_logits(**there, recipe=recipe, out=there["logits"])
    rtol = place.rtol if dtype == "float64" else 1e-6
    assert_close(log_probs, token_log_probs(logits, tokens), rtol)
    assert_close(there["logits"], expected.gradient, rtol)
    assert got.gradient is there["logits"]


@pytest.mark.parametrize(("where", "bad"), [(3, np.nan), (3, np.inf), (slice(None), -np.inf)])
def test_a_row_that_is_no_distribution_is_named(where, bad, place):
    given = batch_of(7)
    given["logits"][0, 1, 1, where] = bad
    there = to_device(given, place.xp)
    out = place.xp.zeros(given["logits"].shape, dtype=np.float64)
    with pytest.raises(ValueError, match=r"logits: row 6 holds NaN or \+inf, or nothing but -inf"):
        policy_loss_from_logits(**there, recipe=GRPO, out=out)
    assert np.isnan(to_host(out)).all()


def test_a_token_out_of_range_and_a_wrong_shape_are_named(place):
    given = to_device(batch_of(7), place.xp)
    with pytest.raises(ValueError, match="tokens: expected 0 to 6"):
        policy_loss_from_logits(**given | {"tokens": given["tokens"] + 6}, recipe=GRPO)
    with pytest.raises(ValueError, match=r"mask \(2, 3, 4\)"):
        policy_loss_from_logits(**given | {"mask": given["mask"][..., :4]}, recipe=GRPO)


def test_from_logits_two_numbers_cross(place):
    """Whether anything is wrong, and the loss."""
    there = to_device(batch_of(7), place.xp)
    up, down = place.crossings()
    policy_loss_from_logits(**there, recipe=GRPO)
    assert place.crossings() == (up, down + 2)


# ---- training --------------------------------------------------------------------------------------

SMALL = {"updates": 3, "prompts": 5, "group_size": 4, "seeds": 2}
CASES = {
    "plain": {},
    "several steps, a bonus, a bound, a fresh reference": {
        "epochs": 2,
        "minibatches": 2,
        "entropy_coef": 0.01,
        "max_grad_norm": 0.05,
        "ref_refresh": 2,
        "temperature": 0.8,
    },
    "a target and a filter of prompts, sgd": {
        "entropy_target": 1.5,
        "refilter_every": 2,
        "pass_reward": 0.05,
        "pass_low": 0.1,
        "optimizer": "sgd",
    },
}
SOME = ("grpo", "dapo", "gspo", "vespo", "clip_cov", "dppo_top_kl", "high_entropy", "gdpo", "reinforce_pp")
BUILD = {**TASKS, "names that alternate": partial(names, goal="alternates")}
BUILD["names that end in a vowel"] = partial(names, goal="ends_in_vowel")


@pytest.mark.parametrize("settings", CASES.values(), ids=CASES)
@pytest.mark.parametrize("recipe", SOME)
@pytest.mark.parametrize("build", BUILD.values(), ids=BUILD)
def test_training_agrees_with_numpy(build, recipe, settings, place):
    task = build()
    config = config_for(task, **SMALL | settings)
    there = train(to_device(task, place.xp), RECIPES[recipe], config)
    for ours, theirs in zip(there, train(task, RECIPES[recipe], config), strict=True):
        assert ours.metrics.keys() == theirs.metrics.keys()
        for name, values in theirs.metrics.items():
            assert_close(ours.metrics[name], values, place.rtol)
        for name in ("logits", "ref_logits", "entropy_coef", "prompt_probs"):
            assert_close(getattr(ours.state, name), getattr(theirs.state, name), place.rtol)
        assert ours.state.generators == theirs.state.generators


TRANSFERS = {
    "numbers up, metrics down": (GRPO, {}, (1, 1)),
    "however many steps an update takes": (
        GRPO,
        {"epochs": 3, "minibatches": 2, "entropy_coef": 0.1},
        (1, 1),
    ),
    "noise for each step": (RECIPES["clip_cov"], {"epochs": 3}, (4, 1)),
    "which groups to draw anew, without drawing any": (DAPO, {"resamples": 0}, (1, 1)),
    "one round of resampling": (DAPO, {"resamples": 1}, (2, 2)),
}


@pytest.mark.parametrize(("recipe", "settings", "expected"), TRANSFERS.values(), ids=TRANSFERS)
def test_transfers_of_one_update(recipe, settings, expected, place):
    """On arithmetic nearly every group of two is rejected at first, so every round of resampling draws."""
    task = to_device(arithmetic(), place.xp)
    updates = train(task, recipe, config_for(task, prompts=20, group_size=2, seeds=3, updates=2, **settings))
    next(updates)
    before = place.crossings()
    next(updates)
    assert tuple(np.subtract(place.crossings(), before)) == expected


def test_training_continues_on_the_other_device(place):
    task = bandit()
    there, config = to_device(task, place.xp), config_for(task, **SMALL | {"updates": 6})
    unbroken = list(train(task, GRPO, config))
    begun = list(train(there, GRPO, replace(config, updates=3)))
    *_, here = train(task, GRPO, config, begun[-1].state)
    *_, away = train(there, GRPO, config, unbroken[2].state)
    np.testing.assert_allclose(here.state.logits, unbroken[-1].state.logits, rtol=place.rtol, atol=place.rtol)
    assert_close(away.state.logits, unbroken[-1].state.logits, place.rtol)


def test_samples_are_the_same_on_either_device(place):
    task = arithmetic()
    logits = np.random.default_rng(0).normal(size=(2, *task.ref_logits.shape))
    expected = sample(task, logits, prompts=5, group_size=2)
    got = sample(*to_device({"task": task, "logits": logits}, place.xp).values(), prompts=5, group_size=2)
    np.testing.assert_array_equal(to_host(got.tokens), expected.tokens)


def test_a_table_that_was_not_moved_is_noticed():
    """A verifier that hides its table in a closure does not slip through."""
    task = arithmetic()
    closed = replace(task, verify=lambda *arguments: task.verify(*arguments))
    with pytest.raises(TypeError, match="Multiple namespaces for array inputs"):
        next(train(to_device(closed, Device()), GRPO, config_for(task, **SMALL)))


# ---- moving ----------------------------------------------------------------------------------------


def test_what_is_moved_comes_back_and_numpy_moves_nothing(place):
    task = names()
    there = to_device(task, place.xp)
    assert place.crossings() == (6, 0)  # five fields, and the list of names inside the verifier
    back = to_host(there)
    for field in fields(task):
        value = getattr(task, field.name)
        if isinstance(value, np.ndarray):
            assert array_namespace(getattr(there, field.name)) is place.xp
            np.testing.assert_array_equal(getattr(back, field.name), value)
    np.testing.assert_array_equal(back.verify.args[1], task.verify.args[1])
    assert to_device(task, np).ref_logits is task.ref_logits
    assert to_device(there, place.xp).ref_logits is there.ref_logits


HOST = np.ones(3)
SNEAKED = {
    "a NumPy array on the right": lambda x: x + HOST,
    "a NumPy array on the left": lambda x: HOST + x,
    "a NumPy array in place": lambda x: x.__iadd__(HOST),
    "a NumPy array among arguments": lambda x: array_namespace(x).where(x > 0, HOST, x),
    "a NumPy array in a list": lambda x: array_namespace(x).stack([x, HOST]),
    "a NumPy array as an index": lambda x: x[np.array([0, 1])],
    "a NumPy array assigned": lambda x: x.__setitem__(slice(None), HOST),
    "an index into a NumPy array": lambda x: HOST[x.astype(int)],
    "a list as an index": lambda x: x[[0, 1]],
    "truth values as an index": lambda x: x[x > 0],
    "a function of NumPy": lambda x: np.exp(x),
    "a function of NumPy that is no ufunc": lambda x: np.stack([x, x]),
    "a method that NumPy calls": lambda x: np.sum(x),
    "a truth value": lambda x: bool(x.sum() > 0),
    "an if": lambda x: 1 if (x > 0).all() else 0,
    "a number": lambda x: float(x.sum()),
    "a conversion": lambda x: np.asarray(x),
    "a loop": lambda x: list(x),
    "two namespaces": lambda x: array_namespace(x, HOST),
}


@pytest.mark.parametrize("sneak", SNEAKED.values(), ids=SNEAKED)
def test_the_double_refuses(sneak):
    with pytest.raises(TypeError):
        sneak(to_device(HOST, Device()))


# ---- the command -----------------------------------------------------------------------------------

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
    monkeypatch.setattr(train_command, "device_namespace", libraries.get)
    assert run(*QUICK).exit_code == 0
    expected = np.load("run/checkpoint.npz")["logits"]
    assert "device" not in json.loads(Path("run/config.json").read_text())
    for first, second in (("gpu", "cpu"), ("cpu", "gpu"), ("gpu", "gpu")):
        folder = f"{first}-{second}"
        command = [*QUICK[:-1], folder]
        trained = run(*command, "--device", first)
        assert trained.exit_code == 0, trained.output
        assert json.loads(Path(folder, "config.json").read_text()).get("device", "cpu") == first
        np.testing.assert_allclose(np.load(f"{folder}/checkpoint.npz")["logits"], expected, rtol=place.rtol)
        before = Path(folder, "checkpoint.npz").read_bytes()
        assert run(*command, "--device", second, "--resume").exit_code == 0
        assert Path(folder, "checkpoint.npz").read_bytes() == before
    result = run(*QUICK, "--device", "gpu", "--resume", "--learning-rate", "0.5")
    assert "holds another run: learning_rate is 0.1 there" in result.output
