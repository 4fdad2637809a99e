"""Traps: configurations of slime with effects that their author is unlikely to expect."""

from grpo_ref.explain.dialects.slime.refusals import MISMATCH
from grpo_ref.explain.settings import Settings
from grpo_ref.explain.trap import Trap

BY_GROUP = ("grpo", "gspo", "cispo")
ICEPOP = {"custom_tis_function_path": "slime.backends.megatron_utils.loss.icepop_function"}


def _is_stale(s: Settings) -> bool:
    """Return true if completions come from older weights than those that are trained."""
    return bool(s.train_async or "fully_async" in s.rollout_function_path)


def _compares_with_sampler(s: Settings) -> bool:
    """Return true if the loss compares the policy with the weights that sampled, by weights or by the ratio."""
    return bool(s.use_tis or s.use_rollout_logprobs or s.keep_old_actor or s.get_mismatch_metrics)


TRAPS = (
    Trap(
        "train_async.py and fully_async: completions are stale, and nothing corrects it",
        lambda s, given: _is_stale(s) and not _compares_with_sampler(s),
        "train_async.py samples the next rollout while it trains, and fully_async keeps completions from several"
        " versions of the weights. But the old log-probabilities are computed with the current weights just before the"
        " update, so the ratio starts at 1 and does not see the age of a completion. Add use_tis for weights against"
        " the sampler, or use_rollout_logprobs to take the ratio against it.",
        "slime train_async.py; rollout/fully_async_rollout.py; megatron_utils/actor.py, train_actor",
        {"train_async": True, "n_samples_per_prompt": 8},
        {"train_async": False, "n_samples_per_prompt": 8},
    ),
    Trap(
        "eps_clip_c is accepted and has no effect",
        lambda s, given: (
            s.eps_clip_c is not None and not s.dual_clip_is_passed and s.advantage_estimator != "cispo"
        ),
        "eps_clip_c is read and checked, but it is never passed to the loss. There is no dual clip before slime of"
        " August 2026.",
        "slime #2247; loss.py, policy_loss_function",
        {"eps_clip_c": 3.0},
        {"eps_clip_c": None},
        release="2026-07",
    ),
    Trap(
        "calculate_per_token_loss multiplies the loss by a number that depends on the batch",
        lambda s, given: s.calculate_per_token_loss and s.token_mean_is_scaled,
        "With calculate_per_token_loss, the mean over tokens is multiplied by micro-batches times ranks divided by"
        " global_batch_size, as if it were a mean over completions. slime of December 2025 mends it.",
        "slime #987 and #990; loss.py, loss_function",
        {"calculate_per_token_loss": True},
        {"calculate_per_token_loss": False},
        release="2025-11",
    ),
    Trap(
        "kl_coef counts masked tokens in reinforce_plus_plus",
        lambda s, given: (
            s.kl_coef != 0.0
            and s.advantage_estimator == "reinforce_plus_plus"
            and s.returns_count_masked_tokens
        ),
        "The returns contain the KL of every token of a response, including masked ones such as the output of tools."
        " slime of January 2026 masks them.",
        "slime #1372; ppo_utils.py, get_reinforce_plus_plus_returns",
        {"kl_coef": 0.01, "advantage_estimator": "reinforce_plus_plus", "normalize_advantages": True},
        {"kl_coef": 0.0, "advantage_estimator": "reinforce_plus_plus", "normalize_advantages": True},
        release="2025-12",
    ),
    Trap(
        "kl_coef has no effect with this estimator",
        lambda s, given: s.kl_coef != 0.0 and s.advantage_estimator in BY_GROUP,
        "kl_coef is meant to subtract a KL from the reward, but grpo, gspo and cispo use only the shape"
        " of the KL. It costs a pass of the reference and changes nothing. Use use_kl_loss with"
        " kl_loss_coef.",
        "slime ppo_utils.py, get_grpo_returns; loss.py, compute_advantages_and_returns",
        {"kl_coef": 0.01, "n_samples_per_prompt": 8},
        {
            "kl_coef": 0.01,
            "advantage_estimator": "reinforce_plus_plus_baseline",
            "normalize_advantages": True,
            "n_samples_per_prompt": 8,
        },
    ),
    Trap(
        "kl_loss_coef needs use_kl_loss",
        lambda s, given: s.kl_loss_coef != 0.0 and not s.use_kl_loss,
        "kl_loss_coef has no effect without use_kl_loss: there is no penalty in the loss.",
        "slime loss.py, policy_loss_function",
        {"kl_loss_coef": 0.001},
        {"kl_loss_coef": 0.001, "use_kl_loss": True},
    ),
    Trap(
        "use_kl_loss is on, but kl_loss_coef is 0",
        lambda s, given: s.use_kl_loss and s.kl_loss_coef == 0.0,
        "use_kl_loss loads a reference and logs kl_loss, but kl_loss_coef is 0. The KL is measured and"
        " does not change the training.",
        "slime loss.py, policy_loss_function",
        {"use_kl_loss": True},
        {"use_kl_loss": True, "kl_loss_coef": 0.001},
    ),
    Trap(
        "kl_loss_type=k1 has an expected gradient of zero",
        lambda s, given: (
            s.use_kl_loss and s.kl_loss_coef != 0.0 and s.kl_loss_type == "k1" and not s.use_unbiased_kl
        ),
        "kl_loss_type is k1 by default. Its gradient is that of the log-probability, which averages to 0"
        " and does not depend on the reference. Use k2, low_var_kl or use_unbiased_kl.",
        "slime ppo_utils.py, compute_approx_kl",
        {"use_kl_loss": True, "kl_loss_coef": 0.001},
        {"use_kl_loss": True, "kl_loss_coef": 0.001, "kl_loss_type": "low_var_kl"},
    ),
    Trap(
        "n_samples_per_prompt is 1: every advantage is 0",
        lambda s, given: (
            (s.n_samples_per_prompt == 1 or "n_samples_per_prompt" not in given)
            and s.advantage_estimator in (*BY_GROUP, "reinforce_plus_plus_baseline")
            and s.rewards_normalization
            and not s.disable_rewards_normalization
        ),
        "n_samples_per_prompt is 1 in slime by default. A completion is then compared with itself, and"
        " its advantage is 0.",
        "slime rollout.py, _post_process_rewards; arguments.py",
        {},
        {"n_samples_per_prompt": 8},
    ),
    Trap(
        "eps_clip is a lower bound of cispo's weight",
        lambda s, given: s.advantage_estimator == "cispo" and s.eps_clip < 1.0,
        "eps_clip is also the lower bound of cispo's weight, 0.8 by default. CISPO as published has no"
        " lower bound. Set eps_clip to 1, and eps_clip_high to the amount by which the weight may exceed"
        " 1.",
        "slime arguments.py, slime_validate_args; ppo_utils.py, compute_cispo_loss",
        {"advantage_estimator": "cispo", "n_samples_per_prompt": 8},
        {"advantage_estimator": "cispo", "eps_clip": 1.0, "eps_clip_high": 4.0, "n_samples_per_prompt": 8},
    ),
    Trap(
        "eps_clip_c is ignored by cispo",
        lambda s, given: s.advantage_estimator == "cispo" and s.eps_clip_c is not None,
        "cispo does not read eps_clip_c. Only eps_clip and eps_clip_high limit its weight.",
        "slime loss.py, policy_loss_function",
        {"advantage_estimator": "cispo", "eps_clip_c": 3.0},
        {"advantage_estimator": "grpo", "eps_clip_c": 3.0},
    ),
    Trap(
        "eps_clip is PPO's, far too large for gspo",
        lambda s, given: s.advantage_estimator == "gspo" and s.eps_clip >= 0.1,
        "gspo's ratio is a mean over the completion and hardly leaves 1. With an eps_clip of 0.2, the"
        " default, nothing is ever clipped. The paper's widths are 3e-4 and 4e-4.",
        "slime ppo_utils.py, compute_gspo_kl; arXiv:2507.18071",
        {"advantage_estimator": "gspo"},
        {"advantage_estimator": "gspo", "eps_clip": 3e-4, "eps_clip_high": 4e-4},
    ),
    Trap(
        "get_mismatch_metrics also changes the loss",
        lambda s, given: s.get_mismatch_metrics and not s.use_tis and s.custom_tis_function_path != MISMATCH,
        "get_mismatch_metrics calls the function of custom_tis_function_path, and the loss that it"
        " returns is trained, even without use_tis.",
        "slime loss.py, policy_loss_function",
        {"get_mismatch_metrics": True} | ICEPOP,
        {"get_mismatch_metrics": True, "use_tis": True} | ICEPOP,
    ),
    Trap(
        "tis_batch_normalize depends on the micro-batch",
        lambda s, given: s.use_tis and s.custom_tis_function_path == MISMATCH and s.tis_batch_normalize,
        "tis_batch_normalize divides the weights by their mean over a micro-batch. The weight of a token"
        " changes with micro_batch_size or max_tokens_per_gpu. The description here holds if one"
        " micro-batch is the step.",
        "slime examples/train_infer_mismatch_helper/mis.py, compute_mis_weights",
        {"use_tis": True, "custom_tis_function_path": MISMATCH},
        {"use_tis": True, "custom_tis_function_path": MISMATCH, "tis_batch_normalize": False},
    ),
    Trap(
        "normalize_advantages standardizes a second time",
        lambda s, given: s.normalize_advantages and s.advantage_estimator in BY_GROUP,
        "normalize_advantages standardizes, over all tokens of the rollout, advantages that were already"
        " standardized in their group. Long completions weigh more in the average, and a group's advantages"
        " do not sum to 0.",
        "slime loss.py, compute_advantages_and_returns",
        {"normalize_advantages": True},
        {"normalize_advantages": False},
    ),
    Trap(
        "disable_grpo_std_normalization is only half of Dr. GRPO",
        lambda s, given: (
            (s.disable_grpo_std_normalization or not s.grpo_std_normalization)
            and s.advantage_estimator in BY_GROUP
            and not s.calculate_per_token_loss
        ),
        "disable_grpo_std_normalization only omits the division by the spread. Each completion's tokens"
        " are still divided by its length, and no flag replaces the length by a constant.",
        "slime arguments.py; cp_utils.py, get_sum_of_sample_mean",
        {"disable_grpo_std_normalization": True},
        {"disable_grpo_std_normalization": True, "calculate_per_token_loss": True},
    ),
)
"""The traps, in the order in which they are reported."""
