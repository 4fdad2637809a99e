"""The fast loop: the numbers of the plain one, whatever the number of seeds and threads."""

import sys
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from grpo_ref import DAPO, GRPO, RECIPES, TASKS, config_for, iter_train, slot
from grpo_ref.fast import many_seeds
from grpo_ref.fast.many_seeds import train_many
from grpo_ref.fast.measures import fast_metrics
from grpo_ref.learning.state import initial_state
from grpo_ref.levels import token_level
from grpo_ref.rewards import soft_overlong
from grpo_ref.surrogates import clipped
from grpo_ref.tasks.arithmetic import arithmetic
from grpo_ref.tasks.bandit import bandit
from grpo_ref.tasks.names import names

SMALL = {"updates": 6, "prompts": 8, "group_size": 4, "seeds": 3}
STEPS = {
    "one epoch": {},
    "four epochs": {"epochs": 4},
    "minibatches": {"epochs": 2, "minibatches": 3},
    "other settings": {
        "epochs": 2,
        "optimizer": "sgd",
        "learning_rate": 2.0,
        "max_grad_norm": 0.2,
        "temperature": 0.7,
        "ref_refresh": 4,
    },
}


def both(task, recipe, config, **settings):
    return list(iter_train(task, recipe, config)), list(train_many(task, recipe, config, **settings))


def assert_close(theirs, ours, atol=1e-10):
    """Every update: the curves, and all that a state holds."""
    for one, other in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(other.metrics["reward"], one.metrics["reward"], rtol=0, atol=atol)
        np.testing.assert_allclose(other.state.params, one.state.params, rtol=0, atol=atol)
        np.testing.assert_allclose(other.state.ref_params, one.state.ref_params, rtol=0, atol=atol)
        assert other.state.update == one.state.update
        assert other.state.generators == one.state.generators
        assert other.state.optimizer.keys() == one.state.optimizer.keys()
        for name, expected in one.state.optimizer.items():
            np.testing.assert_allclose(other.state.optimizer[name], expected, rtol=0, atol=atol)


def assert_equal(theirs, ours, runs=slice(None)):
    """To the bit."""
    for one, other in zip(theirs, ours, strict=True):
        assert np.array_equal(one.metrics["reward"][runs], other.metrics["reward"])
        assert np.array_equal(one.state.params[runs], other.state.params)
        assert one.state.generators[runs] == other.state.generators


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
@pytest.mark.parametrize("name", TASKS)
def test_it_computes_what_the_plain_loop_does(name, steps):
    task = TASKS[name]()
    config = config_for(task, **SMALL | {"updates": 30, "prompts": 16, "group_size": 8} | steps)
    assert_close(*both(task, GRPO, config), atol=1e-9)


USUAL = {
    name: recipe
    for name, recipe in RECIPES.items()
    if recipe.surrogate.kernel is clipped
    and recipe.level is token_level
    and recipe.keep == GRPO.keep
    and recipe.admit == GRPO.admit
    and not recipe.corrections
    and not {"step_rewards", "turn_ids", "greedy_rewards", "score_norms"} & recipe.reads
    and recipe.distill is None
} | {
    "overlong": replace(
        GRPO, reward=slot(soft_overlong, buffer=0.5), surrogate=slot(clipped, clip_high=0.05)
    ),
    "strong kl": replace(GRPO, kl_coef=2.0),
    "a rewarded distance": replace(GRPO, kl_coef=-0.1),
}


@pytest.mark.parametrize("recipe", USUAL.values(), ids=USUAL)
def test_every_usual_recipe(recipe):
    task = arithmetic(largest=3)
    assert_close(*both(task, recipe, config_for(task, **SMALL, epochs=2)))


