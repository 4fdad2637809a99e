"""Traps: configurations of SkyRL with effects that their author is unlikely to expect."""

from types import SimpleNamespace
from typing import Any

from grpo_ref.explain.trap import Trap

LOSS = "SkyRL ppo_utils.py"
CORRECTION = "trainer.algorithm.off_policy_correction"
UNCORRECTED = ("clip_cov", "kl_cov", "importance_sampling")


def _corrects(s: SimpleNamespace) -> bool:
    window = s.token_mask_is_threshold_low is not None and s.token_mask_is_threshold_high is not None
    return bool(s.use_tis or s.tis_ratio_type or s.sequence_mask_metric) or _outliers(s) or window


def _outliers(s: SimpleNamespace) -> bool:
    return s.outlier_token_is_threshold_low is not None or s.outlier_token_is_threshold_high is not None


def _algorithm(**config: Any) -> dict[str, Any]:
    return {f"trainer.algorithm.{key}": value for key, value in config.items()}


TRAPS = (
    Trap(
        "A penalty by default, averaged by completion",
        lambda s, given: s.use_kl_loss and s.kl_loss_coef > 0.0 and s.loss_reduction != "sequence_mean",
        "use_kl_loss is on where it is left out, with a weight of 0.001. Its average is the mean over"
        " completions of their means, whatever loss_reduction says, so a token of a long completion has"
        " less of it.",
        "SkyRL worker.py, _forward_backward_micro",
        {},
        _algorithm(use_kl_loss=False),
    ),
    Trap(
        "A penalty averaged by micro-batch",
        lambda s, given: s.strategy == "megatron" and s.use_kl_loss and s.max_tokens_per_microbatch > 0,
        "On Megatron the penalty is a mean over micro-batches of the means over their completions. With"
        " max_tokens_per_microbatch they hold different numbers of completions, so one that shares a"
        " micro-batch with many short ones has less of it; on FSDP all completions count the same.",
        "SkyRL megatron_model_wrapper.py, forward_backward_mini_batch",
        _algorithm(use_kl_loss=True)
        | {"trainer.strategy": "megatron", "trainer.max_tokens_per_microbatch": 8192},
        _algorithm(use_kl_loss=True) | {"trainer.strategy": "megatron"},
    ),
    Trap(
        "A covariance that is never large enough",
        lambda s, given: s.policy_loss_type == "clip_cov",
        "The advantages are divided by the number of tokens before the loss sees them, and the covariance"
        " with them: bounds like 1 and 5 are reached by no token of a usual mini-batch, and only the clip"
        " of PPO is left.",
        "SkyRL trainer.py, _normalize_advantages; ppo_utils.py, compute_policy_loss_clip_cov",
        _algorithm(policy_loss_type="clip_cov"),
        _algorithm(policy_loss_type="regular"),
    ),
    Trap(
        "A penalty that is summed",
        lambda s, given: s.policy_loss_type == "kl_cov",
        "The advantages are divided by the number of tokens before the loss, which is a sum; the penalty of"
        " kl_cov is not. With token_mean it is as many times stronger as the mini-batch has tokens: divide"
        " ppo_kl_coef by that.",
        "SkyRL trainer.py, _normalize_advantages; ppo_utils.py, compute_policy_loss_kl_cov",
        _algorithm(policy_loss_type="kl_cov"),
        _algorithm(policy_loss_type="regular"),
    ),
    Trap(
        "A covariance of one completion",
        lambda s, given: (
            s.policy_loss_type in ("clip_cov", "kl_cov")
            and s.micro_train_batch_size_per_gpu == 1
            and s.advantage_estimator != "reinforce++"
        ),
        "The covariance is taken over the tokens of a micro-batch. With micro_train_batch_size_per_gpu of 1,"
        " where it is left out, and one advantage per completion it is 0 for every token but for rounding:"
        " clip_cov leaves out none, and which tokens kl_cov holds back is chance.",
        "SkyRL ppo_utils.py, compute_policy_loss_clip_cov and compute_policy_loss_kl_cov",
        _algorithm(policy_loss_type="kl_cov"),
        _algorithm(policy_loss_type="kl_cov") | {"trainer.micro_train_batch_size_per_gpu": 4},
    ),
    Trap(
        "A correction that is not applied",
        lambda s, given: s.policy_loss_type in UNCORRECTED and _corrects(s),
        "importance_sampling, clip_cov and kl_cov do not look at off_policy_correction; for the last two"
        " SkyRL refuses tis_ratio_type and sequence_mask_metric, but not the thresholds of tokens.",
        LOSS,
        _algorithm(policy_loss_type="importance_sampling") | {f"{CORRECTION}.tis_ratio_type": "token"},
        _algorithm(policy_loss_type="regular") | {f"{CORRECTION}.tis_ratio_type": "token"},
    ),
    Trap(
        "One of two bounds",
        lambda s, given: (s.token_mask_is_threshold_low is None) != (s.token_mask_is_threshold_high is None),
        "The mask of single tokens takes both token_mask_is_threshold_low and _high; with one of them alone"
        " nothing is masked. The outlier thresholds count one by one.",
        "SkyRL off_policy_correction_utils.py",
        {f"{CORRECTION}.token_mask_is_threshold_high": 2.0},
        {f"{CORRECTION}.token_mask_is_threshold_high": 2.0, f"{CORRECTION}.token_mask_is_threshold_low": 0.5},
    ),
    Trap(
        "A completion is lost for one token",
        lambda s, given: _outliers(s) and s.policy_loss_type not in UNCORRECTED,
        "The outlier thresholds leave out every token of a completion that has one outside; the longer it"
        " is, the likelier that is. Its tokens still count in the average.",
        "SkyRL off_policy_correction_utils.py, compute_outlier_token_mask",
        {f"{CORRECTION}.outlier_token_is_threshold_high": 100.0},
        {f"{CORRECTION}.outlier_token_is_threshold_high": None},
    ),
    Trap(
        "A threshold without log-probabilities",
        lambda s, given: (
            vars(s)["sampling_params.logprobs"] is None
            and _corrects(s)
            and not (s.use_tis or s.tis_ratio_type or s.sequence_mask_metric)
        ),
        "Only tis_ratio_type and sequence_mask_metric turn sampling_params.logprobs on. With null and"
        " thresholds of tokens alone, nothing is corrected and nothing is told.",
        "SkyRL train/utils/utils.py, validate_cfg",
        {f"{CORRECTION}.outlier_token_is_threshold_high": 100.0, "generator.sampling_params.logprobs": None},
        {f"{CORRECTION}.outlier_token_is_threshold_high": 100.0},
    ),
    Trap(
        "A mean over the padding",
        lambda s, given: s.advantage_batch_normalize,
        "advantage_batch_normalize takes off a mean over all places of the batch, padding included as"
        " zeros, and divides by a deviation over the tokens: the mean of the tokens is not 0 afterwards"
        " unless it was before.",
        "SkyRL trainer.py, _normalize_advantages",
        _algorithm(advantage_batch_normalize=True),
        {},
    ),
    Trap(
        "A second divisor for groups that have one",
        lambda s, given: s.zero_variance_filter and s.loss_reduction == "sequence_mean",
        "zero_variance_filter masks groups without contrast out and draws no others. With sequence_mean"
        " their completions still count in the number that is divided by; with token_mean their tokens do"
        " not.",
        "SkyRL trainer.py, postprocess_generator_output",
        _algorithm(zero_variance_filter=True, loss_reduction="sequence_mean"),
        _algorithm(zero_variance_filter=True),
    ),
    Trap(
        "A batch without contrast stops the run",
        lambda s, given: vars(s)["dynamic_sampling.type"] == "filter",
        "dynamic_sampling.type=filter keeps the groups with contrast and draws further ones; where a batch"
        " has none at all, an assertion on an empty list ends the run.",
        "SkyRL trainer_utils.py, handle_filter_sampling; generators/utils.py, slice_generator_output",
        _algorithm(**{"dynamic_sampling.type": "filter"}),
        _algorithm(zero_variance_filter=True),
    ),
    Trap(
        "A clip that is not read",
        lambda s, given: (
            s.policy_loss_type in ("cispo", "sapo", "dppo", "importance_sampling", "kl_cov")
            and bool({"eps_clip_low", "eps_clip_high"} & given)
        ),
        "cispo reads cispo.cispo_eps_clip_low and _high, sapo its two tau, dppo its two delta;"
        " importance_sampling and kl_cov have no clip. None of them reads eps_clip_low and eps_clip_high.",
        LOSS,
        _algorithm(policy_loss_type="cispo", eps_clip_high=0.28),
        _algorithm(policy_loss_type="regular", eps_clip_high=0.28),
    ),
    Trap(
        "A dual clip that is off",
        lambda s, given: "clip_ratio_c" in given and s.policy_loss_type != "dual_clip",
        "clip_ratio_c is read by policy_loss_type=dual_clip alone; verl, whose key it is, always reads it.",
        f"{LOSS}, ppo_policy_loss",
        _algorithm(clip_ratio_c=3.0),
        _algorithm(clip_ratio_c=3.0, policy_loss_type="dual_clip"),
    ),
    Trap(
        "A clip of tokens for the ratio of a completion",
        lambda s, given: s.policy_loss_type == "gspo" and s.eps_clip_low > 0.01,
        "gspo's ratio is a mean over the completion, which hardly moves; 0.2, where the clip is left out,"
        " never holds it. The paper has 0.0003 and 0.0004.",
        f"{LOSS}, gspo_policy_loss",
        _algorithm(policy_loss_type="gspo"),
        _algorithm(policy_loss_type="gspo", eps_clip_low=3e-4),
    ),
    Trap(
        "A discount that is not read",
        lambda s, given: s.gamma != 1.0 and s.advantage_estimator != "reinforce++",
        "gamma is read by reinforce++ and by gae; grpo, rloo and maxrl give every token the same advantage.",
        LOSS,
        _algorithm(gamma=0.99),
        _algorithm(gamma=0.99, advantage_estimator="reinforce++"),
    ),
    Trap(
        "A spread that does not come off",
        lambda s, given: not s.grpo_norm_by_std and s.advantage_estimator != "grpo",
        "grpo_norm_by_std is read by grpo alone.",
        LOSS,
        _algorithm(grpo_norm_by_std=False, advantage_estimator="maxrl"),
        _algorithm(grpo_norm_by_std=False),
    ),
    Trap(
        "An adaptive weight that stays where it is",
        lambda s, given: vars(s)["kl_ctrl.type"] == "adaptive" and s.use_kl_loss,
        "kl_ctrl changes the weight of a penalty in the reward alone; in the loss it is kl_loss_coef"
        " throughout.",
        "SkyRL trainer.py, apply_reward_kl_penalty",
        _algorithm(**{"kl_ctrl.type": "adaptive"}),
        _algorithm(use_kl_loss=True),
    ),
    Trap(
        "A bonus that is off",
        lambda s, given: "entropy_loss_coef" in given and not s.use_entropy_loss,
        "entropy_loss_coef counts only with use_entropy_loss.",
        "SkyRL worker.py, _forward_backward_micro",
        _algorithm(entropy_loss_coef=0.01),
        _algorithm(entropy_loss_coef=0.01, use_entropy_loss=True),
    ),
)
"""The traps, in the order in which they are reported."""
