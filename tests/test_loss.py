"""The loss: what it refuses, and a penalty that has no weight."""

from dataclasses import replace

import numpy as np
import pytest

from grpo_ref import DR_GRPO, GRPO, policy_loss, slot

ONES = np.zeros((1, 2, 3)) - 1.0
GOOD = {"log_probs": ONES, "advantages": np.ones((1, 2)), "mask": np.ones((1, 2, 3)), "recipe": DR_GRPO}
WRONG = {
    "no reference": ({"recipe": GRPO}, r"ref_log_probs: this recipe has kl_coef=0.04 and needs a reference"),
    "mask of another shape": ({"mask": np.ones((1, 2))}, r"log_probs \(1, 2, 3\), mask \(1, 2\)"),
    "old of another shape": ({"old_log_probs": np.ones((1, 2, 4))}, r"old_log_probs \(1, 2, 4\)"),
    "advantages of another shape": (
        {"advantages": np.ones(2)},
        r"advantages: expected \(1, 2\), one per completion, or \(1, 2, 3\), one per token, got shape \(2,\)",
    ),
    "no group axis": (
        {"log_probs": ONES[0], "mask": np.ones((2, 3)), "advantages": np.ones(2)},
        r"log_probs: expected \(..., prompts, group, tokens\), got shape \(2, 3\)",
    ),
    "a metric that there is not": ({"metrics": ("ratio",)}, "metrics: no metric 'ratio'; "),
    "a kl to nothing": ({"metrics": ("kl",)}, "metrics: kl needs ref_log_probs"),
    "no budget": ({"max_length": 0}, "max_length: expected at least 1 token, got 0"),
}


@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=WRONG)
def test_policy_loss_names_what_is_wrong(change, message):
    with pytest.raises(ValueError, match=message):
        policy_loss(**GOOD | change)


def test_a_penalty_without_weight_stays_out_even_where_it_is_infinite():
    result = policy_loss(**GOOD, ref_log_probs=np.full((1, 2, 3), -np.inf))
    assert np.isfinite(result.loss)
    assert np.isfinite(result.gradient).all()
    assert np.isinf(result.metrics["kl"])
    assert "kl" not in policy_loss(**GOOD).metrics


@pytest.mark.parametrize("wanted", [(), ("kl",), ("ess", "ratio_min"), ("clip_high",)])
def test_metrics_can_be_asked_for(wanted):
    given = GOOD | {"old_log_probs": ONES - 0.3, "ref_log_probs": ONES - 0.1}
    whole, part = policy_loss(**given), policy_loss(**given, metrics=wanted)
    assert tuple(part.metrics) == wanted
    assert all(part.metrics[name] == whole.metrics[name] for name in wanted)
    assert part.loss == whole.loss


def test_a_penalty_that_nobody_asks_for_is_not_computed():
    def refuses(log_probs, ref_log_probs):
        raise AssertionError

    recipe = replace(DR_GRPO, penalty=slot(refuses))
    given = GOOD | {"recipe": recipe, "ref_log_probs": ONES}
    assert policy_loss(**given, metrics=("ess",)).metrics == {"ess": 1.0}
    with pytest.raises(AssertionError):
        policy_loss(**given)