@pytest.mark.parametrize("recipe", USUAL.values(), ids=USUAL)
@pytest.mark.parametrize("steps", [STEPS["one epoch"], STEPS["minibatches"], STEPS["other settings"]])
def test_a_run_depends_neither_on_its_neighbours_nor_on_the_threads(recipe, steps, monkeypatch):
    task = arithmetic(largest=3)
    config = config_for(task, **SMALL | {"seeds": 5} | steps)
    together = list(train_many(task, recipe, config, threads=1))
    for threads in (2, 3, 9):
        assert_equal(together, train_many(task, recipe, config, threads=threads))
    for fewer in (1, 2):
        alone = train_many(task, recipe, replace(config, seeds=fewer), threads=1)
        assert_equal(together, alone, slice(fewer))
    monkeypatch.setattr(many_seeds, "PART_BYTES", 2 * task.ref_logits.nbytes)
    for threads in (1, 2):
        assert_equal(together, train_many(task, recipe, config, threads=threads))


@pytest.mark.parametrize("recipe", USUAL.values(), ids=USUAL)
@pytest.mark.parametrize("prompts", [1, 2])
def test_nor_is_a_lone_run_summed_in_another_order(recipe, prompts):
    """Sums of thirds and sevenths show their order; 24 numbers are added pairwise if they lie alone."""
    task = replace(arithmetic(largest=3), weights=np.array([1 / 3, 1 / 7]))
    config = config_for(task, **SMALL | {"prompts": prompts, "group_size": 24, "epochs": 2})
    together = list(train_many(task, recipe, config))
    for fewer in (1, 2):
        assert_equal(together, train_many(task, recipe, replace(config, seeds=fewer)), slice(fewer))
    assert_equal(together, train_many(task, recipe, config, compiled=True))


@pytest.mark.parametrize("recipe", USUAL.values(), ids=USUAL)
@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_compiled_loops_give_the_same_to_the_bit(recipe, steps):
    task = arithmetic(largest=3)
    config = config_for(task, **SMALL | steps)
    for dtype, threads in ((np.float64, 1), (np.float32, 2)):
        ours = train_many(task, recipe, config, dtype=dtype, threads=threads, compiled=True)
        assert_equal(train_many(task, recipe, config, dtype=dtype), ours)


@pytest.mark.parametrize("name", TASKS)
def test_so_they_do_on_every_task(name, monkeypatch):
    task = TASKS[name]()
    config = config_for(task, **SMALL, epochs=2)
    whole = list(train_many(task, GRPO, config))
    assert_equal(whole, train_many(task, GRPO, config, compiled=True))
    monkeypatch.setattr(many_seeds, "PART_BYTES", 2 * task.ref_logits.nbytes)
    assert_equal(whole, train_many(task, GRPO, config, compiled=True))


