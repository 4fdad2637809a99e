"""Traps: configurations of NeMo-RL with effects that their author is unlikely to expect."""

from types import SimpleNamespace

from grpo_ref.explain.trap import Trap


def _follows(s: SimpleNamespace, key: str) -> bool:
    """Return the key of adv_estimator, or that of grpo if it is not given."""
    own = vars(s)[f"adv_estimator.{key}"]
    return bool(vars(s)[key] if own is None or isinstance(own, str) else own)


def _kl_nowhere(s: SimpleNamespace) -> bool:
    weighs = s.use_kl_in_reward and s.reference_policy_kl_penalty != 0
    return bool(weighs and vars(s)["adv_estimator.name"] != "reinforce_plus_plus")


TRAPS = (
    Trap(
        "The only right answer is thrown away",
        lambda s, given: s.use_dynamic_sampling and s.use_leave_one_out_baseline,
        "use_leave_one_out_baseline is true where it is left out, and dynamic sampling then judges each completion by"
        " the spread of the others: in a group with one right answer exactly that one is dropped, as the others are"
        " equally wrong, and these stay with an advantage of 0; in a group of two nothing stays. Set"
        " grpo.use_leave_one_out_baseline to false beside use_dynamic_sampling.",
        "NeMo-RL grpo.py, dynamic_sampling; utils.py, calculate_baseline_and_std_per_prompt",
        {"use_dynamic_sampling": True},
        {"use_dynamic_sampling": True, "use_leave_one_out_baseline": False},
    ),
    Trap(
        "A spread without the one that it divides",
        lambda s, given: (
            vars(s)["adv_estimator.name"] != "reinforce_plus_plus"
            and _follows(s, "normalize_rewards")
            and _follows(s, "use_leave_one_out_baseline")
            and not s.use_dynamic_sampling
        ),
        "Baseline and standard deviation are those of the other completions. The one right answer of a group has others"
        " without any spread, so nothing is divided and its advantage is 1, whatever the size of the group; and the"
        " advantages of a group do not sum to 0. Set use_leave_one_out_baseline to false for GRPO as it was published.",
        "NeMo-RL utils.py, calculate_baseline_and_std_per_prompt",
        {},
        {"use_leave_one_out_baseline": False},
    ),
    Trap(
        "Equal rewards that have a spread",
        lambda s, given: s.use_dynamic_sampling,
        "The variance is a difference of two means in float32, and a group of equal rewards is dropped only where it is"
        " exactly 0: with 0 and 1 it is, with rewards such as 0.3 or 0.9 rounding leaves a spread of 1e-4, and some of"
        " these groups stay, with advantages of up to 3e-4.",
        "NeMo-RL utils.py, calculate_baseline_and_std_per_prompt; grpo.py, dynamic_sampling",
        {"use_dynamic_sampling": True, "use_leave_one_out_baseline": False},
        {"use_dynamic_sampling": False},
    ),
    Trap(
        "A KL that is nowhere",
        lambda s, given: _kl_nowhere(s),
        "use_kl_in_reward takes the penalty out of the loss, whatever the estimator; only reinforce_plus_plus puts it into"
        " its advantages. With grpo and gdpo there is no KL at all.",
        "NeMo-RL loss_functions.py, ClippedPGLossFn; advantage_estimator.py",
        {"use_kl_in_reward": True},
        {"use_kl_in_reward": True, "adv_estimator.name": "reinforce_plus_plus"},
    ),
    Trap(
        "A penalty by default",
        lambda s, given: s.reference_policy_kl_penalty == 0.01 and "reference_policy_kl_penalty" not in given,
        "reference_policy_kl_penalty is 0.01 where it is left out, so the loss has a KL to the reference.",
        "NeMo-RL loss_functions.py, ClippedPGLossConfig",
        {},
        {"reference_policy_kl_penalty": 0.0},
    ),
    Trap(
        "Weights that are not limited",
        lambda s, given: (
            s.use_importance_sampling_correction and s.truncated_importance_sampling_type is None
        ),
        "use_importance_sampling_correction alone multiplies by the ratio of learner to sampler as it is, however large;"
        " only one that is no finite number counts as 0. Set truncated_importance_sampling_type and its bounds.",
        "NeMo-RL loss_functions.py, ClippedPGLossFn",
        {"use_importance_sampling_correction": True},
        {
            "use_importance_sampling_correction": True,
            "truncated_importance_sampling_type": "tis",
            "truncated_importance_sampling_ratio": 2.0,
        },
    ),
    Trap(
        "The product of a whole completion",
        lambda s, given: s.use_importance_sampling_correction and s.sequence_level_importance_ratios,
        "With sequence_level_importance_ratios the weight against the sampler is the product over the completion, while"
        " the ratio of the clip is its geometric mean: in a long completion the weight is far from 1.",
        "NeMo-RL loss_functions.py, ClippedPGLossFn",
        {
            "use_importance_sampling_correction": True,
            "sequence_level_importance_ratios": True,
            "token_level_loss": False,
        },
        {"use_importance_sampling_correction": True, "token_level_loss": False},
    ),
    Trap(
        "A weight that weighs nothing",
        lambda s, given: s.positive_example_nll_weight > 0.0,
        "positive_example_nll_weight adds the likelihood of right answers only where the batch holds rewards; GRPO puts"
        " none there, so nothing is added.",
        "NeMo-RL loss_functions.py, ClippedPGLossFn; grpo.py, grpo_train",
        {"positive_example_nll_weight": 0.1},
        {"positive_example_nll_weight": 0.0},
    ),
    Trap(
        "Two punishments of which one is read",
        lambda s, given: (
            vars(s)["reward_shaping.enabled"]
            and vars(s)["reward_shaping.stop_properly_penalty_coef"] is not None
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
        "A failure that pays",
        lambda s, given: (
            vars(s)["reward_shaping.enabled"]
            and vars(s)["reward_shaping.stop_properly_penalty_coef"] is not None
            and vars(s)["reward_scaling.enabled"]
            and vars(s)["reward_scaling.target_min"] < 0
        ),
        "stop_properly_penalty_coef multiplies the reward, and rewards below 0 come nearer to 0 by it: what was cut off"
        " and is wrong is punished less than what ended and is wrong.",
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
        "Shaping that does not reach the criteria",
        lambda s, given: vars(s)["adv_estimator.name"] == "gdpo" and vars(s)["reward_shaping.enabled"],
        "gdpo compares the rewards of the criteria; reward_shaping changes their total alone, so it has no effect.",
        "NeMo-RL reward_functions.py; advantage_estimator.py, GDPOAdvantageEstimator",
        {"adv_estimator.name": "gdpo", "reward_shaping.enabled": True},
        {"adv_estimator.name": "gdpo"},
    ),
)
"""The traps, in the order in which they are reported."""
