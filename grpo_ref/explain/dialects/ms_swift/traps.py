"""Traps: configurations of ms-swift with effects that their author is unlikely to expect."""

from grpo_ref.explain.dialects.ms_swift.refusals import OVER_ALL, has_overlong
from grpo_ref.explain.settings import Settings
from grpo_ref.explain.trap import Trap

CLIPPING = ("grpo", "bnpo", "dr_grpo", "dapo", "fipo")
"""Loss types that clip the ratio as PPO does."""
NOT_IN_REAL = {
    *(
        "epsilon",
        "epsilon_high",
        "delta",
        "scale_rewards",
        "importance_sampling_level",
        "top_entropy_quantile",
    ),
    "rollout_importance_sampling_mode",
}
"""Arguments that REAL does not read."""
REAL = {"loss_type": "real", "per_device_train_batch_size": 8}
VLLM = {"use_vllm": True, "vllm_mode": "colocate"}
MODE = {"rollout_importance_sampling_mode": "token_truncate"}


def _corrects(s: Settings) -> bool:
    """Return true if the sampler's mismatch is corrected."""
    return s.use_vllm and s.rollout_importance_sampling_mode is not None and s.loss_type != "real"


def _steps(s: Settings) -> int:
    """Return the number by which dapo, cispo and fipo are divided again."""
    steps: int = (s.gradient_accumulation_steps or 1) * s.sequence_parallel_size
    return steps


def _longest(s: Settings) -> int:
    """Return the length from which soft_overlong is below -1."""
    longest: int = s.max_completion_length if s.soft_max_length is None else s.soft_max_length
    return longest


def _in_loss(s: Settings) -> bool:
    return s.beta != 0.0 and not s.kl_in_reward


