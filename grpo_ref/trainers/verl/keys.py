"""verl at 1dda039b (August 2026), actor, algorithm and rollout-correction settings."""

from math import inf
from types import SimpleNamespace
from typing import Any

from grpo_ref.kernels.advantages import (
    best_of_group,
    discounted,
    gpg,
    group_centered,
    group_normalized,
    leave_one_out,
    length_weighted,
    normalized_then_whitened,
    whitened,
)
from grpo_ref.kernels.aggregation import (
    fixed_length,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
    token_sum,
)
from grpo_ref.kernels.corrections import masked, truncated
from grpo_ref.kernels.filters import all_groups, mixed_groups
from grpo_ref.kernels.levels import sequence_mean_level, sequence_sum_level, token_level
from grpo_ref.kernels.penalties import absolute, k1, k2, k3, straight_through
from grpo_ref.kernels.rewards import soft_overlong, task_reward
from grpo_ref.kernels.surrogates import (
    cispo,
    clip_cov,
    dppo_kl,
    dppo_tv,
    dual_clipped,
    geometric_mean_clipped,
    gspo_token,
    kl_cov,
    reinforce,
    sapo,
    squared_ratio,
)
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.trainers.dialect import DIVISOR, Dialect, one_of

AGGREGATES = {
    "token-mean": slot(token_mean),
    "token-sum": slot(token_sum),
    "seq-mean-token-sum": slot(sequence_mean_token_sum, count_empty=False),
    "seq-mean-token-mean": slot(sequence_mean_token_mean, count_empty=False, eps=1e-8),
    "seq-mean-token-sum-norm": slot(fixed_length, count_empty=False),
}
PENALTIES = {
    "kl": slot(k1),
    "k1": slot(k1),
    "abs": slot(absolute),
    "mse": slot(k2),
    "k2": slot(k2),
    "low_var_kl": slot(k3, max_log_ratio=20.0, max_value=10.0),
    "k3": slot(k3, max_log_ratio=20.0, max_value=10.0),
    "k1+": slot(straight_through, estimator=k1),
    "abs+": slot(straight_through, estimator=absolute),
    "k3+": slot(straight_through, estimator=k3),
}
ESTIMATORS = {
    "grpo": slot(group_normalized, ddof=1, eps=1e-6, keep_singletons=True),
    "grpo_vectorized": slot(group_normalized, ddof=1, eps=1e-6),
    "grpo_passk": slot(best_of_group, ddof=1, eps=1e-6),
    "reinforce_plus_plus": slot(discounted, gamma=1.0),
    "reinforce_plus_plus_baseline": slot(whitened),
    "rloo": slot(leave_one_out, keep_singletons=True),
    "rloo_vectorized": slot(leave_one_out),
    "opo": slot(length_weighted),
    "gpg": slot(gpg),
    "gdpo": slot(normalized_then_whitened, ddof=1, eps=1e-6),
}
LOSS_MODES = (
    *("vanilla", "gspo", "sapo", "cispo", "gpg", "geo_mean", "dppo_tv", "dppo_kl", "clip_cov", "kl_cov"),
)
DEFAULTS: dict[str, Any] = {
    "adv_estimator": "grpo",
    "norm_adv_by_std_in_grpo": True,
    "gamma": 1.0,
    "loss_mode": "vanilla",
    "clip_ratio": 0.2,
    "clip_ratio_low": 0.2,
    "clip_ratio_high": 0.2,
    "clip_ratio_c": 3.0,
    "loss_agg_mode": "token-mean",
    "loss_scale_factor": None,
    "use_kl_loss": False,
    "kl_loss_coef": 0.001,
    "kl_loss_type": "low_var_kl",
    "tau_pos": 1.0,
    "tau_neg": 1.05,
    "dro_beta": None,
    "clip_cov_ratio": 0.0002,
    "clip_cov_lb": 1.0,
    "clip_cov_ub": 5.0,
    "kl_cov_ratio": 0.0002,
    "ppo_kl_coef": 0.1,
    "rollout_is": None,
    "rollout_is_threshold": 2.0,
    "filter_groups.enable": False,
    "overlong_buffer_cfg.enable": False,
    "overlong_buffer_cfg.len": 4096,
    "max_response_length": 20480,
    "entropy_coeff": 0.0,
    "rollout.n": 1,
    "ppo_epochs": 1,
}
NO_DUAL_CLIP = 1e6
"""A bound of the ratio that nothing reaches; the dual clip has no switch."""