def test_without_numba_it_is_said_what_to_install(monkeypatch):
    for name in ("compiled", "loops"):
        monkeypatch.delitem(sys.modules, f"grpo_ref.fast.{name}", raising=False)
        monkeypatch.delattr(f"grpo_ref.fast.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(ImportError, match=r"pip install 'grpo-ref\[compiled\]'"):
        next(train_many(bandit(), GRPO, config_for(bandit(), seeds=1), compiled=True))


def test_one_state_and_one_prompt_make_no_difference_to_the_order_of_sums():
    task = TASKS["bandit"](contexts=1, arms=20)
    config = config_for(task, updates=50, prompts=1, group_size=16, seeds=2, epochs=3)
    two, one = train_many(task, GRPO, config, threads=1), train_many(task, GRPO, replace(config, seeds=1))
    assert_equal(two, one, slice(1))


def test_the_verifier_sees_what_rollout_shows_it():
    seen = []
    task = names(goal="alternates")
    spy = replace(task, verify=lambda *batch: seen.append([x.copy() for x in batch]) or task.verify(*batch))
    both(spy, GRPO, config_for(task, **SMALL | {"updates": 1}), threads=1)
    for theirs, ours in zip(*seen, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype


def test_one_arm_is_always_drawn():
    task = TASKS["bandit"](arms=1)
    assert_close(*both(task, GRPO, config_for(task, **SMALL)))


@pytest.mark.parametrize(
    ("first", "second"), [(iter_train, train_many), (train_many, iter_train), (train_many, train_many)]
)
def test_either_loop_continues_the_others_state(first, second):
    task = arithmetic(largest=3)
    config = config_for(task, **SMALL, epochs=2, ref_refresh=2)
    whole = list(iter_train(task, GRPO, config))
    half = list(islice(first(task, GRPO, config), 3))
    assert_close(whole[3:], list(second(task, GRPO, config, half[-1].state)))
    assert list(second(task, GRPO, config, whole[-1].state)) == []


def test_what_was_yielded_stays_as_it_is():
    task = bandit()
    config = config_for(task, **SMALL)
    kept = list(train_many(task, GRPO, config))
    assert_equal([kept[2]], islice(train_many(task, GRPO, config), 2, 3))
    (again,) = islice(train_many(task, GRPO, config, kept[2].state), 1)
    assert_equal([kept[3]], [again])


def test_single_precision_follows_for_a_while():
    task = arithmetic(largest=3)
    config = config_for(task, **SMALL, epochs=2)
    double, single = both(task, GRPO, config, dtype=np.float32)
    assert single[-1].state.params.dtype == np.float32
    np.testing.assert_allclose(single[-1].state.params, double[-1].state.params, rtol=0, atol=1e-2)
    np.testing.assert_allclose(single[-1].metrics["reward"], double[-1].metrics["reward"], rtol=0, atol=0.05)


def test_probabilities_too_small_for_a_number_do_no_harm():
    task = bandit()
    config = config_for(task, **SMALL, epochs=2)
    start = initial_state(task, config)
    start.params[..., 0] = -2000.0
    theirs, ours = list(iter_train(task, GRPO, config, start)), list(train_many(task, GRPO, config, start))
    np.testing.assert_array_equal(ours[-1].metrics["reward"], theirs[-1].metrics["reward"])
    np.testing.assert_allclose(ours[-1].state.params, theirs[-1].state.params, rtol=0, atol=1e-8)


def test_what_it_cannot_do_is_named():
    with pytest.raises(ValueError, match="keep: train_many does not support mixed_groups; use train"):
        next(train_many(bandit(), DAPO, config_for(bandit(), **SMALL)))
    with pytest.raises(ValueError, match="metrics: train_many cannot give entropy, kl; use train"):
        next(train_many(bandit(), GRPO, config_for(bandit(), **SMALL), metrics=("reward", "entropy", "kl")))
    wide = replace(GRPO, surrogate=slot(clipped, clip_low=1.5))
    with pytest.raises(ValueError, match="expected 0 <= clip_low < 1"):
        next(train_many(bandit(), wide, config_for(bandit(), **SMALL)))


@pytest.mark.parametrize("name", TASKS)
def test_every_metric_that_it_gives_is_that_of_the_plain_loop(name):
    task = TASKS[name]()
    config = config_for(task, **SMALL | {"updates": 3})
    names_of = fast_metrics(task)
    for ours, theirs in zip(
        train_many(task, GRPO, config, metrics=names_of), iter_train(task, GRPO, config), strict=True
    ):
        assert tuple(ours.metrics) == names_of
        for metric in names_of:
            np.testing.assert_allclose(ours.metrics[metric], theirs.metrics[metric], rtol=0, atol=1e-10)


def test_no_threads():
    with pytest.raises(ValueError, match="threads: expected at least 1, got 0"):
        next(train_many(bandit(), GRPO, config_for(bandit()), threads=0))


@pytest.mark.parametrize("loop", [iter_train, train_many])
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_a_state_of_another_optimizer_is_refused(loop, optimizer):
    task = bandit()
    config = config_for(task, updates=2, seeds=2, optimizer=optimizer)
    other = replace(config, optimizer="sgd" if optimizer == "adam" else "adam")
    state = next(iter(loop(task, GRPO, other))).state
    with pytest.raises(ValueError, match=rf"state: expected what {optimizer} keeps \((mean|nothing)"):
        next(iter(loop(task, GRPO, config, state)))
