"""An objective as a sentence."""

import math
import pkgutil
from dataclasses import replace
from importlib import import_module

import pytest

import grpo_ref.kernels
from grpo_ref.kernels.surrogates import clipped
from grpo_ref.recipes import GRPO, RECIPES, Slot
from grpo_ref.trainers import DIALECTS
from grpo_ref.trainers.explain import in_words
from grpo_ref.trainers.words import WORDS, paragraph

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


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_is_a_sentence_without_braces_or_names_of_functions(name):
    told = paragraph(RECIPES[name])
    assert told.endswith(".")
    assert not set("{}_") & set(told) or name.startswith("book_")


def test_every_word_is_of_a_kernel():
    found = pkgutil.walk_packages(grpo_ref.kernels.__path__, "grpo_ref.kernels.")
    assert set(WORDS) <= {name for module in found for name in vars(import_module(module.name))}


def test_a_trainers_own_kernel_has_its_own_words_or_those_of_what_it_is_a_form_of():
    def mine(log_ratio, advantages, *, clip_low=0.1, clip_high=0.3):
        return clipped(log_ratio, advantages, clip_low=clip_low, clip_high=clip_high)

    ours = replace(GRPO, surrogate=Slot(mine))
    assert paragraph(ours, forms={mine: clipped}).startswith("PPO-clip 0.1/0.3 per token;")
    assert paragraph(ours, words={mine: "mine, {clip_high}"}).startswith("mine, 0.3, per token;")
    assert paragraph(ours).startswith("mine per token;")


def test_a_bonus_and_limits_are_told():
    told = in_words(DIALECTS["verl"], {"adv_estimator": "grpo", "actor.entropy_coeff": 0.01})
    assert "entropy bonus 0.01" in told
    assert "log-ratio" not in told
    assert "the log-ratio limited to [-2, ∞] nats" in paragraph(
        replace(GRPO, log_ratio_limits=(-2.0, math.inf))
    )