OTHERS = frozenset(
    """clip_grad entropy_checkpointing entropy_from_logits_with_chunking enable_gradient_checkpointing
    experiment_name freeze_vision_tower gdpo_reward_keys gdpo_reward_weights grad_clip horizon kl_coef
    kl_penalty lam log log_prob_max_token_len_per_gpu log_prob_micro_batch_size
    log_prob_micro_batch_size_per_gpu log_prob_use_dynamic_bsz lr max_num_gen_batches metric
    overlong_buffer_cfg.log pf_ppo ppo_max_token_len_per_gpu ppo_micro_batch_size ppo_micro_batch_size_per_gpu
    ppo_mini_batch_size project_name reward_manager rollout_rs_threshold shuffle strategy target_kl type
    ulysses_sequence_parallel_size use_dynamic_bsz use_fused_kernels use_pf_ppo use_remove_padding
    use_torch_compile""".split()
)
GROUPS = frozenset(
    """actor actor_rollout_ref algorithm filter_groups kl_ctrl overlong_buffer overlong_buffer_cfg policy_loss reward
    reward_kwargs reward_model rollout rollout_correction""".split()
)
IGNORED = frozenset(
    """agent checkpoint critic custom_reward_function data engine_kwargs fsdp_config global_profiler megatron model
    multi_turn optim profiler ray_init ray_kwargs ref sandbox_fusion trace trainer transformer_config
    val_kwargs update_weights_bucket_megabytes""".split()
)
OF_ROLLOUT = frozenset(
    f"rollout.{key}"
    for key in """calculate_log_probs disable_log_stats do_sample dtype enable_chunked_prefill
    enable_prefix_caching enforce_eager free_cache_engine gpu_memory_utilization ignore_eos load_format
    log_prob_max_token_len_per_gpu log_prob_micro_batch_size log_prob_micro_batch_size_per_gpu
    log_prob_use_dynamic_bsz max_model_len max_num_batched_tokens max_num_seqs mode name prompt_length
    response_length skip_tokenizer_init temperature tensor_model_parallel_size top_k top_p""".split()
) | frozenset(
    f"reward_model.{key}" for key in "enable reward_manager launch_reward_fn_async num_workers path".split()
)


def recipe(**config: Any) -> Recipe:
    """The recipe that verl computes.

    Args:
      config: keys of `actor_rollout_ref.actor`, its `policy_loss`, `algorithm` and `rollout_correction`, with
        their groups or without; verl's own default of adv_estimator is "gae", here it is "grpo".

    Raises:
      ValueError: if a key is unknown, or a value is one that verl would refuse.

    >>> recipe(loss_mode="gspo").surrogate.kernel.__name__
    'gspo_token'
    """
    return DIALECT.recipe(**config)


def _build(s: SimpleNamespace) -> Recipe:
    modes = _modes(s)
    surrogate, level, aggregate, limits = one_of("loss_mode", s.loss_mode, modes)
    settings = vars(s)
    estimators = dict(ESTIMATORS)
    estimators["reinforce_plus_plus"] = slot(discounted, gamma=s.gamma)
    advantage = one_of("adv_estimator", s.adv_estimator, estimators)
    if not s.norm_adv_by_std_in_grpo and s.adv_estimator in ("grpo", "grpo_vectorized"):
        advantage = slot(group_centered)
    buffer = settings["overlong_buffer_cfg.len"] / s.max_response_length
    overlong = slot(soft_overlong, buffer=buffer)
    return Recipe(
        reward=overlong if settings["overlong_buffer_cfg.enable"] else slot(task_reward),
        keep=slot(mixed_groups if settings["filter_groups.enable"] else all_groups),
        advantage=advantage,
        level=level,
        surrogate=surrogate(),
        penalty=one_of("kl_loss_type", s.kl_loss_type, PENALTIES),
        kl_coef=s.kl_loss_coef if s.use_kl_loss else 0.0,
        aggregate=aggregate or one_of("loss_agg_mode", s.loss_agg_mode, AGGREGATES),
        source=DIALECT.version,
        corrections=_corrections(s),
        log_ratio_limits=limits,
    )


