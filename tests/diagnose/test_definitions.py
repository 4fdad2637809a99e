"""The definitions of the metrics, compared with what trainers logged for recorded batches.

The formulas here are those of the definitions. The numbers were logged by the trainers' own code.
"""

from collections.abc import Mapping

import numpy as np
import pytest

from grpo_ref.diagnose.log import quantities, trainers
from grpo_ref.parity.replay import RECORDINGS, read, record_of


def k3(r):
    """Return r - 1 - log r for the ratio of the reference to the policy."""
    return np.exp(r.ref_log_probs - r.log_probs) - (r.ref_log_probs - r.log_probs) - 1.0


# quantity -> its values, (P, G, T) over tokens or (P, G) over completions
VALUES = {
    "kl": k3,
    "entropy": lambda r: r.entropies,
    "old_kl": lambda r: r.old_log_probs - r.log_probs,
    "sampler.gap.mean": lambda r: abs(r.old_log_probs - r.rollout_log_probs),
    "sampler.k1": lambda r: r.rollout_log_probs - r.old_log_probs,
    "sampler.k3": lambda r: np.exp(d := r.old_log_probs - r.rollout_log_probs) - d - 1.0,
    "sampler.chi2": lambda r: np.exp(2.0 * (r.old_log_probs - r.rollout_log_probs)) - 1.0,
    "reward": lambda r: r.rewards,
    "dead_share": lambda r: np.ptp(r.rewards, axis=-1) == 0.0,
}
# what a definition says of the mean -> the mean of the values that the mask selects
MEANS = {
    "tokens": lambda x, mask: (x * mask).sum() / mask.sum(),
    "tokens, weighted by the ratio if use_bias_correction_kl is true": lambda x, mask: (
        (x * mask).sum() / mask.sum()
    ),
    "completions": lambda x, mask: x.mean(),
    "groups": lambda x, mask: x.mean(),
}
# loss_agg_mode of verl -> the average of the loss
AS_IN_THE_LOSS = {
    "token-mean": MEANS["tokens"],
    "seq-mean-token-mean": lambda x, mask: ((x * mask).sum(-1) / mask.sum(-1)).mean(),
    "seq-mean-token-sum": lambda x, mask: (x * mask).sum(-1).mean(),
}
# keys of configurations that do not change what a metric is, with their values if only these do not
PLAIN = {
    "trl": {
        "loss_type": {"grpo", "bnpo", "dr_grpo", "dapo"},
        "importance_sampling_level": {"token"},
        "use_bias_correction_kl": {False},
        "scale_rewards": {"group", "none"},
        "num_generations": None,
        "epsilon": None,
        "epsilon_high": None,
        "beta": None,
        "use_vllm": None,
        "vllm_importance_sampling_mode": None,
        "vllm_importance_sampling_clip_max": None,
        "vllm_importance_sampling_clip_min": None,
    },
    "verl": {
        "loss_mode": {"vanilla"},
        "loss_agg_mode": set(AS_IN_THE_LOSS),
        "kl_loss_type": {"low_var_kl"},
        "clip_ratio_low": None,
        "clip_ratio_high": None,
        "clip_ratio_c": None,
        "use_kl_loss": None,
        "kl_loss_coef": None,
        "entropy_coeff": None,
        "rollout_is": None,
        "rollout_is_threshold": None,
    },
}


def is_plain(trainer: str, config: Mapping[str, object]) -> bool:
    allowed = PLAIN[trainer]
    return all(
        key in allowed and (not allowed[key] or value in allowed[key]) for key, value in config.items()
    )


def logged(trainer, metric):
    """Yield the recorded value of a metric and the one of its definition, for each recorded batch."""
    names = trainers()[trainer]
    quantity = names.quantity(metric)
    over = names.over.get(quantity, quantities()[quantity].over)
    for path in (RECORDINGS / f"{trainer}.json", RECORDINGS / "by_hand" / f"{trainer}.json"):
        inputs, cases = read(path)
        for case in cases:
            if metric not in case.get("metrics", {}) or not is_plain(trainer, case["config"]):
                continue
            record = record_of(case, {**inputs, **case.get("inputs", {})})
            mean = MEANS.get(over) or AS_IN_THE_LOSS[case["config"].get("loss_agg_mode", "token-mean")]
            if hasattr(record, "old_log_probs") and quantity == "kl" and trainer == "trl":
                if case["config"].get("use_bias_correction_kl") is not False:
                    continue  # each value has the weight of its ratio
            with np.errstate(over="ignore"):
                values = VALUES[quantity](record)
            arrays = [each for each in vars(record).values() if isinstance(each, np.ndarray)]
            is_usual = all(np.isfinite(each).all() and abs(each).max() < 100.0 for each in [*arrays, values])
            if is_usual and (record.mask.sum(-1) > 0.0).all() and record.mask.shape[-1] > 1:
                yield case["id"], float(case["metrics"][metric]), float(mean(values, record.mask))


@pytest.mark.parametrize(
    ("trainer", "metric", "least"),
    [
        ("trl", "kl", 5),
        ("trl", "entropy", 10),
        ("trl", "sampling/sampling_logp_difference/mean", 20),
        ("trl", "reward", 5),
        ("trl", "frac_reward_zero_std", 5),
        ("verl", "actor/ppo_kl", 10),
        ("verl", "actor/kl_loss", 3),
        ("verl", "actor/entropy_loss", 1),
        ("verl", "rollout_corr/kl", 5),
        ("verl", "rollout_corr/k3_kl", 5),
        ("verl", "rollout_corr/chi2_token", 5),
    ],
)
def test_a_definition_gives_the_number_that_the_trainer_logged(trainer, metric, least):
    rows = list(logged(trainer, metric))
    assert len(rows) >= least
    for name, recorded, ours in rows:
        assert ours == pytest.approx(recorded, rel=1e-5, abs=1e-9), name


def test_every_definition_says_over_what_it_is_taken():
    plain = {"kl_coef", "tokens", "tokens_so_far", "generation_seconds", "step_seconds", "distinct_bigrams"}
    assert {name for name, quantity in quantities().items() if not quantity.over} == plain