TRAPS = (
    Trap(
        "beta is 0.04 by default",
        lambda s, given: s.beta == 0.04 and "beta" not in given,
        "beta is 0.04 for grpo by default, so a reference model is loaded and there is a penalty. In TRL"
        " it is 0. Set beta to 0 to have none.",
        "ms-swift rlhf_args.py, _init_grpo",
        {},
        {"beta": 0.0},
    ),
    Trap(
        "kl_in_reward is on by default with this estimator",
        lambda s, given: s.kl_in_reward and s.beta != 0.0 and "kl_in_reward" not in given,
        "With rloo and reinforce_plus_plus, the KL of a completion, summed over its tokens, is subtracted"
        " from its reward, and the loss has no penalty, unless kl_in_reward is False. A long completion is"
        " penalized more.",
        "ms-swift rlhf_args.py, _init_grpo",
        {"advantage_estimator": "rloo"},
        {"advantage_estimator": "rloo", "kl_in_reward": False},
    ),
    Trap(
        "rollout_importance_sampling_mode needs use_vllm",
        lambda s, given: not s.use_vllm and s.rollout_importance_sampling_mode is not None,
        "Only vLLM reports log-probabilities that can be corrected. Without use_vllm,"
        " rollout_importance_sampling_mode does nothing.",
        "ms-swift rollout_mixin.py, _prepare_rollout_params",
        MODE,
        MODE | VLLM,
    ),
    Trap(
        "rollout_importance_sampling_mode also weights the penalty",
        lambda s, given: _corrects(s) and _in_loss(s) and not s.use_liger_kernel,
        "The whole loss of a token, including the penalty, is multiplied by the weight for the sampler's"
        " mismatch. Excluded tokens are not pulled to the reference. TRL adds the penalty afterwards.",
        "ms-swift grpo_trainer.py, _compute_loss_and_metrics",
        MODE | VLLM,
        MODE | VLLM | {"beta": 0.0},
    ),
    Trap(
        "rollout_importance_sampling_mode=sequence_mask weights by token",
        lambda s, given: _corrects(s) and s.rollout_importance_sampling_mode == "sequence_mask",
        "sequence_mask excludes completions by the geometric mean of their ratios. In the others, each"
        " token's weight is its own ratio, without a limit. In TRL the weight is the product of all"
        " ratios.",
        "ms-swift grpo_trainer.py, _apply_rollout_importance_sampling",
        VLLM | {"rollout_importance_sampling_mode": "sequence_mask"},
        VLLM | {"rollout_importance_sampling_mode": "token_mask"},
    ),
    Trap(
        "gradient_accumulation_steps divides this loss a second time",
        lambda s, given: (
            s.divides_twice and not s.use_liger_kernel and s.loss_type in OVER_ALL and _steps(s) > 1
        ),
        "dapo, cispo and fipo divide by the tokens of the whole generation batch, and each micro-batch is"
        " divided by their number once more. With gradient_accumulation_steps=8 the step is an eighth of"
        " the mean over tokens, while grpo's has full size. Only Adam, or a limit of the gradient's norm,"
        " hides this. It is so from 3.11 to 4.5.3; 4.6.0 mends it.",
        "ms-swift #10117; grpo_trainer.py, num_items_in_batch; transformers Trainer.training_step",
        {"loss_type": "dapo", "gradient_accumulation_steps": 8},
        {"loss_type": "bnpo", "gradient_accumulation_steps": 8},
        release="4.5.3",
    ),
    Trap(
        "steps_per_generation divides this loss",
        lambda s, given: (
            s.loss_type in OVER_ALL
            and not s.use_liger_kernel
            and (s.steps_per_generation or 1) > (s.gradient_accumulation_steps or 1)
        ),
        "dapo, cispo and fipo divide by the tokens of the whole generation batch, also if it is cut into"
        " several steps. With steps_per_generation=8 and gradient_accumulation_steps=2, each step has a"
        " quarter of the size that it would have as a mean over its own tokens.",
        "ms-swift grpo_trainer.py, num_items_in_batch",
        {"loss_type": "dapo", "gradient_accumulation_steps": 2, "steps_per_generation": 8},
        {"loss_type": "dapo", "gradient_accumulation_steps": 2, "steps_per_generation": 2},
    ),
    Trap(
        "loss_type=bnpo averages over each micro-batch",
        lambda s, given: s.loss_type == "bnpo" and _steps(s) > 1,
        "bnpo divides by the tokens of each micro-batch, and the step is the mean over micro-batches. A"
        " token counts more among short completions.",
        "ms-swift grpo_trainer.py, _compute_loss_and_metrics",
        {"loss_type": "bnpo", "gradient_accumulation_steps": 4},
        {"loss_type": "bnpo"},
    ),
    Trap(
        "overlong_filter has no effect with use_liger_kernel",
        lambda s, given: s.use_liger_kernel and s.overlong_filter,
        "The mask of truncated completions is applied in ms-swift's own loss. Liger's loss gets the mask of all"
        " completions, so truncated ones are trained on.",
        "ms-swift grpo_trainer.py, compute_liger_loss",
        {"use_liger_kernel": True, "overlong_filter": True},
        {"overlong_filter": True},
    ),
    Trap(
        "loss_type=dr_grpo still divides by the std",
        lambda s, given: s.loss_type == "dr_grpo" and s.scale_rewards not in ("none", "gdpo"),
        "dr_grpo changes only the denominator of the loss. The advantages are still divided by the std."
        " For Dr. GRPO set scale_rewards to none as well.",
        "ms-swift advantage.py; Liu et al. 2025 (arXiv:2503.20783)",
        {"loss_type": "dr_grpo"},
        {"loss_type": "dr_grpo", "scale_rewards": "none"},
    ),
    Trap(
        "epsilon is PPO's, far too large for GSPO",
        lambda s, given: (
            s.importance_sampling_level != "token" and s.loss_type in CLIPPING and s.epsilon >= 0.01
        ),
        "The ratio of a sequence is a geometric mean and hardly leaves 1: the paper clips at 3e-4 and"
        " 4e-4. An epsilon hundreds of times larger never clips anything.",
        "Zheng et al. 2025, GSPO (arXiv:2507.18071)",
        {"importance_sampling_level": "sequence"},
        {"importance_sampling_level": "sequence", "epsilon": 3e-4, "epsilon_high": 4e-4},
    ),
    Trap(
        "epsilon_high is CISPO's cap, not an offset from 1",
        lambda s, given: (
            s.loss_type == "cispo" and (s.epsilon if s.epsilon_high is None else s.epsilon_high) <= 1.0
        ),
        "epsilon_high is the cap of the weight itself, not an offset from 1. By default it is epsilon ="
        " 0.2. A cap of 1 or less shrinks every weight of fresh data, which is 1. ScaleRL's cap is 5.",
        "ms-swift grpo_trainer.py, cispo",
        {"loss_type": "cispo"},
        {"loss_type": "cispo", "epsilon_high": 5.0},
    ),
    Trap(
        "epsilon, epsilon_high and delta are ignored by SAPO",
        lambda s, given: s.loss_type == "sapo" and bool({"epsilon", "epsilon_high", "delta"} & given),
        "SAPO has no clip and does not read epsilon, epsilon_high and delta.",
        "ms-swift grpo_trainer.py, sapo",
        {"loss_type": "sapo", "epsilon_high": 0.28},
        {"loss_type": "sapo", "tau_neg": 1.1},
    ),
    Trap(
        "loss_type=real ignores the clip, the level and scale_rewards",
        lambda s, given: s.loss_type == "real" and bool(NOT_IN_REAL & given),
        "REAL reads the sign of an advantage and the mean log-ratio of a completion. It ignores the clip,"
        " the level, the entropy mask and the weights for the sampler, and sets scale_rewards to none.",
        "ms-swift grpo_trainer.py, real; rlhf_args.py, _init_grpo",
        REAL | {"epsilon_high": 0.28},
        REAL | {"real_tau": 0.25},
    ),
    Trap(
        "per_device_train_batch_size does not hold whole groups",
        lambda s, given: s.loss_type == "real" and s.per_device_train_batch_size is None,
        "REAL compares whole groups, so a micro-batch must hold a multiple of num_generations"
        " completions. Otherwise training stops. per_device_train_batch_size is 1 by default.",
        "ms-swift grpo_trainer.py, real",
        {"loss_type": "real"},
        REAL,
    ),
    Trap(
        "loss_type=real: masked completions count as bad",
        lambda s, given: (
            s.loss_type == "real" and (s.overlong_filter or s.off_policy_sequence_mask_delta is not None)
        ),
        "With loss_type=real, a completion that is masked out stays in its group as a bad one with a"
        " score of 0, and flattens the gradient of the other bad ones.",
        "ms-swift grpo_trainer.py, real",
        REAL | {"overlong_filter": True},
        REAL,
    ),
    Trap(
        "scale_rewards=gdpo only centers, with reinforce_plus_plus",
        lambda s, given: s.scale_rewards == "gdpo" and s.advantage_estimator == "reinforce_plus_plus",
        "reinforce_plus_plus knows only batch and group. With scale_rewards=gdpo, the weighted sum of the"
        " rewards is only centered in its group.",
        "ms-swift advantage.py, compute_advantages",
        {"scale_rewards": "gdpo", "advantage_estimator": "reinforce_plus_plus"},
        {"scale_rewards": "gdpo"},
    ),
    Trap(
        "scale_rewards=gdpo turns kl_in_reward off",
        lambda s, given: (
            s.scale_rewards == "gdpo" and s.kl_in_reward and s.beta != 0.0 and s.loss_type != "real"
        ),
        "With scale_rewards=gdpo, kl_in_reward is set to False, with a warning in the log. So the penalty"
        " is in the loss.",
        "ms-swift grpo_trainer.py, _prepare_algorithm_params",
        {"scale_rewards": "gdpo", "kl_in_reward": True},
        {"scale_rewards": "gdpo"},
    ),
    Trap(
        "max_resample_times: the filter gives up",
        lambda s, given: s.dynamic_sample,
        "If too few groups with different rewards are found in max_resample_times attempts (3 by"
        " default), the first batch is used, including its groups with equal rewards.",
        "ms-swift grpo_trainer.py, _dynamic_sampling",
        {"dynamic_sample": True},
        {"dynamic_sample": False},
    ),
    Trap(
        "overlong_filter keeps the denominator",
        lambda s, given: (
            s.overlong_filter and not s.use_liger_kernel and s.loss_type in ("grpo", "sapo", "dr_grpo")
        ),
        "A mean over completions still counts the completions that overlong_filter excludes, as zeros."
        " The more there are, the smaller the step.",
        "ms-swift grpo_trainer.py, _compute_loss_and_metrics",
        {"overlong_filter": True},
        {"overlong_filter": True, "loss_type": "bnpo"},
    ),
    Trap(
        "soft_max_length is below max_completion_length: no floor",
        lambda s, given: has_overlong(s.reward_funcs) and _longest(s) < s.max_completion_length,
        "soft_overlong falls below -1 beyond soft_max_length, which is less than max_completion_length"
        " here. DAPO's penalty stays at -1.",
        "ms-swift orm.py, SoftOverlong",
        {
            "reward_funcs": ["accuracy", "soft_overlong"],
            "soft_cache_length": 64,
            "soft_max_length": 256,
        },
        {
            "reward_funcs": ["accuracy", "soft_overlong"],
            "soft_cache_length": 64,
            "soft_max_length": 512,
        },
    ),
    Trap(
        "epsilon has no effect: each batch is used once",
        lambda s, given: (
            s.loss_type in CLIPPING
            and bool({"epsilon", "epsilon_high"} & given)
            and s.num_iterations == 1
            and s.generation_batch_size is None
            and s.steps_per_generation in (None, s.gradient_accumulation_steps)
        ),
        "Each batch is used for one step, so every ratio is 1 and the clip never acts. It acts with"
        " num_iterations > 1 or steps_per_generation > gradient_accumulation_steps. async_generate samples"
        " with older weights, but that does not matter: the old log-probabilities are recomputed.",
        "ms-swift grpo_trainer.py, _prepare_batch_inputs",
        {"epsilon": 0.1},
        {"epsilon": 0.1, "num_iterations": 2},
    ),
    Trap(
        "router_aux_loss_coef is ignored",
        lambda s, given: "router_aux_loss_coef" in given,
        "The loss of grpo does not read router_aux_loss_coef. The loss of supervised training does.",
        "ms-swift grpo_trainer.py, compute_loss",
        {"router_aux_loss_coef": 0.01},
        {},
    ),
)
"""The traps, in the order in which they are reported."""
