"""The configuration of AReaL cbff54d64 (August 2026), `PPOConfig`: the YAML of a run and its overrides."""

import math
from typing import Any

from grpo_ref.explain.dialect import COMPLETIONS

NOT_SET = ""
"""Mark for a key of a group that may be absent. None is not the mark because it is a value of some keys."""
NORM = {
    "mean_level": "batch",
    "mean_leave1out": False,
    "std_level": "batch",
    "std_unbiased": True,
    "eps": 1e-5,
    "group_size": 1,
}
"""Defaults of the keys of a normalization that is given."""
REJECTION = {
    "level": "token",
    "action": "mask",
    "metric": "ratio",
    "agg": "mean",
    "upper": 5.0,
    "lower": None,
}
"""Defaults of the keys of rejection_sampling, if it is given."""
BUDGET = 1024
"""Default of the actor's max_new_tokens."""
OBJECTIVE: dict[str, Any] = {
    "eps_clip": 0.2,
    "eps_clip_higher": None,
    "c_clip": None,
    "m2_threshold": None,
    "importance_sampling_level": "token",
    "use_sapo_loss": False,
    "use_cispo_loss": False,
    "sapo_tau_pos": 1.0,
    "sapo_tau_neg": 1.05,
    "use_decoupled_loss": False,
    "prox_logp_method": "recompute",
    "kl_ctl": 0.1,
    "kl_estimator": "k1",
    "discount": 1.0,
    "gae_lambda": 1.0,
    "reward_bias": 0.0,
    "reward_scaling": 1.0,
    "reward_clip": 20.0,
    "overlong_reward_penalty": False,
    "overlong_tokens": None,
    "overlong_penalty_factor": None,
    "actor.max_new_tokens": None,
    "gconfig.max_new_tokens": 16384,
    "gconfig.n_samples": 1,
    "ref.backend": None,
    **{f"reward_norm.{name}": NOT_SET for name in NORM},
    **{f"adv_norm.{name}": NOT_SET for name in NORM},
    **{f"rejection_sampling.{name}": NOT_SET for name in REJECTION},
}
CHECKED: dict[str, Any] = {
    "recompute_logprob": False,
    "ppo_n_minibatches": 4,
    "enable_delta_weight_update": False,
    "log_agent_stats": False,
    "log_agent_stats_keys": [],
    "total_train_epochs": 1,
}
"""Keys that do not affect the objective, but are refused in some combinations."""
DEFAULTS = OBJECTIVE | CHECKED
OTHERS = frozenset(
    """actor gconfig eval_gconfig rollout ref critic teacher cluster saver evaluator stats_logger perf_tracer
    memory_profiler recover sglang vllm scheduler train_dataset valid_dataset reward_norm adv_norm
    rejection_sampling experiment_name trial_name allocation_mode seed enable_offload total_train_steps
    total_train_n_seqs tokenizer_path dynamic_bs gae_lambda_kwargs post_exit_hook
    econfig agent_run_args workflow eval_workflow max_turns
    gconfig.seed gconfig.drop_incomplete_group logprobs_chunk_size optimizer_dtype
    weight_update_anchor_interval weight_update_delta_method workers_ready_timeout actor.path actor.attn_impl
    use_kernels init_from_scratch is_critic temperature mb_spec pad_to_maximum disable_dropout
    gradient_checkpointing dtype grad_reduce_dtype optimizer weight_update_mode fsdp archon megatron offload
    use_lora lora_rank lora_alpha target_modules peft_type enable_tree_training scheduling_spec backend _version
    admin_api_key log_level request_timeout setup_timeout scheduling_strategy gconfig.min_new_tokens
    gconfig.max_tokens gconfig.greedy gconfig.top_p gconfig.top_k gconfig.stop_token_ids gconfig.ignore_eos
    gconfig.skip_special_tokens gconfig.stop gconfig.frequency_penalty gconfig.lora_name gconfig.use_beam_search
    actor.experiment_name actor.trial_name""".split()
)
IGNORED = frozenset(
    """econfig agent_run_args eval_gconfig rollout ref critic teacher cluster saver evaluator stats_logger
    perf_tracer memory_profiler recover sglang vllm scheduler train_dataset valid_dataset mb_spec optimizer fsdp archon megatron
    scheduling_strategy""".split()
)
"""Sections without keys that affect the objective, except for those in `BEYOND`.

The first two belong to examples.
"""
GROUPS = frozenset("actor gconfig reward_norm adv_norm rejection_sampling".split())
_CRITIC = "A critic gives values, and the advantages are no longer those of a group."
_TEACHER = "The loss is mixed with a distance to a teacher, token by token."
_REMOVED = (
    "It was taken out, and AReaL refuses it; rejection_sampling, with the cap as upper, has taken its place."
)
BEYOND: dict[str, tuple[Any, str]] = {
    "critic.backend": (None, _CRITIC),
    "critic.path": (None, _CRITIC),
    **{
        f"teacher.{key}": (None, _TEACHER)
        for key in ("engine_type", "path", "rl_loss_weight", "distill_loss_weight")
    },
    "teacher.rollout.backend": (None, _TEACHER),
    "teacher.train.backend": (None, _TEACHER),
    "gae_timestep_unit": ("token", "A turn of a conversation is one step, and a batch here has no turns."),
    "gconfig.reward_normalization": (
        False,
        "The rewards of agents are normalized while they are sampled, by another rule.",
    ),
    "mask_no_eos_with_zero": (
        False,
        "The longest sequences of a batch, their prompts included, count as cut off and get the reward 0; a batch"
        " here has no prompts.",
    ),
    "behave_imp_weight_cap": (math.nan, _REMOVED),
    "behave_imp_weight_mode": (math.nan, _REMOVED),
    "behav_imp_weight_cap": (math.nan, _REMOVED),
}
REPLACED = {key: ("corrections",) for key in BEYOND if "imp_weight" in key}
"""Keys of earlier versions that replace a part of the objective."""
PLACES = {
    "actor.max_new_tokens": "actor",
    "gconfig.max_new_tokens": "gconfig",
    **dict.fromkeys([*OBJECTIVE][: [*OBJECTIVE].index("actor.max_new_tokens")], "actor"),
}
CONCEPTS = {COMPLETIONS: "gconfig.n_samples"}
_SIZE = "AReaL checks this and does not read it: a group is what was sampled of one prompt."
ABOUT = {
    **dict.fromkeys(CHECKED, "This does not touch the objective; AReaL refuses some values."),
    "gconfig.n_samples": "This is the number of completions per prompt, and a group is what came of them.",
    "gconfig.drop_incomplete_group": "A group with a failed completion is resampled; without this key it is smaller.",
    "reward_norm.group_size": _SIZE,
    "adv_norm.group_size": _SIZE,
    "ref.backend": "A reference is loaded if kl_ctl is above 0; without one its log-probabilities count as 0.",
    "actor.max_new_tokens": "The length penalty covers the last overlong_tokens of this budget, which is 1024 by default.",
    "gconfig.max_new_tokens": "This is the generation budget. The length penalty has its own, actor.max_new_tokens.",
    "ppo_n_minibatches": "A batch is split into so many mini-batches, with an optimizer step each; each token is used"
    " once.",
    "recompute_logprob": "The learner recomputes the old log-probabilities; by default they are the sampler's."
    " With use_decoupled_loss they are recomputed in any case.",
    "prox_logp_method": "This says how the log-probabilities are found that the ratio is taken to; only"
    " 'reuse_train_logp' counts without use_decoupled_loss too.",
    "temperature": "This is the temperature of the policy for the log-probabilities; gconfig.temperature is the sampler's.",
    "dynamic_bs": "A batch may be smaller if the run's own filter, which has no key, rejects groups.",
}
