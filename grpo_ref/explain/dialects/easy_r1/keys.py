"""The keys of EasyR1 b44b3114 (July 2026): the fields of `PPOConfig`, with their groups."""

from typing import Any

from grpo_ref.explain.dialect import BONUS, COMPLETIONS, PASSES

ACTOR = "worker.actor"
BY_PLACE: dict[str, dict[str, Any]] = {
    "algorithm": {
        "adv_estimator": "grpo",
        "gamma": 1.0,
        "disable_kl": False,
        "use_kl_loss": False,
        "kl_penalty": "kl",
        "kl_coef": 1e-3,
        "kl_type": "fixed",
        "kl_horizon": 10000.0,
        "online_filtering": False,
        "filter_key": "overall",
        "filter_low": 0.01,
        "filter_high": 0.99,
    },
    ACTOR: {
        "loss_type": "default",
        "loss_avg_mode": "token",
        "actor.use_kl_loss": False,
        "clip_ratio_low": 0.2,
        "clip_ratio_high": 0.3,
        "clip_ratio_dual": 3.0,
        "tau_positive": 1.0,
        "tau_negative": 1.05,
        "ppo_epochs": 1,
        "global_batch_size": 256,
        "micro_batch_size_per_device_for_update": 4,
        "micro_batch_size_per_device_for_experience": 16,
        "ulysses_size": 1,
    },
    f"{ACTOR}.fsdp": {"actor.fsdp.enable_cpu_offload": False},
    "worker.rollout": {"rollout.n": 5, "rollout.tensor_parallel_size": 2},
    "worker": {"worker.hybrid_engine": True},
    "data": {"data.rollout_batch_size": 512},
    "trainer": {"trainer.nnodes": 1, "trainer.n_gpus_per_node": 8},
}
"""For each group path, its keys that change the objective or are checked. The default of rollout.n is 1."""
GONE: dict[str, Any] = {
    "clip_ratio": None,
    "entropy_coeff": 0.0,
    "kl_loss_coef": None,
    "kl_loss_type": None,
    "max_log_ratio": 20.0,
    "not_yet": (),
}
"""Keys and behaviour of other versions, with the value that is equivalent today.

The last two are not keys.
"""
DEFAULTS = {key: value for group in BY_PLACE.values() for key, value in group.items()} | GONE
SET_BY_ALGORITHM = ("disable_kl", "use_kl_loss", "kl_penalty", "kl_coef")
"""The actor's fields that `PPOConfig.post_init` overwrites with those of algorithm."""
PLACES = {key: place for place, group in BY_PLACE.items() for key in group}
PLACES |= dict.fromkeys(("clip_ratio", "entropy_coeff", "kl_loss_coef", "kl_loss_type"), ACTOR)
_CHECKED = """global_batch_size micro_batch_size_per_device_for_update
micro_batch_size_per_device_for_experience ulysses_size actor.fsdp.enable_cpu_offload
rollout.tensor_parallel_size worker.hybrid_engine data.rollout_batch_size trainer.nnodes
trainer.n_gpus_per_node kl_horizon""".split()
_OF_DATA = """train_files val_files prompt_key answer_key image_key video_key image_dir video_fps
max_prompt_length max_response_length mini_rollout_batch_size val_batch_size format_prompt
override_chat_template shuffle seed min_pixels max_pixels filter_overlong_prompts
filter_overlong_prompts_workers""".split()
_OF_WORKERS = """strategy max_grad_norm padding_free dynamic_batching use_torch_compile model_path
tokenizer_path enable_gradient_checkpointing trust_remote_code freeze_vision_tower rank alpha target_modules
exclude_modules lr betas weight_decay lr_warmup_ratio lr_warmup_steps min_lr_ratio lr_scheduler_type
training_steps enable_full_shard enable_cpu_offload enable_rank0_init use_orig_params torch_dtype fsdp_size
mp_param_dtype mp_reduce_dtype mp_buffer_dtype offload_params offload_optimizer reward_function
skip_special_tokens num_cpus reward_function_name name temperature top_p top_k limit_images dtype
gpu_memory_utilization ignore_eos enforce_eager enable_chunked_prefill max_model_len max_num_batched_tokens
disable_log_stats disable_tqdm prompt_length response_length override_config reward_function_kwargs
val_override_config""".split()
_OF_TRAINER = """total_epochs max_steps project_name experiment_name logger max_try_make_batch critic_warmup
val_freq val_before_train val_only val_generations_to_log save_freq save_limit save_model_only
save_checkpoint_path load_checkpoint_path ray_timeline find_last_checkpoint""".split()
_OF_REFERENCE = (
    *("micro_batch_size_per_device_for_experience", "padding_free", "dynamic_batching"),
    *("ulysses_size", "use_torch_compile"),
)
"""The reference's fields that `WorkerConfig.post_init` copies from the actor."""
OTHERS = frozenset(
    [
        *(*_OF_DATA, *_OF_WORKERS, *_OF_TRAINER, "lam", "kl_target"),
        *(f"actor.{key}" for key in ("disable_kl", "kl_penalty", "kl_coef", "global_batch_size_per_device")),
        *(f"ref.{key}" for key in _OF_REFERENCE),
    ]
)
GROUPS = frozenset(
    """actor algorithm data fsdp lora model offload optim ref reward rollout trainer worker""".split()
)
IGNORED = frozenset("critic override_config reward_function_kwargs val_override_config".split())
"""Groups without keys that affect the objective."""
CONCEPTS = {COMPLETIONS: "rollout.n", PASSES: "ppo_epochs", BONUS: "entropy_coeff"}
_FILLED = "EasyR1 fills this from algorithm, whatever it was: it has no effect here."
ABOUT = {
    **dict.fromkeys(_CHECKED, "This does not touch the objective; EasyR1 refuses some combinations."),
    **{f"actor.{key}": _FILLED for key in SET_BY_ALGORITHM},
    "adv_estimator": "This is the baseline and the scale of the advantages.",
    "gamma": "This is the discount along the tokens; of the estimators here only reinforce_plus_plus reads"
    " it.",
    "lam": "This is of gae alone, which needs a critic.",
    "kl_target": "This is of the adaptive weight alone.",
    "kl_type": "This says whether the weight of a penalty in the reward is constant; in the loss it always"
    " is.",
    "filter_key": "This names which number of the reward function is filtered by; the recipe filters by the"
    " rewards that it is given.",
    "dynamic_batching": "Micro-batches are packed by length; with loss_avg_mode=seq the loss depends on how.",
    "micro_batch_size_per_device_for_update": "EasyR1 refuses some combinations; with loss_avg_mode=seq the"
    " loss depends on it.",
    "global_batch_size": "This counts prompts: an update sees this number times rollout.n completions.",
    "temperature": "This is the temperature of the policy, for sampling and for the log-probabilities alike.",
    "reward_function": "This is the user's code; what it calls overall is the reward here.",
    "rollout.n": "This is the number of completions per prompt; EasyR1's own default is 1, which it refuses"
    " for every estimator with a group.",
    "ignore_eos": "What follows the first end-of-sequence token is masked out all the same.",
}
