"""Traps: configurations of the Tinker cookbook with effects that their author is unlikely to expect."""

from grpo_ref.explain.trap import Trap

LOSSES = "tinker-docs.thinkingmachines.ai, losses"
TRAPS = (
    Trap(
        "loss_fn_config.clip_high_threshold is below 1: it is a ratio, not a half-width",
        lambda s, given: (
            s.loss_fn in ("ppo", "cispo") and (s["loss_fn_config.clip_high_threshold"] or 1.0) < 1.0
        ),
        "The thresholds bound the ratio itself. With ppo, a good token of fresh data has the ratio 1, which is above this"
        " bound, so it gets no gradient. Write 1.28 for a half-width of 0.28.",
        LOSSES,
        {
            "loss_fn": "ppo",
            "loss_fn_config": {"clip_low_threshold": 0.2, "clip_high_threshold": 0.28},
        },
        {
            "loss_fn": "ppo",
            "loss_fn_config": {"clip_low_threshold": 0.8, "clip_high_threshold": 1.28},
        },
    ),
    Trap(
        "loss_fn_config sets a threshold that loss_fn does not read",
        lambda s, given: (
            s.loss_fn not in ("ppo", "cispo")
            and (
                s["loss_fn_config.clip_low_threshold"] is not None
                or s["loss_fn_config.clip_high_threshold"] is not None
            )
        ),
        "Only ppo and cispo bound the ratio. importance_sampling, the default, and dro have no clip.",
        LOSSES,
        {"loss_fn_config": {"clip_high_threshold": 1.2}},
        {"loss_fn": "ppo", "loss_fn_config": {"clip_high_threshold": 1.2}},
    ),
    Trap(
        "max_steps_off_policy is set, and importance_sampling has no clip",
        lambda s, given: s.max_steps_off_policy is not None and s.loss_fn == "importance_sampling",
        "The ratio to the sampler corrects stale completions, but nothing bounds it: a token that has become much more"
        " likely gets an arbitrarily large weight. ppo and cispo bound the ratio.",
        "tinker_cookbook rl/train.py, AsyncConfig",
        {"max_steps_off_policy": 3},
        {"max_steps_off_policy": 3, "loss_fn": "ppo"},
    ),
    Trap(
        "kl_penalty_coef with a temperature other than 1",
        lambda s, given: s.kl_penalty_coef > 0.0 and s.temperature != 1.0,
        "The cookbook states that other temperatures do not go well with the KL penalty: the sampler's log-probabilities are"
        " compared with those of the reference at temperature 1.",
        "tinker_cookbook rl/train.py, Config.temperature",
        {"kl_penalty_coef": 0.1, "temperature": 0.7},
        {"kl_penalty_coef": 0.1},
    ),
    Trap(
        "group_size is 1: every advantage is 0",
        lambda s, given: s.group_size == 1,
        "The reward of a single completion is its own mean.",
        "tinker_cookbook rl/data_processing.py, compute_advantages",
        {"group_size": 1},
        {"group_size": 2},
    ),
)
"""The traps, in the order in which they are reported."""
