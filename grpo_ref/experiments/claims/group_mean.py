"""Claim: the mean reward of a group is an estimate of V(s), which is better the larger the group is."""

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.experiments.framework.experiment import Experiment, Measures, Points, Prediction, arm
from grpo_ref.learning.policies.table import gather, policy_of, pull_back
from grpo_ref.learning.rollout import rollout
from grpo_ref.learning.tasks.bandit import bandit_with, exact_policy_gradient
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import DR_GRPO, Recipe

CONTEXTS, ARMS, BATCHES = 8, 10, 64
SIZES = (2, 4, 8, 16, 32)


def estimated(*, recipe: Recipe, group_size: int, seeds: int, seed: int) -> Measures:
    """For a bandit and a policy per seed, many batches of one group for each context.

    The gradient of a centered advantage is too short by (G - 1)/G, because a completion's own reward is part
    of the mean; that known factor is taken out before it is compared with the exact gradient.
    """
    runs = [_one_seed(np.random.default_rng([seed, run]), recipe, group_size) for run in range(seeds)]
    return {name: np.array([run[name] for run in runs]) for name in runs[0]}


def _one_seed(generator: np.random.Generator, recipe: Recipe, group_size: int) -> dict[str, float]:
    means, logits = generator.random((CONTEXTS, ARMS)), generator.normal(size=(CONTEXTS, ARMS))
    policy = policy_of(np.broadcast_to(logits, (BATCHES, CONTEXTS, ARMS)))
    prompts = np.broadcast_to(np.arange(CONTEXTS), (BATCHES, CONTEXTS))
    uniforms = generator.random((BATCHES, CONTEXTS, group_size, 1))
    batch = rollout(bandit_with(means), policy.probs, prompts, uniforms)
    values = (policy.probs[0] * means).sum(-1)[batch.prompts]
    error = batch.rewards.mean(-1) - values
    log_probs = gather(policy.log_probs, batch.states, batch.tokens)
    loss = policy_loss(
        log_probs, recipe.advantage(batch), batch.mask, recipe=recipe, max_length=1, metrics=()
    )
    ascent = -pull_back(loss.gradient, batch.states, batch.tokens, policy.probs)
    ascent = ascent * group_size / (group_size - 1)
    exact = exact_policy_gradient(means, logits)
    return {
        "bias": float(error.mean()),
        "squared error": float((error**2).mean()),
        "squared error x G": float((error**2).mean() * group_size),
        "gradient variance": _norm(ascent - ascent.mean(0)) / _norm(exact),
    }


def _norm(gradient: Floats) -> float:
    """Squared length of a gradient, or the mean of those of several gradients."""
    return float((gradient**2).sum((-2, -1)).mean())


EXPERIMENT = Experiment(
    name="group_mean",
    group="advantages",
    claim="The mean reward of a group is an unbiased estimate of V(s), and a larger group makes it and the"
    " gradient less noisy.",
    source="a book chapter on GRPO (2026, not public), sec. 7.2, 'why group normalization works'",
    run=f"For each seed there are a bandit of {CONTEXTS} contexts and {ARMS} arms, a random policy, and"
    f" {BATCHES} batches with one group for each context; nothing is trained. V(s) and the gradient of the"
    " expected reward are known exactly. Advantages are centered and not divided.",
    measured="The error of the group mean (in units of reward), and the variance of the gradient over"
    " batches, relative to the squared length of the exact gradient.",
    arms={f"G = {size}": arm(estimated, recipe=DR_GRPO, group_size=size) for size in SIZES},
    predictions=(
        Prediction("The mean of a group of 8 has no bias", "bias", "G = 8", "same", 0.0, margin=0.01),
        Prediction(
            "Its squared error falls as 1/G: the error times G is the same at 2 and at 32",
            "squared error x G",
            "G = 2",
            "same",
            "G = 32",
            margin=0.01,
        ),
        Prediction(
            "The gradient of groups of 8 is less noisy than that of groups of 2",
            "gradient variance",
            "G = 8",
            "less",
            "G = 2",
        ),
        Prediction(
            "The gradient of groups of 32 is less noisy than that of groups of 8",
            "gradient variance",
            "G = 32",
            "less",
            "G = 8",
        ),
    ),
    panels=(
        Points(
            "gradient variance",
            "variance of the gradient /\n|exact gradient|²",
            x={"one batch": {f"G = {size}": size for size in SIZES}},
            xlabel="group size G (completions per prompt)",
            log="xy",
        ),
        Points(
            "squared error",
            "squared error of the group mean\n(reward²)",
            x={"one group": {f"G = {size}": size for size in SIZES}},
            xlabel="group size G (completions per prompt)",
            log="xy",
        ),
    ),
)
