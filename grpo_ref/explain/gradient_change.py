"""Measure the change of the gradient between two recipes on a typical batch.

The batch is synthetic and always the same: 16 prompts, some always solved and some never, completions of 1 to
64 tokens, some truncated, a policy that has taken a few steps since it sampled, a sampler that computes
slightly different probabilities, and a reference that is further away.
"""

from functools import cache
from types import SimpleNamespace

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import Recipe

PROMPTS, TOKENS, TOPS = 16, 64, 4
LARGEST_GROUP = 16
STEPS, NOISE, DRIFT = 0.1, 0.03, 0.3
"""Standard deviations of the log-ratios to the old policy, to the sampler and to the reference, in nats."""


def change(recipe: Recipe, other: Recipe, group_size: int = 8) -> float:
    """Return the relative difference of two recipes' gradients.

        |g - g'| / max(|g|, |g'|)        over all tokens of the typical batch

    Args:
      recipe, other: the recipes.
      group_size: completions per prompt, at least 2. Above 16, the batch has 16.

    Returns:
      0 for equal gradients, 1 if one recipe has no gradient, 2 at most; NaN if a gradient is not finite.
    """
    ours, theirs = (gradient(each, group_size) for each in (recipe, other))
    size = max(np.linalg.norm(ours), np.linalg.norm(theirs))
    return float(np.linalg.norm(ours - theirs) / size) if size else 0.0


def gradient(recipe: Recipe, group_size: int = 8) -> Floats:
    """Return the (P, G, T) gradient of the loss on the typical batch, computed from its rewards.

    Groups that the recipe would resample are excluded, and so are completions that it filters out.
    """
    record = _typical(min(max(group_size, 2), LARGEST_GROUP))
    admitted = np.asarray(recipe.admit(record), dtype=float)
    kept = np.asarray(recipe.keep(record), dtype=float)[:, None, None]
    mask = record.mask * kept * (admitted if admitted.ndim == record.mask.ndim else admitted[..., None])
    judged = SimpleNamespace(**{**vars(record), "rewards": recipe.reward(record), "mask": mask})
    names = ("entropies", "noise", "top_log_probs", "top_rollout_log_probs", "teacher_log_probs")
    others = {name: getattr(record, name) for name in names}
    result = policy_loss(
        record.log_probs,
        recipe.advantage(judged),
        mask,
        recipe=recipe,
        old_log_probs=record.old_log_probs,
        ref_log_probs=record.ref_log_probs,
        rollout_log_probs=record.rollout_log_probs,
        max_length=TOKENS,
        **others,
    )
    found: Floats = np.asarray(result.gradient)
    return found


@cache
def _typical(group_size: int) -> SimpleNamespace:
    """Return a batch with all arrays that a recipe may read."""
    rng = np.random.default_rng(2503)
    shape = (PROMPTS, group_size)
    solved = np.linspace(0.0, 1.0, PROMPTS)[:, None]
    rewards = (rng.random(shape) < solved).astype(float)
    lengths = np.clip(rng.lognormal(3.3, 0.6, shape), 1, TOKENS).astype(int)
    mask = (np.arange(TOKENS) < lengths[..., None]).astype(float)
    old = np.log(rng.beta(2.0, 0.7, mask.shape).clip(1e-3, 1 - 1e-6))

    def near(spread: float) -> Floats:
        others: Floats = np.minimum(old + spread * rng.standard_t(4, mask.shape), -1e-9)
        return others

    tops = np.log(rng.dirichlet(np.ones(TOPS + 1), mask.shape)[..., :TOPS].clip(1e-6))
    components = np.stack([rewards, lengths < TOKENS], axis=-1).astype(float)
    # Two turns: the first half of each completion in one state, the second half in one of two states.
    second = np.arange(TOKENS) >= lengths[..., None] // 2
    states = np.stack([np.zeros(shape), rng.random(shape) < 0.5], axis=-1).astype(int)
    return SimpleNamespace(
        rewards=rewards,
        components=components,
        weights=np.array([1.0, 0.0]),
        step_rewards=mask * rewards[..., None],
        step_ends=mask,
        greedy_rewards=np.round(solved) + np.zeros(shape),
        score_norms=1.0 - np.exp(old),
        turn_ids=np.where(mask > 0.0, second.astype(int), -1),
        turn_rewards=np.stack([np.zeros(shape), rewards], axis=-1),
        anchor_states=states + np.array([0, 1]),
        lengths=lengths.astype(float),
        ended=lengths < TOKENS,
        max_length=TOKENS,
        mask=mask,
        old_log_probs=old,
        log_probs=near(STEPS),
        rollout_log_probs=near(NOISE),
        ref_log_probs=near(DRIFT),
        entropies=rng.gamma(1.0, 0.5, mask.shape),
        noise=rng.random(mask.shape),
        top_log_probs=tops,
        top_rollout_log_probs=tops + STEPS * rng.normal(size=tops.shape),
        teacher_log_probs=near(DRIFT),
    )
