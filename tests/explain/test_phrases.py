"""An objective as a sentence."""

import math
from dataclasses import replace
from importlib import import_module

import pytest
from package_map import KERNELS

import grpo_ref.explain.phrases as words_module
from grpo_ref.advantages import with_teacher
from grpo_ref.corrections import truncated
from grpo_ref.explain.description import in_words
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.phrases import PHRASES, paragraph
from grpo_ref.parity.replay import read, shipped
from grpo_ref.recipes import GRPO, RECIPES, Slot, slot
from grpo_ref.surrogates import clipped

DAPO_IN_TRL = {
    "loss_type": "dapo",
    "epsilon_high": 0.28,
    "num_generations": 16,
    "mask_truncated_completions": True,
}


def test_what_an_engineer_would_write_of_it():
    assert in_words(DIALECTS["trl"], DAPO_IN_TRL) == (
        "PPO-clip 0.2/0.28 per token; advantages standardised within groups of 16 (ddof 1, ε 0.0001);"
        " mean over all tokens; no KL penalty; truncated completions masked out."
    )
    assert in_words(
        DIALECTS["trl"], {"loss_type": "dr_grpo", "beta": 0.04, "max_completion_length": 1024}
    ).endswith(
        "divided by a constant length of 1024 tokens, mean over completions;"
        " KL penalty 0.04 (importance-weighted k3)."
    )
    assert "with a dual clip at 3, per token" in in_words(DIALECTS["verl"], {"adv_estimator": "grpo"})


@pytest.fixture(autouse=True)
def no_name_of_a_function(monkeypatch):
    """What has no words fails, where the tests do not ask for it."""

    def fail(part):
        raise AssertionError(f"no words for {part}")

    monkeypatch.setattr(words_module, "_by_name", fail)


def test_a_teacher_is_named_in_the_sentence():
    alone, beside = (paragraph(RECIPES[name]) for name in ("opd", "opd_rl"))
    assert "advantages from a teacher alone, 1 (log πteacher - log πold) per token" in alone
    assert "rewards taken as advantages" not in alone
    assert "(ddof 1, ε 0.0001); plus 1 (log πteacher - log πold) per token" in beside
    settings = {"coef": 0.5, "student": "current", "discount": 1.0, "max_log_ratio": 5.0}
    told = paragraph(replace(GRPO, distill=slot(with_teacher, **settings)))
    assert (
        "plus 0.5 (log πteacher - log πθ) per token, summed over the tokens to come with discount 1" in told
    )
    assert "the log-ratio limited to ±5" in told


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_is_a_sentence_without_braces_or_names_of_functions(name):
    told = paragraph(RECIPES[name])
    assert told.endswith(".")
    assert not set("{}_") & set(told)


def test_every_word_is_of_a_kernel():
    found = (import_module(f"grpo_ref.{name}") for name in KERNELS)
    assert set(PHRASES) <= {name for module in found for name in vars(module)}


def configurations(dialect):
    """The defaults, each choice by itself, both sides of each trap, and what was recorded."""
    yield {}
    yield from ({key: value} for key, values in dialect.keys.choices.items() for value in values)
    yield from (dict(config) for trap in dialect.traps for config in (trap.example, trap.near))
    for path in (path for path in shipped() if path.stem == dialect.name):
        yield from (case["config"] for case in read(path)[1])


def accepted(dialect):
    """Each of them once, with its recipe, without those that the trainer refuses."""
    for config in {repr(config): config for config in configurations(dialect)}.values():
        try:
            yield config, dialect.recipe(**config)
        except ValueError:
            continue


def kernels_in(part):
    """All kernels in a part, in nested ones too."""
    if isinstance(part, Slot):
        return (part.kernel, *(kernel for value in part.settings.values() for kernel in kernels_in(value)))
    if isinstance(part, tuple):
        return tuple(kernel for value in part for kernel in kernels_in(value))
    return (part,) if callable(part) else ()


