"""Traps: configurations of NeMo-RL with effects that their author is unlikely to expect."""

from grpo_ref.explain.settings import Settings
from grpo_ref.explain.trap import Trap


def _follows(s: Settings, key: str) -> bool:
    """Return the key of adv_estimator, or that of grpo if it is not given."""
    own = s[f"adv_estimator.{key}"]
    return bool(s[key] if own is None or isinstance(own, str) else own)


def _kl_nowhere(s: Settings) -> bool:
    weighs = s.use_kl_in_reward and s.reference_policy_kl_penalty != 0
    return bool(weighs and s["adv_estimator.name"] != "reinforce_plus_plus")


TRAPS = (
    Trap(
        "use_leave_one_out_baseline drops a group's only right answer",
        lambda s, given: s.use_dynamic_sampling and s.use_leave_one_out_baseline,
        "use_leave_one_out_baseline is true by default, and dynamic sampling then judges each completion"
        " by the spread of the others. In a group with one right answer, exactly that one is dropped,"
        " because the others are equally wrong. These stay, with an advantage of 0. In a group of two"
        " nothing stays. Set grpo.use_leave_one_out_baseline to false if use_dynamic_sampling is on.",
        "NeMo-RL grpo.py, dynamic_sampling; utils.py, calculate_baseline_and_std_per_prompt",
        {"use_dynamic_sampling": True},
        {"use_dynamic_sampling": True, "use_leave_one_out_baseline": False},
    ),
    Trap(
        "use_leave_one_out_baseline: the std excludes the completion",
        lambda s, given: (
            s["adv_estimator.name"] not in ("reinforce_plus_plus", "opd")
            and _follows(s, "normalize_rewards")
            and _follows(s, "use_leave_one_out_baseline")
            and not s.use_dynamic_sampling
        ),
        "Baseline and standard deviation are those of the other completions. For a group's only right"
        " answer, the others have no spread. With rewards of 0 and 1 nothing is then divided, and its"
        " advantage is 1 for any group size. With other rewards, a rounding error of float32 is left of"
        " the variance: one reward of 0.95 among seven of 0.35 gets an advantage of about 4000. The"
        " advantages of a group do not sum to 0. For GRPO as published, set use_leave_one_out_baseline to"
        " false.",
        "NeMo-RL utils.py, calculate_baseline_and_std_per_prompt; NeMo-RL PR #4161",
        {},
        {"use_leave_one_out_baseline": False},
    ),
    Trap(
        "use_dynamic_sampling keeps some groups with equal rewards",
        lambda s, given: s.use_dynamic_sampling,
        "The variance is a difference of two means in float32, and a group is dropped only if it is"
        " exactly 0. For rewards of 0 and 1 that works. For rewards such as 0.3 or 0.9, rounding leaves a"
        " spread of 1e-4, and some of these groups stay, with advantages of up to 3e-4.",
        "NeMo-RL utils.py, calculate_baseline_and_std_per_prompt; grpo.py, dynamic_sampling",
        {"use_dynamic_sampling": True, "use_leave_one_out_baseline": False},
        {"use_dynamic_sampling": False},
    ),
    Trap(
        "use_kl_in_reward removes the KL completely",
        lambda s, given: _kl_nowhere(s),
        "use_kl_in_reward removes the penalty from the loss for every estimator, but only"
        " reinforce_plus_plus adds it to its advantages. With grpo and gdpo there is no KL at all.",
        "NeMo-RL loss_functions.py, ClippedPGLossFn; advantage_estimator.py",
        {"use_kl_in_reward": True},
        {"use_kl_in_reward": True, "adv_estimator.name": "reinforce_plus_plus"},
    ),
    Trap(
        "reference_policy_kl_penalty is 0.01 by default",
        lambda s, given: s.reference_policy_kl_penalty == 0.01 and "reference_policy_kl_penalty" not in given,
        "reference_policy_kl_penalty is not set, so the loss has a KL to the reference with weight 0.01.",
        "NeMo-RL loss_functions.py, ClippedPGLossConfig",
        {},
        {"reference_policy_kl_penalty": 0.0},
    ),
    Trap(
        "use_importance_sampling_correction has no limit by itself",
        lambda s, given: (
            s.use_importance_sampling_correction and s.truncated_importance_sampling_type is None
        ),
        "use_importance_sampling_correction alone multiplies by the ratio of learner to sampler, however"
        " large it is. Only a non-finite ratio counts as 0. Set truncated_importance_sampling_type and its"
        " bounds.",
        "NeMo-RL loss_functions.py, ClippedPGLossFn",
        {"use_importance_sampling_correction": True},
        {
            "use_importance_sampling_correction": True,
            "truncated_importance_sampling_type": "tis",
            "truncated_importance_sampling_ratio": 2.0,
        },
    ),
    Trap(
        "sequence_level_importance_ratios multiplies the token ratios",
        lambda s, given: s.use_importance_sampling_correction and s.sequence_level_importance_ratios,
        "With sequence_level_importance_ratios the weight against the sampler is the product over the"
        " completion, while the ratio of the clip is its geometric mean. In a long completion the weight"
        " is far from 1.",
        "NeMo-RL loss_functions.py, ClippedPGLossFn",
        {
            "use_importance_sampling_correction": True,
            "sequence_level_importance_ratios": True,
            "token_level_loss": False,
        },
        {"use_importance_sampling_correction": True, "token_level_loss": False},
    ),
    Trap(
        "ratio_clip_min and ratio_clip_max are too large for sequence_level_importance_ratios",
        lambda s, given: (
            s.sequence_level_importance_ratios
            and not (s.force_on_policy_ratio or s.disable_ppo_ratio)
            and s.ratio_clip_min >= 0.01
        ),
        "The ratio of a sequence is a geometric mean, which hardly changes. The default, 0.2, never clips"
        " it. GSPO's paper uses 0.0003 and 0.0004.",
        "NeMo-RL loss_functions.py, ClippedPGLossFn; Zheng et al. 2025, GSPO (arXiv:2507.18071)",
        {"sequence_level_importance_ratios": True, "token_level_loss": False},
        {
            "sequence_level_importance_ratios": True,
            "token_level_loss": False,
            "ratio_clip_min": 3e-4,
            "ratio_clip_max": 4e-4,
        },
    ),
    Trap(
        "positive_example_nll_weight has no effect in GRPO",
        lambda s, given: s.positive_example_nll_weight > 0.0,
        "positive_example_nll_weight adds the likelihood of right answers only if the batch holds"
        " rewards. GRPO does not put them there, so nothing is added.",
        "NeMo-RL loss_functions.py, ClippedPGLossFn; grpo.py, grpo_train",
        {"positive_example_nll_weight": 0.1},
        {"positive_example_nll_weight": 0.0},
    ),
    Trap(
        "stop_properly_penalty_coef disables the overlong buffer",
        lambda s, given: (
            s["reward_shaping.enabled"]
            and s["reward_shaping.stop_properly_penalty_coef"] is not None
            and any(key.startswith("reward_shaping.overlong_buffer") for key in given)
        ),
        "With stop_properly_penalty_coef the keys of the overlong buffer are not read.",
        "NeMo-RL reward_functions.py, apply_reward_shaping",
        {
            "reward_shaping.enabled": True,
            "reward_shaping.stop_properly_penalty_coef": 0.5,
            "reward_shaping.overlong_buffer_length": 256,
        },
        {"reward_shaping.enabled": True, "reward_shaping.stop_properly_penalty_coef": 0.5},
    ),
    Trap(
        "stop_properly_penalty_coef rewards truncation below 0",
        lambda s, given: (
            s["reward_shaping.enabled"]
            and s["reward_shaping.stop_properly_penalty_coef"] is not None
            and s["reward_scaling.enabled"]
            and s["reward_scaling.target_min"] < 0
        ),
        "stop_properly_penalty_coef multiplies the reward, which moves rewards below 0 closer to 0. A"
        " wrong answer that is truncated is penalized less than a wrong answer that ended.",
        "NeMo-RL reward_functions.py, apply_reward_shaping",
        {
            "reward_shaping.enabled": True,
            "reward_shaping.stop_properly_penalty_coef": 0.5,
            "reward_scaling": {"enabled": True, "target_min": -1.0},
        },
        {
            "reward_shaping.enabled": True,
            "reward_shaping.stop_properly_penalty_coef": 0.5,
            "reward_scaling": {"enabled": True},
        },
    ),
    Trap(
        "reward_shaping has no effect with gdpo",
        lambda s, given: s["adv_estimator.name"] == "gdpo" and s["reward_shaping.enabled"],
        "gdpo compares the rewards of the criteria. reward_shaping changes only their total.",
        "NeMo-RL reward_functions.py; advantage_estimator.py, GDPOAdvantageEstimator",
        {"adv_estimator.name": "gdpo", "reward_shaping.enabled": True},
        {"adv_estimator.name": "gdpo"},
    ),
)
"""The traps, in the order in which they are reported."""