def _modes(s: SimpleNamespace) -> dict[str, Any]:
    """loss_mode -> surrogate, level, forced aggregation, limits of the log-ratio."""
    low = s.clip_ratio if s.clip_ratio_low is None else s.clip_ratio_low
    high = s.clip_ratio if s.clip_ratio_high is None else s.clip_ratio_high
    twenty, free, forced = (-20.0, 20.0), (-inf, inf), AGGREGATES["seq-mean-token-mean"]
    clips = {"clip_low": low, "clip_high": high}
    covariance = {"share": s.clip_cov_ratio, "cov_low": s.clip_cov_lb, "cov_high": s.clip_cov_ub}
    geometric = slot(sequence_mean_token_mean, eps=1e-8)
    return {
        "vanilla": (lambda: slot(dual_clipped, **clips, max_ratio=s.clip_ratio_c), token_level, None, twenty),
        "gspo": (lambda: slot(gspo_token, **clips), sequence_mean_level, forced, (-inf, 10.0)),
        "sapo": (
            lambda: slot(sapo, tau_positive=s.tau_pos, tau_negative=s.tau_neg),
            token_level,
            forced,
            twenty,
        ),
        "cispo": (lambda: slot(cispo, min_ratio=1.0 - low, max_ratio=1.0 + high), token_level, None, twenty),
        "gpg": (lambda: slot(reinforce), token_level, None, free),
        "geo_mean": (lambda: slot(geometric_mean_clipped, **clips), token_level, geometric, twenty),
        "dro": (lambda: slot(squared_ratio, beta=_given("dro_beta", s.dro_beta)), token_level, None, free),
        "dppo_tv": (
            lambda: slot(dppo_tv, low=low, high=high, max_ratio=s.clip_ratio_c),
            token_level,
            None,
            twenty,
        ),
        "dppo_kl": (
            lambda: slot(dppo_kl, low=low, high=high, max_ratio=s.clip_ratio_c, eps=1e-8),
            token_level,
            None,
            twenty,
        ),
        "clip_cov": (lambda: slot(clip_cov, **covariance, **clips), token_level, None, free),
        "kl_cov": (lambda: slot(kl_cov, share=s.kl_cov_ratio, coef=s.ppo_kl_coef), token_level, None, free),
    }


def _given(name: str, value: Any) -> Any:
    if value is None:
        raise ValueError(f"{name}: verl has no default for it; give a number")
    return value


def _corrections(s: SimpleNamespace) -> tuple[Slot, ...]:
    if s.rollout_is is None:
        return ()
    level = one_of("rollout_is", s.rollout_is, {"token": token_level, "sequence": sequence_sum_level})
    if isinstance(s.rollout_is_threshold, str):
        low, high = map(float, s.rollout_is_threshold.split("_"))
        return (slot(masked, level=level, min_ratio=low, max_ratio=high, max_log_ratio=20.0),)
    return (slot(truncated, level=level, max_ratio=s.rollout_is_threshold, max_log_ratio=20.0),)


DIALECT = Dialect(
    name="verl",
    version="verl 1dda039b (2026-08-22)",
    defaults=DEFAULTS,
    build=_build,
    choices={
        "adv_estimator": tuple(ESTIMATORS),
        "norm_adv_by_std_in_grpo": (True, False),
        "clip_ratio_c": (3.0, NO_DUAL_CLIP),
        "loss_mode": (
            "vanilla",
            "gspo",
            "sapo",
            "cispo",
            "gpg",
            "geo_mean",
            "dppo_tv",
            "dppo_kl",
            "clip_cov",
            "kl_cov",
        ),
        "loss_agg_mode": tuple(AGGREGATES),
        "use_kl_loss": (True, False),
        "kl_loss_type": ("k1", "abs", "k2", "low_var_kl", "k1+", "abs+", "k3+"),
        "rollout_is": (None, "token", "sequence"),
        "filter_groups.enable": (True, False),
    },
    others=OTHERS | OF_ROLLOUT,
    aliases={
        "overlong_buffer.enable": "overlong_buffer_cfg.enable",
        "overlong_buffer.len": "overlong_buffer_cfg.len",
        "overlong_buffer.log": "overlong_buffer_cfg.log",
        "overlong_buffer.penalty_factor": "overlong_buffer_cfg.penalty_factor",
        "reward_kwargs.max_resp_len": "max_response_length",
    },
    groups=GROUPS,
    ignored=IGNORED,
    concepts={
        "completions a prompt": "rollout.n",
        "passes over a batch": "ppo_epochs",
        "weight of the entropy bonus": "entropy_coeff",
        DIVISOR: "loss_scale_factor",
    },
    always=("adv_estimator",),
    beyond={
        "overlong_buffer_cfg.penalty_factor": (1.0, "it scales the punishment, which is 1 at most here"),
        "rollout_rs": (None, "it rejects tokens or completions by thresholds of several estimators"),
        "rollout_is_batch_normalize": (False, "it divides the weights by their mean over the batch"),
        "bypass_mode": (False, "the sampler's log-probabilities take the place of the old policy's"),
        "use_kl_in_reward": (False, "the penalty is subtracted from the reward of every token"),
    },
)
