"""Traps: configurations of Tunix with effects that their author is unlikely to expect."""

from collections.abc import Set

from grpo_ref.explain.dialects.tunix.keys import SECTIONS
from grpo_ref.explain.dialects.tunix.refusals import DAPO, overlong
from grpo_ref.explain.settings import Settings
from grpo_ref.explain.trap import Trap

SHORT = 0.05
"""Largest width of a clip that limits the ratio of a whole completion. Wider clips hardly ever do."""
CLI = {"training_mode": "agentic_grpo"}


def _corrects(s: Settings) -> bool:
    return bool(s.sampler_is == "token" and s.use_rollout_logps)


def _unread(s: Settings, given: Set[str]) -> bool:
    """Return true if a key is in the section of the other mode, and none is in the section of this mode."""
    told = {section: any(key.startswith(f"{section}.") for key in given) for section in SECTIONS}
    return any(
        told[section] and s.training_mode != mode and not told[other]
        for section, (_, mode) in SECTIONS.items()
        for other in {*SECTIONS} - {section}
    )


TRAPS = (
    Trap(
        "dynamic_sampling is never read",
        lambda s, given: s.config_class == DAPO,
        "DAPOConfig has dynamic_sampling, True by default, but nothing reads it. Groups with equal"
        " rewards stay in the batch, and their tokens in the denominator.",
        "Tunix dapo_learner.py, DAPOConfig",
        {"config_class": DAPO},
        {"config_class": "GRPOConfig"},
    ),
    Trap(
        "overlong_buffer counts characters, not tokens",
        lambda s, given: bool(overlong(s)),
        "The length penalty counts the characters of the text, although the keys look like tokens. The"
        " default budget of 20480 is about 5000 tokens. There is no floor either: completions beyond the"
        " budget lose more than overlong_buffer_penalty.",
        "Tunix dapo_learner.py, reward_shaping",
        {"config_class": DAPO},
        {"config_class": DAPO, "overlong_buffer": None},
    ),
    Trap(
        "degenerate_group_masking is never read",
        lambda s, given: "degenerate_group_masking" in given,
        "Nothing reads degenerate_group_masking. Groups with equal rewards stay in the batch.",
        "Tunix agentic_grpo_learner.py, GRPOConfig",
        CLI | {"degenerate_group_masking": True},
        CLI,
    ),
    Trap(
        "algo_variant is only a label",
        lambda s, given: "algo_variant" in given,
        "algo_variant does not change the objective. loss_algo, advantage_estimator, loss_agg_mode and"
        " the class of the configuration do.",
        "Tunix algorithm_config.py",
        {"algo_variant": "gspo-token"},
        {"loss_algo": "gspo-token", "epsilon": 3e-4},
    ),
    Trap(
        "training_mode reads only its own section",
        _unread,
        "The keys are in the section of the other training_mode. grpo reads grpo_config, and agentic_grpo"
        " reads agentic_grpo_config.",
        "Tunix cli/grpo_main.py",
        {"agentic_grpo_config": {"beta": 0.0}},
        CLI | {"agentic_grpo_config": {"beta": 0.0}},
    ),
    Trap(
        "epsilon is PPO's, far too large for gspo-token",
        lambda s, given: s.loss_algo == "gspo-token" and s.epsilon > SHORT,
        "gspo-token's ratio is a mean over the completion, which hardly changes. The default, 0.2, never"
        " clips it. The paper uses 0.0003 and 0.0004.",
        "Tunix algo_core.py, grpo_loss_fn",
        {"loss_algo": "gspo-token"},
        {"loss_algo": "gspo-token", "epsilon": 3e-4},
    ),
    Trap(
        "sampler_is has no effect",
        lambda s, given: s.sampler_is is not None and not _corrects(s),
        "sampler_is needs the sampler's log-probabilities, which use_rollout_logps=False does not keep."
        " Any accepted name other than token also does nothing.",
        "Tunix grpo_learner.py, _generate_and_compute_advantage; agentic_grpo_learner.py",
        {"sampler_is": "token", "use_rollout_logps": False},
        {"sampler_is": "token"},
    ),
    Trap(
        "loss_agg_mode=sequence-mean-token-sum-norm divides by no length",
        lambda s, given: s.loss_agg_mode == "sequence-mean-token-sum-norm",
        "sequence-mean-token-sum-norm divides by the number of completions and by no length, unlike"
        " verl's seq-mean-token-sum-norm. The loss and its gradient grow with the length."
        " sequence-mean-token-scale also divides by the budget.",
        "Tunix common.py, aggregate_loss",
        {"loss_agg_mode": "sequence-mean-token-sum-norm"},
        {"loss_agg_mode": "sequence-mean-token-scale"},
    ),
    Trap(
        "num_generations is 1: every advantage is NaN",
        lambda s, given: s.num_generations == 1 and s.advantage_estimator == "grpo",
        "DAPOConfig does not check num_generations. The std of one reward is NaN in NumPy, and so is"
        " every advantage.",
        "Tunix dapo_learner.py, DAPOConfig; algo_core.py, compute_advantages",
        {"config_class": DAPO, "num_generations": 1},
        {"config_class": DAPO, "num_generations": 8},
    ),
)
"""The traps, in the order in which they are reported."""
