"""Level 4: releases by name. The loss of the library must agree with the recorded loss of each release."""

import re
from pathlib import Path

import numpy as np
import pytest
from grpo_conformance import assert_conforms, conforms

from grpo_ref import policy_loss
from grpo_ref.explain.dialects import DIALECTS

README = Path(__file__).parents[3] / "conformance" / "README.md"


def loss_of(trainer, release, **keys):
    """Return the library's loss of a release: what explain says that it computes."""
    recipe = DIALECTS[trainer].at(release).recipe(**keys)

    def loss(log_probs, old_log_probs, advantages, mask, group_size, max_length):
        shape = (-1, group_size, log_probs.shape[-1])
        result = policy_loss(
            log_probs.reshape(shape),
            advantages.reshape(shape[:2]),
            mask.reshape(shape),
            recipe=recipe,
            old_log_probs=old_log_probs.reshape(shape),
            max_length=max_length,
        )
        return float(result.loss), np.asarray(result.gradient).reshape(log_probs.shape)

    return loss


TRL = [
    ("0.17.0", {"loss_type": "grpo"}),
    ("0.22.2", {"loss_type": "bnpo"}),
    ("1.8.0", {"loss_type": "dapo"}),
    ("1.9.0", {"loss_type": "dapo", "epsilon_high": 0.28}),
    ("1.16.0", {"loss_type": "dr_grpo"}),
    ("1.16.0", {"loss_type": "grpo", "importance_sampling_level": "sequence"}),
]
VERL = [
    ("0.4.0", {"loss_agg_mode": "token-mean"}),
    ("0.7.0", {"loss_agg_mode": "seq-mean-token-sum"}),
    ("0.9.0", {"loss_mode": "gspo", "loss_agg_mode": "seq-mean-token-mean"}),
    ("0.9.1", {"loss_mode": "gspo", "loss_agg_mode": "token-mean"}),
]


@pytest.mark.parametrize(("release", "keys"), TRL)
def test_the_library_agrees_with_each_release_of_trl(release, keys):
    fixed = {"beta": 0.0, "num_generations": 4, "max_completion_length": 8}
    report = conforms(loss_of("trl", release, **fixed, **keys), f"trl=={release}", **keys)
    assert report.conforms, str(report)


@pytest.mark.parametrize(("release", "keys"), VERL)
def test_the_library_agrees_with_each_release_of_verl(release, keys):
    function = loss_of("verl", release, **keys)
    report = conforms(function, f"verl=={release}", only=has_no_empty_completion, **keys)
    assert report.conforms, str(report)


def has_no_empty_completion(vector):
    """From 0.6.1 on, verl's function alone does not count empty completions, and its engine does."""
    return bool(vector.inputs["mask"].any(axis=-1).all())


def test_a_change_between_two_releases_is_seen():
    """gspo is averaged by `loss_agg_mode` from verl 0.9.1 on, and before always by completion."""
    keys = {"loss_mode": "gspo", "loss_agg_mode": "token-mean"}
    newer = loss_of("verl", "0.9.1", **keys)
    assert conforms(newer, "verl==0.9.1", only=has_no_empty_completion, **keys).conforms
    assert not conforms(newer, "verl==0.9.0", only=has_no_empty_completion, **keys).conforms


@pytest.mark.parametrize(
    ("name", "keys", "message"),
    [
        ("trl==9.9", {}, "expected one of the releases 0.14.0, "),
        ("trl==1.9.0", {"loss_typ": "dapo"}, "unknown key 'loss_typ', did you mean 'loss_type'?"),
        (
            "trl==1.9.0",
            {"loss_type": "dapo", "beta": 0.3},
            "recorded for beta=0.3; recorded values: 0.04, 0.0",
        ),
        (
            "trl==0.14.0",
            {"epsilon": 0.1},
            "no recorded case sets 'epsilon'; the first release with such a case is 0.16.0",
        ),
        (
            "trl==1.9.0",
            {"num_generations": 4},
            "leave out 'num_generations'; every recorded loss is that of one micro-batch",
        ),
        (
            "roll==1.0",
            {},
            "releases were recorded as trl==RELEASE, verl==RELEASE; of roll one commit, as 'roll'",
        ),
    ],
)
def test_what_was_not_recorded_is_refused(name, keys, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        conforms(loss_of("trl", "1.16.0", num_generations=4), name, **keys)


def dapo(log_probs, old_log_probs, advantages, mask):
    """The loss of the README, with NumPy."""
    ratio, gain = np.exp(log_probs - old_log_probs), advantages[:, None]
    surrogate = np.minimum(ratio * gain, np.clip(ratio, 0.8, 1.28) * gain)
    return -(surrogate * mask).sum() / np.maximum(mask.sum(), 1.0)


@pytest.mark.parametrize(("name", "loss_type"), [("trl", "cispo"), ("trl==1.9.0", "dapo")])
def test_a_failure_names_the_keys_that_were_not_given(name, loss_type):
    """TRL's clip is 0.2 on both sides, unless `epsilon_high` is given."""
    assert conforms(dapo, name, loss_type="dapo", epsilon_high=0.28).conforms
    message = str(conforms(dapo, name, loss_type=loss_type))
    (line,) = [each for each in message.splitlines() if each.startswith("keys you did not give: ")]
    assert "epsilon=0.2, epsilon_high=None" in line
    assert "loss_type" not in line


def test_the_readme_gives_the_keys_of_its_loss():
    (call,) = re.findall(r"`assert_conforms\(my_loss, (\"trl==.*?)\)`", README.read_text())
    eval(f"assert_conforms(dapo, {call})", {"assert_conforms": assert_conforms, "dapo": dapo})
