"""The configuration of prime-rl 559b44772 (August 2026), `RLConfig`: what is read from rl.toml and as flags."""

from typing import Any

from grpo_ref.explain.dialect import COMPLETIONS

PENALTY = "algo.length_penalty."
WEIGHTS = {"num_output_tokens_weight": 0.25, "num_input_tokens_weight": 0.1, "num_turns_weight": 0.1}
"""Default weights of the length penalty, if it is given."""
OBJECTIVE: dict[str, Any] = {
    "algo.type": "grpo",
    f"{PENALTY}type": None,
    **{f"{PENALTY}{name}": None for name in WEIGHTS},
    "loss.type": "default",
    "loss.dppo_mask_low": 0.2,
    "loss.dppo_mask_high": 0.2,
    "loss.ipo_threshold": None,
    "loss.adv_tau": 1.0,
    "loss.kl_tau": 1e-3,
    "train.filter_zero_advantages": True,
    "train.source": [],
    "group_size": 1,
}
CHECKED: dict[str, Any] = {
    "batch_size": None,
    "token_batch_size": None,
    "concurrency.initial_inflight": None,
    "concurrency.min_inflight": 1,
    "concurrency.max_inflight": 1024,
}
"""Keys that do not affect the objective, but are refused in some combinations."""
DEFAULTS = OBJECTIVE | CHECKED
VARIANTS = {
    ("loss.type", "ipo"): {
        "loss.ipo_threshold": 0.1,
        "loss.dppo_mask_low": None,
        "loss.dppo_mask_high": None,
    }
}
OTHERS = frozenset(
    """algo.sampling algo.length_penalty trainer orchestrator seq_len max_steps max_off_policy_steps tasks_per_minute
    collect_inference_metrics inference_metrics_roles env_server_base_port num_train_workers pad_to_multiple_of
    output_dir clean dry_run matmul_precision enable_router_replay memory_profiler_path trace_path
    dist_timeout_seconds enable_token_export model tokenizer renderer ckpt resume monitors slurm deployment
    weight_broadcast rollout_transport inference env_vars eval heartbeat metrics_server gc run log
    train.sampling.temperature train.sampling.max_completion_tokens train.sampling.extra_body""".split()
)
IGNORED = frozenset(
    """model tokenizer renderer ckpt resume monitors slurm deployment weight_broadcast rollout_transport inference
    env_vars eval heartbeat metrics_server gc run log optim scheduler data
    extra_body""".split()
)
"""The sections without keys that affect the objective."""
GROUPS = frozenset(
    """trainer orchestrator train environment sampling algo loss length_penalty concurrency source teacher roles system user
    assistant tool filter""".split()
)
_TEACHER = "The policy is trained towards another model, token by token, without any reward."
_ECHO = "The algorithm adds cross-entropy on the tokens of the environment, of which a batch here has none."
_ROLES = "The algorithm compares what has the same role in a game of proposers and solvers."
_OWN = "The loss is a function of the user's own."
BEYOND: dict[str, tuple[Any, str]] = {
    "algo.sampling.source": ("policy", _TEACHER),
    **{
        f"algo.{group}.{key}": (None, _TEACHER)
        for group in ("sampling.source", "teacher")
        for key in """name base_url api_key_var wait_for_ready_timeout headers headers_from_env skip_model_check
        extra_headers_from_state admin_base_url""".split()
    },
    **dict.fromkeys(("algo.demo_key", "algo.template", "algo.renderer", "algo.teacher"), (None, _TEACHER)),
    **{f"algo.roles.{role}.alpha": (None, _ECHO) for role in ("system", "user", "assistant", "tool")},
    **{f"algo.roles.{role}": (None, _ECHO) for role in ("system", "user", "assistant", "tool")},
    **dict.fromkeys(("algo.filter", "algo.filter.import_path", "algo.filter.kwargs"), (None, _ECHO)),
    "algo.episode_agents": (None, _ROLES),
    "algo.decay": (None, "The algorithm compares a reward with what the same agent got in earlier batches."),
    "loss.import_path": (None, _OWN),
    "loss.kwargs": (None, _OWN),
    "environment.id": (
        None,
        "It is how a file named its environment until November 2025. The loss was another then, which the file of the"
        " trainer may say more of and which is not described here.",
    ),
}
REPLACED = {"environment.id": ("surrogate", "aggregate", "admit")}
"""Keys of an earlier version, with the parts that differed in it."""
ELSEWHERE = {
    "echo": _ECHO,
    "rae": BEYOND["algo.decay"][1],
    "hierarchical_grpo": _ROLES,
    "opd": _TEACHER,
    "opsd": _TEACHER,
    "sft": _TEACHER,
}
"""The algorithms of prime-rl that are not expressed here, with the reason."""
SOURCE = ("env", "serve", "name", "ratio", "sampling", "group_size", "algo", "curriculum")
"""Keys of one source of tasks."""
CONCEPTS = {COMPLETIONS: "group_size"}
ALIASES = {"rollouts_per_example": "group_size"}
"""Names from before May 2026 that prime-rl still accepts."""
_HARDWARE = "This does not touch the objective; prime-rl refuses some combinations."
ABOUT = {
    **dict.fromkeys(CHECKED, _HARDWARE),
    "group_size": "This is the number of completions per prompt; prime-rl's default is 1, of which nothing is learned.",
    "train.source": "These are the environments; one of them may have its own algorithm, group size and gates.",
    "train.sampling.temperature": "This is the temperature of the policy, for sampling and for the log-probabilities"
    " alike.",
    "max_off_policy_steps": "What an older policy than this many steps back has sampled is dropped before training.",
    "seq_len": "This is the longest sample; tokens beyond it are cut off and not trained on.",
    f"{PENALTY}num_input_tokens_weight": "This weighs the tokens that were only read. In one turn all of a group have"
    " read the same, and it does nothing.",
    f"{PENALTY}num_turns_weight": "This weighs the number of turns. Where all of a group have the same, it does nothing.",
    "loss.kl_tau": "This is the weight of the squared log-ratio to the sampler; prime-rl has no other reference.",
}
