"""The keys of the group `algorithm`, RLinf a3816b59 (August 2026), and the groups beside it.

RLinf has no default for most of its keys and refuses a file without them. The values here are those of most
of its files for language models. If an actor reads a key with a default, that default is used; for
`clip_ratio_c` it is FSDP's, because Megatron's default ends in an error.
"""

from typing import Any

RULES = (
    "other rules than those for language models: log-probabilities of actions or of chunks of them, advantages per"
    " chunk, averages over episodes, and groups that are excluded by their mean reward."
)
EMBODIED = f"Only the actors of embodied tasks read it, which follow {RULES}"
OTHER_TASKS = {"embodied": f"Its actors follow {RULES}"}
NO_OBJECTIVE = "It is not reinforcement learning of a language model."
OF_OTHER_ACTORS = {
    "actor_critic": "it trains a critic as well",
    "opd": "it follows the log-probabilities that a teacher gives to chunks of actions",
    "grpo_dynamic": "it compares the turns of several agents",
    "grpo_video": "it compares the frames of videos",
}
"""Losses and advantages of other actors, each with the feature that no recipe has."""
BEYOND: dict[str, tuple[Any, str]] = {
    **dict.fromkeys(("logprob_type", "reward_type", "entropy_type"), (None, EMBODIED)),
    "filter_rewards": (False, EMBODIED),
    "loss_scales": (None, "It weighs the turns of several agents, which share a reward."),
    "down_sampling.do_down_sampling": (
        False,
        "It draws some of the completions by their answers and errors.",
    ),
    "critic_warmup_steps": (0, "Until then the policy is not trained at all."),
}
