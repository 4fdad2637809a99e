"""The weights of tokens in one optimizer step, by the division into micro-batches."""

from dataclasses import replace

import numpy as np
import pytest

from grpo_ref import DAPO, RECIPES, policy_loss
from grpo_ref.aggregation import group_token_mean
from grpo_ref.micro_batches import effective_weights
from grpo_ref.recipes import slot

# Four completions of 1, 3, 2 and 4 tokens, in two groups.
LENGTHS = np.array([[1, 3], [2, 4]])
MASK = (np.arange(4) < LENGTHS[..., None]).astype(float)

# recipe, micro-batches, across, budget -> the weight of a token in each of the four completions
WEIGHTS = {
    "one batch of 10 tokens": ("dapo", 1, "mean", None, [1 / 10, 1 / 10, 1 / 10, 1 / 10]),
    "two micro-batches of 4 and 6 tokens": ("dapo", 2, "mean", None, [1 / 8, 1 / 8, 1 / 12, 1 / 12]),
    "weighted by tokens": ("dapo", 2, "tokens", None, [1 / 10, 1 / 10, 1 / 10, 1 / 10]),
    "summed": ("dapo", 2, "sum", None, [1 / 4, 1 / 4, 1 / 6, 1 / 6]),
    "one completion each": ("dapo", 4, "mean", None, [1 / 4, 1 / 12, 1 / 8, 1 / 16]),
    "a mean over completions is not changed": ("grpo", 2, "mean", None, [1 / 4, 1 / 12, 1 / 8, 1 / 16]),
    "of 3 completions and of 1": ("grpo", [[0, 1, 2], [3]], "mean", None, [1 / 6, 1 / 18, 1 / 12, 1 / 8]),
    "their share in the completions": (
        "grpo",
        [[0, 1, 2], [3]],
        "completions",
        None,
        [1 / 4, 1 / 12, 1 / 8, 1 / 16],
    ),
    "by length: 1 and 2, 3 and 4": ("dapo", [[0, 2], [1, 3]], "mean", None, [1 / 6, 1 / 14, 1 / 6, 1 / 14]),
    "a constant length": ("dr_grpo", 2, "mean", 10, [1 / 40, 1 / 40, 1 / 40, 1 / 40]),
}


@pytest.mark.parametrize(("recipe", "parts", "across", "budget", "expected"), WEIGHTS.values(), ids=WEIGHTS)
def test_the_weights_are_those_worked_by_hand(recipe, parts, across, budget, expected):
    weights = effective_weights(recipe, MASK, micro_batches=parts, across=across, max_length=budget)
    np.testing.assert_allclose(weights, np.reshape(expected, (2, 2, 1)) * MASK, rtol=1e-12)


@pytest.mark.parametrize("recipe", ["grpo", "dapo", "dr_grpo", "gspo", "cispo"])
def test_the_weights_are_those_of_the_gradient_of_accumulated_micro_batches(recipe):
    rng = np.random.default_rng(0)
    log_probs, advantages = -rng.random(MASK.shape), rng.normal(size=LENGTHS.shape)
    reference = {"ref_log_probs": log_probs} if RECIPES[recipe].kl_coef else {}

    def gradient(rows, mask, weights=None):
        one = policy_loss(
            log_probs[rows],
            advantages[rows],
            mask[rows],
            recipe=recipe,
            **{k: v[rows] for k, v in reference.items()},
        )
        return one.gradient

    accumulated = np.concatenate([gradient(slice(i, i + 1), MASK) for i in (0, 1)]) / 2
    whole = gradient(slice(0, 2), MASK)
    ours = effective_weights(recipe, MASK, micro_batches=2)
    undivided = effective_weights(recipe, MASK)
    np.testing.assert_allclose(accumulated * undivided, whole * ours, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"micro_batches": 3}, "micro_batches: expected a divisor of the 4 completions, got 3"),
        ({"micro_batches": [[0, 1], [1, 2, 3]]}, "expected each completion from 0 to 3 exactly once"),
        ({"across": "ranks"}, "across: expected one of mean, completions, tokens, sum, got 'ranks'"),
        ({"mask": MASK[0]}, "expected three axes"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        effective_weights("dapo", **{"mask": MASK, **arguments})


PAPER = replace(DAPO, aggregate=slot(group_token_mean))


@pytest.mark.parametrize("parts", [1, 2, [[2, 3], [0, 1]]])
def test_a_micro_batch_of_whole_groups_keeps_the_weight_of_every_group(parts):
    """Groups of 4 and 6 tokens have half of the weight each, in one micro-batch as in two."""
    weights = effective_weights(PAPER, MASK, micro_batches=parts)
    np.testing.assert_allclose(weights, np.reshape([1 / 8, 1 / 8, 1 / 12, 1 / 12], (2, 2, 1)) * MASK)


@pytest.mark.parametrize("parts", [4, [[0, 2], [1, 3]], [[0], [1, 2, 3]]])
def test_a_mean_over_groups_needs_whole_groups(parts):
    with pytest.raises(ValueError, match="micro_batches: expected whole groups of 2 completions"):
        effective_weights(PAPER, MASK, micro_batches=parts)
