"""The YAML files of torchtune bd2a0fc7c (April 2026) for its two recipes of GRPO, synchronous and asynchronous."""

from typing import Any

from grpo_ref.explain.dialect import COMPLETIONS, PASSES

LOSSES = "torchtune.dev.grpo.loss"
TOKEN, BATCH, SIMPLE, CHUNKED = (
    f"{LOSSES}.{name}"
    for name in ("GRPOLoss", "GRPOCompletionLoss", "GRPOSimpleLoss", "GRPOWithChunkedOutputLoss")
)
LINEAR = "torchtune.dev.rl.linear_grpo_loss.LinearGRPOLoss"
OBJECTIVE: dict[str, Any] = {
    "loss._component_": SIMPLE,
    "loss.epsilon": 0.1,
    "loss.kl_coeff": 0.1,
    "grpo_samples": 16,
    "ppo_epochs": 1,
    "temperature": 1.0,
}
"""Defaults of keys that change the objective.

Those of the loss are its classes' defaults. The other keys are required; their values here are those of
torchtune's files.
"""
OF_LINEAR = ("num_output_chunks", "ignore_index", "mask_pre_projection")
"""Settings that only `LinearGRPOLoss` has."""
CHECKED: dict[str, Any] = {
    **{f"loss.{name}": None for name in OF_LINEAR},
    "forward_batch_size": None,
    "orchestration.num_steps": None,
}
"""Keys that do not affect the objective, but are refused with some losses.

The last two each belong to one recipe.
"""
DEFAULTS = OBJECTIVE | CHECKED
FILES: dict[str, dict[str, Any]] = {
    "3B_full_grpo": {"loss.kl_coeff": 0.01, "loss.epsilon": 0.2},
    "qwen3B_sync_grpo": {"loss.kl_coeff": 0.01, "loss.epsilon": 0.2},
    "qwen3B_async_grpo": {
        "training.loss._component_": LINEAR,
        "training.loss.kl_coeff": 0.01,
        "training.loss.epsilon": 0.2,
    },
}
ALIASES = {
    "loss": "loss._component_",
    "inference.group_size": "grpo_samples",
    "inference.temperature": "temperature",
}
"""Other names of keys: on the command line, the name of its group may stand for a component."""
_OF_BOTH = """name output_dir base_model_path seed shuffle device dtype batch_size epochs num_steps top_k
max_generated_tokens stop_token_ids resume_from_checkpoint save_every_n_epochs clip_grad_norm collate_fn
enable_activation_checkpointing enable_activation_offloading custom_sharded_layers fsdp_cpu_offload compile
log_every_n_steps log_peak_memory_stats log_level reward_functions""".split()
_OF_ASYNC = """inference.engine inference.model engine_args tensor_parallel_dim inference.total_batch_size
queue_maxsize steps_before_weight_sync save_every_n_steps enable_expandable_segments debug_logging_enabled
debug_num_samples_per_step""".split()
_COMPONENTS = """model tokenizer dataset checkpointer ref_checkpointer optimizer lr_scheduler metric_logger
profiler""".split()
IGNORED = frozenset([*_COMPONENTS, "orchestration", "engine_args"])
"""Groups without keys that affect the objective."""
OTHERS = frozenset([*_OF_BOTH, *_OF_ASYNC, *_COMPONENTS])
GROUPS = frozenset("loss training inference postprocessing".split())
CONCEPTS = {COMPLETIONS: "grpo_samples", PASSES: "ppo_epochs"}
_LINEAR = "This is of LinearGRPOLoss alone, and changes nothing but the memory that it takes."
ABOUT = {
    **{f"loss.{name}": _LINEAR for name in OF_LINEAR},
    "loss.epsilon": "This is the half-width of the clip, of GRPOLoss and GRPOCompletionLoss.",
    "forward_batch_size": "This is how many prompts are generated for at a time; it does not touch the objective.",
    "orchestration.num_steps": "This is of the asynchronous recipe alone, and does not touch the objective.",
    "grpo_samples": "This is the number of completions per prompt; the asynchronous recipe calls it"
    " inference.group_size.",
    "temperature": "This is the temperature of the policy, for sampling and for the log-probabilities alike;"
    " LinearGRPOLoss takes those of the policy being trained at 1.",
    "batch_size": "This counts prompts of a rank: an update sees this number times grpo_samples completions. In the"
    " asynchronous recipe training.batch_size counts completions, drawn at random from a buffer.",
    "top_k": "This is of generation alone; the asynchronous recipe does not read it.",
    "reward_functions": "These are read by the asynchronous recipe alone; their rewards are summed.",
}
