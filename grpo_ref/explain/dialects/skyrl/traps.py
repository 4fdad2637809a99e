"""Traps: configurations of SkyRL with effects that their author is unlikely to expect."""

from typing import Any

from grpo_ref.explain.settings import Settings
from grpo_ref.explain.trap import Trap

LOSS = "SkyRL ppo_utils.py"
CORRECTION = "trainer.algorithm.off_policy_correction"
UNCORRECTED = ("clip_cov", "kl_cov", "importance_sampling")


def _corrects(s: Settings) -> bool:
    window = s.token_mask_is_threshold_low is not None and s.token_mask_is_threshold_high is not None
    return bool(s.use_tis or s.tis_ratio_type or s.sequence_mask_metric) or _outliers(s) or window


def _outliers(s: Settings) -> bool:
    return s.outlier_token_is_threshold_low is not None or s.outlier_token_is_threshold_high is not None


def _algorithm(**config: Any) -> dict[str, Any]:
    return {f"trainer.algorithm.{key}": value for key, value in config.items()}


TRAPS = (
    Trap(
        "use_kl_loss has no gradient",
        lambda s, given: s.use_kl_loss and s.kl_loss_coef > 0.0 and not s.kl_loss_has_gradient,
        "use_kl_loss is on by default, but the KL is computed under torch.no_grad. It is a number in the log and does"
        " not change the training. SkyRL of 2026-03-20 mends it; skyrl 0.1.0 and every skyrl_train release have it. Use"
        " use_kl_in_reward there.",
        "SkyRL #1353; ppo_utils.py, compute_approx_kl",
        {},
        _algorithm(use_kl_loss=False),
        release="2026-02",
    ),
    Trap(
        "loss_reduction=token_mean is taken over each micro-batch",
        lambda s, given: s.loss_reduction == "token_mean" and s.token_mean_is_of_micro_batches,
        "token_mean is the mean over the tokens of a micro-batch, then over micro-batches and ranks. A token of a"
        " micro-batch with short completions weighs more. micro_train_batch_size_per_gpu is 1 by default, with which"
        " it is the mean over completions of their means. SkyRL of 2026-03-31 mends it.",
        "SkyRL #1296; ppo_utils.py, reduce_loss",
        {},
        _algorithm(loss_reduction="sequence_mean"),
        release="2026-02",
    ),
    Trap(
        "cispo_eps_clip_low is 0, so weights below 1 become 1",
        lambda s, given: s.policy_loss_type == "cispo" and s.cispo_eps_clip_low == 0.0,
        "With cispo_eps_clip_low = 0, the default until July 2026, the weight is at least 1. A token that became less"
        " likely keeps the full weight. CISPO as published has no lower bound: set cispo_eps_clip_low to 1.",
        "SkyRL #1928; config.py, CISPOConfig; arXiv:2506.13585",
        _algorithm(policy_loss_type="cispo", cispo=dict(cispo_eps_clip_low=0.0)),
        _algorithm(policy_loss_type="cispo", cispo=dict(cispo_eps_clip_low=1.0)),
    ),
    Trap(
        "use_kl_loss is on by default, averaged per completion",
        lambda s, given: (
            s.use_kl_loss
            and s.kl_loss_has_gradient
            and s.kl_loss_coef > 0.0
            and s.loss_reduction != "sequence_mean"
        ),
        "use_kl_loss is on by default, with a weight of 0.001. Its average is always the mean over"
        " completions of their means, whatever loss_reduction is, so a token of a long completion has less"
        " of it.",
        "SkyRL worker.py, _forward_backward_micro",
        {},
        _algorithm(use_kl_loss=False),
    ),
    Trap(
        "max_tokens_per_microbatch changes the average of the penalty",
        lambda s, given: s.strategy == "megatron" and s.use_kl_loss and s.max_tokens_per_microbatch > 0,
        "On Megatron the penalty is a mean over micro-batches of the means over their completions. With"
        " max_tokens_per_microbatch they hold different numbers of completions, so a completion that"
        " shares a micro-batch with many short ones has less of it. On FSDP all completions count the"
        " same.",
        "SkyRL megatron_model_wrapper.py, forward_backward_mini_batch",
        _algorithm(use_kl_loss=True)
        | {"trainer.strategy": "megatron", "trainer.max_tokens_per_microbatch": 8192},
        _algorithm(use_kl_loss=True) | {"trainer.strategy": "megatron"},
    ),
    Trap(
        "policy_loss_type=clip_cov: no covariance reaches the bounds",
        lambda s, given: s.policy_loss_type == "clip_cov",
        "The advantages are divided by the number of tokens before the loss, and so is the covariance. In"
        " a usual mini-batch no token reaches bounds such as 1 and 5, so only the clip of PPO remains.",
        "SkyRL trainer.py, _normalize_advantages; ppo_utils.py, compute_policy_loss_clip_cov",
        _algorithm(policy_loss_type="clip_cov"),
        _algorithm(policy_loss_type="regular"),
    ),
    Trap(
        "ppo_kl_coef multiplies a sum, not a mean",
        lambda s, given: s.policy_loss_type == "kl_cov",
        "The advantages are divided by the number of tokens before the loss, which is a sum. The penalty"
        " of kl_cov is not. With token_mean it is multiplied by the number of tokens of the mini-batch:"
        " divide ppo_kl_coef by that number.",
        "SkyRL trainer.py, _normalize_advantages; ppo_utils.py, compute_policy_loss_kl_cov",
        _algorithm(policy_loss_type="kl_cov"),
        _algorithm(policy_loss_type="regular"),
    ),
    Trap(
        "micro_train_batch_size_per_gpu is 1: the covariance is 0",
        lambda s, given: (
            s.policy_loss_type in ("clip_cov", "kl_cov")
            and s.micro_train_batch_size_per_gpu == 1
            and s.advantage_estimator != "reinforce++"
        ),
        "The covariance is taken over the tokens of a micro-batch. micro_train_batch_size_per_gpu is 1 by"
        " default. Then, with one advantage per completion, it is 0 for every token except for rounding:"
        " clip_cov excludes none, and kl_cov chooses tokens by chance.",
        "SkyRL ppo_utils.py, compute_policy_loss_clip_cov and compute_policy_loss_kl_cov",
        _algorithm(policy_loss_type="kl_cov"),
        _algorithm(policy_loss_type="kl_cov") | {"trainer.micro_train_batch_size_per_gpu": 4},
    ),
    Trap(
        "off_policy_correction is ignored by this loss",
        lambda s, given: s.policy_loss_type in UNCORRECTED and _corrects(s),
        "importance_sampling, clip_cov and kl_cov ignore off_policy_correction. For the last two, SkyRL"
        " refuses tis_ratio_type and sequence_mask_metric, but not the thresholds of tokens.",
        LOSS,
        _algorithm(policy_loss_type="importance_sampling") | {f"{CORRECTION}.tis_ratio_type": "token"},
        _algorithm(policy_loss_type="regular") | {f"{CORRECTION}.tis_ratio_type": "token"},
    ),
    Trap(
        "token_mask_is_threshold_low and _high are needed together",
        lambda s, given: (s.token_mask_is_threshold_low is None) != (s.token_mask_is_threshold_high is None),
        "The mask of single tokens needs both token_mask_is_threshold_low and _high. With only one of"
        " them nothing is masked. The outlier thresholds work one by one.",
        "SkyRL off_policy_correction_utils.py",
        {f"{CORRECTION}.token_mask_is_threshold_high": 2.0},
        {f"{CORRECTION}.token_mask_is_threshold_high": 2.0, f"{CORRECTION}.token_mask_is_threshold_low": 0.5},
    ),
    Trap(
        "outlier_token_is_threshold_* drop whole completions",
        lambda s, given: _outliers(s) and s.policy_loss_type not in UNCORRECTED,
        "The outlier thresholds exclude every token of a completion that has one token outside. The"
        " longer a completion is, the more likely that is. Its tokens still count in the average.",
        "SkyRL off_policy_correction_utils.py, compute_outlier_token_mask",
        {f"{CORRECTION}.outlier_token_is_threshold_high": 100.0},
        {f"{CORRECTION}.outlier_token_is_threshold_high": None},
    ),
    Trap(
        "sampling_params.logprobs is null, so nothing is corrected",
        lambda s, given: (
            s["sampling_params.logprobs"] is None
            and _corrects(s)
            and not (s.use_tis or s.tis_ratio_type or s.sequence_mask_metric)
        ),
        "Only tis_ratio_type and sequence_mask_metric turn sampling_params.logprobs on. With null and"
        " only thresholds of tokens, nothing is corrected, without a message.",
        "SkyRL train/utils/utils.py, validate_cfg",
        {f"{CORRECTION}.outlier_token_is_threshold_high": 100.0, "generator.sampling_params.logprobs": None},
        {f"{CORRECTION}.outlier_token_is_threshold_high": 100.0},
    ),
    Trap(
        "advantage_batch_normalize counts the padding as zeros",
        lambda s, given: s.advantage_batch_normalize,
        "advantage_batch_normalize subtracts a mean over all places of the batch, with padding as zeros,"
        " and divides by a deviation over the tokens. Afterwards the mean of the tokens is not 0, unless"
        " it was 0 before.",
        "SkyRL trainer.py, _normalize_advantages",
        _algorithm(advantage_batch_normalize=True),
        {},
    ),
    Trap(
        "zero_variance_filter keeps masked groups in the denominator",
        lambda s, given: s.zero_variance_filter and s.loss_reduction == "sequence_mean",
        "zero_variance_filter masks groups with equal rewards and does not sample others. With"
        " sequence_mean their completions still count in the denominator. With token_mean their tokens do"
        " not.",
        "SkyRL trainer.py, postprocess_generator_output",
        _algorithm(zero_variance_filter=True, loss_reduction="sequence_mean"),
        _algorithm(zero_variance_filter=True),
    ),
    Trap(
        "dynamic_sampling.type=filter stops if no group is left",
        lambda s, given: s["dynamic_sampling.type"] == "filter",
        "dynamic_sampling.type=filter keeps the groups whose rewards differ and samples more. If a batch"
        " has no such group at all, an assertion on an empty list ends the run.",
        "SkyRL trainer_utils.py, handle_filter_sampling; generators/utils.py, slice_generator_output",
        _algorithm(**{"dynamic_sampling.type": "filter"}),
        _algorithm(zero_variance_filter=True),
    ),
    Trap(
        "eps_clip_low and eps_clip_high are ignored by this loss",
        lambda s, given: (
            s.policy_loss_type in ("cispo", "sapo", "dppo", "importance_sampling", "kl_cov")
            and bool({"eps_clip_low", "eps_clip_high"} & given)
        ),
        "cispo reads cispo.cispo_eps_clip_low and _high, sapo its two tau, dppo its two delta."
        " importance_sampling and kl_cov have no clip. None of them reads eps_clip_low and eps_clip_high.",
        LOSS,
        _algorithm(policy_loss_type="cispo", eps_clip_high=0.28),
        _algorithm(policy_loss_type="regular", eps_clip_high=0.28),
    ),
    Trap(
        "clip_ratio_c needs policy_loss_type=dual_clip",
        lambda s, given: "clip_ratio_c" in given and s.policy_loss_type != "dual_clip",
        "Only policy_loss_type=dual_clip reads clip_ratio_c. verl, whose key it is, always reads it.",
        f"{LOSS}, ppo_policy_loss",
        _algorithm(clip_ratio_c=3.0),
        _algorithm(clip_ratio_c=3.0, policy_loss_type="dual_clip"),
    ),
    Trap(
        "eps_clip_low and eps_clip_high are too large for gspo",
        lambda s, given: s.policy_loss_type == "gspo" and s.eps_clip_low > 0.01,
        "gspo's ratio is a mean over the completion, which hardly changes. The default, 0.2, never clips"
        " it. The paper uses 0.0003 and 0.0004.",
        f"{LOSS}, gspo_policy_loss",
        _algorithm(policy_loss_type="gspo"),
        _algorithm(policy_loss_type="gspo", eps_clip_low=3e-4),
    ),
    Trap(
        "gamma is ignored by this estimator",
        lambda s, given: s.gamma != 1.0 and s.advantage_estimator != "reinforce++",
        "Only reinforce++ and gae read gamma. grpo, rloo and maxrl give every token the same advantage.",
        LOSS,
        _algorithm(gamma=0.99),
        _algorithm(gamma=0.99, advantage_estimator="reinforce++"),
    ),
    Trap(
        "grpo_norm_by_std is ignored by this estimator",
        lambda s, given: not s.grpo_norm_by_std and s.advantage_estimator != "grpo",
        "Only grpo reads grpo_norm_by_std.",
        LOSS,
        _algorithm(grpo_norm_by_std=False, advantage_estimator="maxrl"),
        _algorithm(grpo_norm_by_std=False),
    ),
    Trap(
        "step_wise_trajectories ignores the rewards of all turns but the last",
        lambda s, given: s.step_wise_trajectories,
        "With step_wise_trajectories the advantage of a trajectory is computed from the reward of its last turn, and"
        " all its turns get it. The rewards that the environment gives for earlier turns have no effect. Without"
        " step_wise_trajectories they are summed. Let the environment return the whole reward in the last turn.",
        "SkyRL trainer.py, compute_advantages_and_returns",
        {"generator.step_wise_trajectories": True},
        {"generator.step_wise_trajectories": False},
    ),
    Trap(
        "kl_ctrl does not change a penalty in the loss",
        lambda s, given: s["kl_ctrl.type"] == "adaptive" and s.use_kl_loss,
        "kl_ctrl changes only the weight of a penalty in the reward. In the loss the weight is always"
        " kl_loss_coef.",
        "SkyRL trainer.py, apply_reward_kl_penalty",
        _algorithm(**{"kl_ctrl.type": "adaptive"}),
        _algorithm(use_kl_loss=True),
    ),
    Trap(
        "entropy_loss_coef needs use_entropy_loss",
        lambda s, given: "entropy_loss_coef" in given and not s.use_entropy_loss,
        "entropy_loss_coef counts only with use_entropy_loss.",
        "SkyRL worker.py, _forward_backward_micro",
        _algorithm(entropy_loss_coef=0.01),
        _algorithm(entropy_loss_coef=0.01, use_entropy_loss=True),
    ),
)
"""The traps, in the order in which they are reported."""
