"""torchtune: what its keys compute."""

import re
from math import e, log

import numpy as np
import pytest

from grpo_ref import policy_loss
from grpo_ref.explain.dialects import torchtune
from grpo_ref.explain.dialects.torchtune.kernels import at_ratio_one, batch_sum_level, k3_of_the_batch
from grpo_ref.explain.dialects.torchtune.keys import BATCH, CHUNKED, LINEAR, SIMPLE, TOKEN
from grpo_ref.explain.dialects.torchtune.traps import TRAPS
from grpo_ref.explain.launch import launches
from grpo_ref.explain.launch.reading import launch_of
from grpo_ref.explain.trap import sprung
from grpo_ref.parity.calls.common import loss
from grpo_ref.parity.replay import record_of

DIALECT = torchtune.DIALECT
# configuration -> parts of the recipe, as text
PARTS = {
    "nothing given": (
        {},
        {
            "advantage": "group_normalized(ddof=1, eps=0.0001)",
            "surrogate": "at_ratio_one",
            "penalty": "k3",
            "kl_coef": "0.1",
            "aggregate": "sequence_mean_token_mean",
        },
    ),
    "a component by the name of its group": (
        {"loss": TOKEN, "loss.epsilon": 0.2},
        {"surrogate": "clipped(clip_low=0.2, clip_high=0.2)", "aggregate": "token_mean"},
    ),
    "a width below 0": (
        {"loss": {"_component_": TOKEN, "epsilon": -0.1}},
        {"surrogate": "clipped_as_given(clip_low=-0.1, clip_high=-0.1)"},
    ),
    "a whole batch as one": (
        {"loss": {"_component_": BATCH, "kl_coeff": 0.5}},
        {"level": "batch_sum_level", "penalty": "k3_of_the_batch", "kl_coef": "0.5"},
    ),
    "the asynchronous recipe": (
        {
            "inference": {"group_size": 8, "temperature": 1.0, "engine_args": {"seed": 1}},
            "training": {"loss": {"_component_": LINEAR, "kl_coeff": 0.01}, "ppo_epochs": 1},
            "orchestration": {"num_steps": 250},
        },
        {"surrogate": "at_ratio_one", "kl_coef": "0.01", "aggregate": "sequence_mean_token_mean"},
    ),
    "a group of one": ({"grpo_samples": 1}, {"advantage": "without_a_sibling"}),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = torchtune.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


REFUSED = {
    "a loss that no recipe calls as it is": ({"loss": CHUNKED}, "refuses torchtune.dev.grpo.loss.GRPOWith"),
    "a loss of one's own": ({"loss": "my.loss.Loss"}, "my.loss.Loss cannot be expressed here"),
    "a short name": ({"loss": "GRPOLoss"}, "with their full names"),
    "the synchronous recipe": ({"loss": LINEAR, "forward_batch_size": 1}, "in the synchronous recipe"),
    "the asynchronous recipe": ({"loss": TOKEN, "orchestration.num_steps": 9}, "in the asynchronous recipe"),
    "chunks": ({"loss": SIMPLE, "loss.num_output_chunks": 8}, "loss.num_output_chunks: torchtune refuses it"),
    "no chunks": ({"loss": LINEAR, "loss.num_output_chunks": 0}, "refuses fewer than 1, got 0"),
    "TRL's key": ({"loss": {"beta": 0.1}}, "torchtune has no key 'loss.beta'"),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_told(config, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        torchtune.recipe(**config)


# ---- its own kernels, by hand -------------------------------------------------------------------------


def test_a_batch_has_one_ratio():
    """Log-ratios 1, 2 and 3 make 6 at every token."""
    found = batch_sum_level(np.array([[[1.0, 2.0], [3.0, 9.0]]]), np.array([[[1, 1], [1, 0]]]))
    assert found.tolist() == [[[6.0, 6.0], [6.0, 0.0]]]


def test_the_penalty_is_of_the_sum():
    """Two tokens, each log 2 above the reference: v = log 4, k3 = 1/4 - 1 + log 4, its slope 1 - 1/4."""
    term = k3_of_the_batch(np.full((1, 2, 1), log(2.0)), np.zeros((1, 2, 1)), np.ones((1, 2, 1)))
    np.testing.assert_allclose(term.value, np.full((1, 2, 1), log(4.0) - 0.75), rtol=1e-12)
    np.testing.assert_allclose(term.slope, np.full((1, 2, 1), 0.75), rtol=1e-12)


def test_the_ratio_of_the_simple_loss_is_1():
    term = at_ratio_one(np.full((1, 1, 2), -3.0), np.array([2.0]))
    assert term.value.tolist() == term.direct.tolist() == [[[2.0, 2.0]]]


# the loss -> its value; two completions of 2 tokens and of 1, advantages 1 and -2, ratios 1.5, 1 and e
VALUES = {
    SIMPLE: -(1.0 - 2.0) / 2,
    TOKEN: -(1.2 + 1.0 - 2 * e) / 3,
    BATCH: -(1.2 - 2 * 1.5 * e) / 2,
}


@pytest.mark.parametrize("name", VALUES)
def test_the_losses_by_hand(name):
    """With a width of 0.2 and no penalty; the batch's ratio is 1.5 e."""
    ratios, mask = np.log(np.array([[[1.5, 1.0], [e, 7.0]]])), np.array([[[1, 1], [1, 0]]])
    recipe = torchtune.recipe(**{"loss": name, "loss.epsilon": 0.2, "loss.kl_coeff": 0.0})
    old = np.full(ratios.shape, -2.0)
    found = policy_loss(old + ratios, np.array([[1.0, -2.0]]), mask, recipe=recipe, old_log_probs=old)
    np.testing.assert_allclose(found.loss, VALUES[name], rtol=1e-12)


def test_the_gradient_of_a_batch_goes_to_every_token():
    """The ratio is 1.5: the clip holds the slope of A = 1, that of A = -2 is -3; a half of it, at both."""
    arrays = {
        "group_size": 2,
        "p": [[log(1.5)], [0.0]],
        "o": [[0.0], [0.0]],
        "m": [[1], [1]],
        "a": [1.0, -2.0],
    }
    given = {"log_probs": "p", "old_log_probs": "o", "mask": "m", "advantages": "a"}
    config = {"loss": BATCH, "loss.epsilon": 0.2, "loss.kl_coeff": 0.0}
    found = loss(DIALECT, config, record_of({"given": given}, arrays))
    np.testing.assert_allclose(found["grad_logp"], [[[1.5], [1.5]]], rtol=1e-12)


# ---- real launches ------------------------------------------------------------------------------------

SCRIPT = """#!/bin/bash
srun tune run --nnodes 2 --nproc_per_node 8 --rdzv_backend c10d \\
    dev/grpo_full_finetune_distributed --config dev/3B_full_grpo grpo_samples=8 "$@"
"""
FILE = """
grpo_samples: 4
ppo_epochs: 2
loss:
  _component_: torchtune.dev.grpo.loss.GRPOLoss
  kl_coeff: 0.05
optimizer:
  _component_: torch.optim.AdamW
  lr: 1e-5
"""


def test_a_script_is_known_and_its_file_is_one_of_torchtunes():
    (launch,) = launches(SCRIPT, "run.sh")
    assert (launch.trainer, launch.is_sure, launch.keys["grpo_samples"]) == ("torchtune", True, 8)
    assert launch.keys["loss.kl_coeff"] == 0.01
    assert not any("was not found" in note for note in launch.notes)


def test_a_file_alone_is_known_by_its_keys():
    (launch,) = launches(FILE, "mine.yaml")
    assert launch.trainer == "torchtune"
    assert DIALECT.recipe(**launch.keys).parts()["surrogate"] == "clipped(clip_low=0.1, clip_high=0.1)"


def test_the_asynchronous_recipe_has_a_loss_of_its_own():
    line = "tune run dev/async_grpo_full_finetune_distributed --config dev/qwen3B_async_grpo"
    launch = launch_of(line.split())
    names = [trap.name for trap in sprung(TRAPS, DIALECT.settings(launch.keys), DIALECT.given(launch.keys))]
    assert names == [
        "loss.epsilon is ignored by this loss",
        "LinearGRPOLoss does not correct stale completions",
    ]
