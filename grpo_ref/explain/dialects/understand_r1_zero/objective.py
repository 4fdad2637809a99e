"""The objective of understand-r1-zero: the meaning of its keys, and the recipe that they give."""

from typing import Any

from grpo_ref.advantages import group_centered, group_normalized
from grpo_ref.aggregation import fixed_length, sequence_mean_token_mean
from grpo_ref.explain.bounds import clipped_as_given
from grpo_ref.explain.dialect import NO_CLIP_LOW, Objective, one_of
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.common.averages import EACH_MICRO_BATCH
from grpo_ref.explain.dialects.understand_r1_zero.kernels import penalized, zero_if_cut_off
from grpo_ref.explain.dialects.understand_r1_zero.phrases import PHRASES
from grpo_ref.explain.dialects.understand_r1_zero.traps import TRAPS
from grpo_ref.explain.groups_of_one import without_a_sibling
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_completions, all_groups, ended_completions
from grpo_ref.levels import token_level
from grpo_ref.penalties import k3
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.rewards import task_reward
from grpo_ref.surrogates import clipped, reinforce, two_sided_clipped

CRITICS = {
    "grpo": (slot(group_normalized, ddof=1, eps=1e-8), slot(sequence_mean_token_mean)),
    "drgrpo": (slot(group_centered), slot(fixed_length)),
}
ALLOWED = {
    "prompt_template": ("qwen_math", "no", "r1"),
    "verifier_version": ("fast", "math_verify"),
    "oracle_type": ("preference", "reward"),
}
"""Values that the parser accepts. critic_type="ppo" is the only value besides `CRITICS`, and needs a critic."""


def recipe(**config: Any) -> Recipe:
    """Return the recipe of `ZeroMathLearner`.

    Args:
      config: flags of `train_zero_math.py`, with underscores or hyphens.

    Raises:
      ValueError: if a key is unknown, or if a value would be refused.

    >>> print(recipe(critic_type="grpo").advantage)
    group_normalized(ddof=1, eps=1e-08)
    """
    return DIALECT.recipe(**config)


def _build(s: Settings) -> Recipe:
    _check(s)
    advantage, aggregate = one_of("critic_type", s.critic_type, CRITICS)
    return Recipe(
        reward=slot(zero_if_cut_off, **({} if s.reward_scale == 1.0 else {"scale": s.reward_scale})),
        keep=slot(all_groups),
        advantage=_advantage(s, advantage),
        level=token_level,
        surrogate=_surrogate(s),
        penalty=slot(k3, max_log_ratio=40.0),
        kl_coef=max(s.beta, 0.0),
        aggregate=aggregate,
        source=DIALECT.version,
        admit=slot(ended_completions if s.ignore_no_eos else all_completions),
    )


def _surrogate(s: Settings) -> Slot:
    if s.reinforce_update:
        return slot(reinforce)
    if s.cliprange < 0.0:
        return slot(clipped_as_given, clip_low=s.cliprange, clip_high=s.cliprange)
    return slot(clipped, clip_low=min(s.cliprange, NO_CLIP_LOW), clip_high=s.cliprange)


def _advantage(s: Settings, scores: Slot) -> Slot:
    """Return the advantage, with the KL in the reward if a reference is loaded for it or for the loss."""
    if s.critic_type == "grpo" and s.num_samples == 1:
        return slot(without_a_sibling)
    loaded = s.beta > 0.0 or s.kl_penalty_coef > 0.0
    if not loaded or s.kl_penalty_coef == 0.0:
        return scores
    return slot(penalized, scores=scores, kl_coef=s.kl_penalty_coef)


def _check(s: Settings) -> None:
    """Raise a ValueError for settings that oat's parser and `default_args_validation` refuse."""
    for key, values in ALLOWED.items():
        one_of(key, getattr(s, key), dict.fromkeys(values))


def _check_run(s: Settings) -> None:
    """Raise a ValueError for settings that stop a run of oat but do not change the objective."""
    if s.asynchronous and s.collocate:
        raise ValueError("asynchronous: not with collocate")
    if s.learn_rm and (s.exp_method == "no" or s.rm_pretrain):
        raise ValueError("learn_rm: only with an exp_method, and without rm_pretrain")
    if s.learn_rm_only and not s.best_of_n_eval:
        raise ValueError("learn_rm_only: only with best_of_n_eval")


DIALECT = dialect_of(
    __package__,
    Objective(
        build=_build,
        check_run=_check_run,
        averages=lambda s: EACH_MICRO_BATCH,
        phrases=PHRASES,
        forms={
            without_a_sibling: group_normalized,
            zero_if_cut_off: task_reward,
            clipped_as_given: two_sided_clipped,
        },
    ),
    TRAPS,
)