def kernels(recipe):
    """The kernels of what counts in a recipe."""
    names = ("reward", "keep", "admit", "advantage", "level", "surrogate", "corrections", "aggregate")
    penalty = ("penalty", "penalty_aggregate") if recipe.kl_coef else ()
    return {name: kernels_in(getattr(recipe, name)) for name in (*names, *penalty)}


@pytest.mark.parametrize("name", DIALECTS)
def test_every_configuration_has_words_that_tell_its_kernels_from_all_others(name):
    told = {}
    for config, recipe in accepted(DIALECTS[name]):
        sentence = in_words(DIALECTS[name], config)
        assert not set("{}_<>") & set(sentence)
        assert not any(word in sentence for word in ("None", "True", "False", "  ", ", ;", ";;", "(,"))
        found = kernels(recipe)
        assert found == told.setdefault(sentence, found), config
        own = {kernel for part in found.values() for kernel in part if "trainers" in kernel.__module__}
        assert own <= set(DIALECTS[name].objective.phrases)
    assert told


@pytest.mark.parametrize(
    ("name", "config", "said"),
    [
        ("nemo_rl", {}, "standardised by mean and std of the other completions of the group of 16"),
        ("easy_r1", {}, "KL 0.001 (k1, summed over tokens) subtracted from the reward, then"),
        ("areal", {}, "to a missing reference"),
        ("prime_rl", {}, "less a KL penalty 0.001 to the sampler"),
        ("rlinf", {}, "then twice over all tokens of the batch"),
    ],
)
def test_what_is_peculiar_to_a_trainer_is_said(name, config, said):
    assert said in in_words(DIALECTS[name], config)


@pytest.mark.parametrize("name", ["easy_r1", "areal", "openrlhf", "prime_rl"])
def test_a_kl_outside_the_loss_is_not_denied(name):
    told = in_words(DIALECTS[name], {})
    assert "no KL penalty" not in told
    assert "no KL to a reference in the loss" in told


def test_a_trainers_own_kernel_has_its_own_words_or_its_name(monkeypatch):
    def mine(log_ratio, advantages, *, clip_low=0.1, clip_high=0.3, mode="hard", cap=math.inf):
        return clipped(log_ratio, advantages, clip_low=clip_low, clip_high=clip_high)

    def told(template, **settings):
        words = {mine: template}
        return paragraph(replace(GRPO, surrogate=Slot(mine, settings)), words=words).split(";")[0]

    assert told("mine, {clip_high}") == "mine, 0.3, per token"
    assert told("mine per sequence") == "mine per sequence"
    assert told("mine<, at most {cap}>") == "mine per token"
    assert told("mine<, at most {cap}>", cap=2.0) == "mine, at most 2, per token"
    assert told("{mode:hard=cut|soft=bent|{mode}}") == "cut per token"
    assert told("{mode:hard=cut|soft=bent|{mode}}", mode="odd_one") == "odd one per token"
    assert told(lambda clip_low, **_: f"mine {clip_low}") == "mine 0.1 per token"
    monkeypatch.undo()
    assert paragraph(replace(GRPO, surrogate=Slot(mine))).startswith("mine per token;")


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({"max_ratio": 2.0}, "truncated importance weights against the sampler per token, at most 2"),
        ({"min_ratio": 0.5, "max_ratio": 2.0}, "per token, between 0.5 and 2"),
        ({"max_ratio": math.inf}, "; importance weights against the sampler per token, not limited"),
    ],
)
def test_bounds_that_are_none_are_not_said(bounds, said):
    assert said in paragraph(replace(GRPO, corrections=(Slot(truncated, bounds),)))


def test_a_bonus_and_limits_are_told():
    told = in_words(DIALECTS["verl"], {"adv_estimator": "grpo", "actor.entropy_coeff": 0.01})
    assert "entropy bonus 0.01" in told
    assert "log-ratio" not in told
    assert "the log-ratio limited to [-2, ∞] nats" in paragraph(
        replace(GRPO, log_ratio_limits=(-2.0, math.inf))
    )
