"""The configuration of prime-rl 559b44772 (August 2026), `RLConfig`: what is read from rl.toml and as flags."""

from typing import Any

PENALTY = "algo.length_penalty."
WEIGHTS = {"num_output_tokens_weight": 0.25, "num_input_tokens_weight": 0.1, "num_turns_weight": 0.1}
"""Default weights of the length penalty, if it is given."""
_TEACHER = "Another model samples, and the policy imitates it with a cross-entropy."
_ECHO = "The algorithm adds cross-entropy on the tokens of the environment, of which a batch here has none."
_ROLES = "The algorithm compares what has the same role in a game of proposers and solvers."
_OWN = "The loss is a function of the user's own."
BEYOND: dict[str, tuple[Any, str]] = {
    "algo.sampling.source": ("policy", _TEACHER),
    **{
        f"algo.{group}.{key}": (None, _TEACHER)
        for group in ("sampling.source",)
        for key in """name base_url api_key_var wait_for_ready_timeout headers headers_from_env skip_model_check
        extra_headers_from_state admin_base_url""".split()
    },
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
ELSEWHERE = {
    "echo": _ECHO,
    "rae": BEYOND["algo.decay"][1],
    "hierarchical_grpo": _ROLES,
    "sft": _TEACHER,
}
"""The algorithms of prime-rl that are not expressed here, with the reason."""
TAUGHT = ("opd", "opsd")
"""The algorithms whose signal is a teacher: another model, or the policy with a demonstration in its prompt."""
OF_TEACHER = ("algo.teacher", "algo.demo_key", "algo.template", "algo.renderer")
"""Beginnings of the keys that describe the teacher."""
SOURCE = ("env", "serve", "name", "ratio", "sampling", "group_size", "algo", "curriculum")
"""Keys of one source of tasks."""
