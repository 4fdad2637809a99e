"""Claim: the mean reward of a group is an estimate of V(s), which is better the larger the group is."""

import numpy as np

from grpo_ref.arrays import Floats, Integers
from grpo_ref.lab.framework.experiment import Experiment, Measures, Points, Prediction, arm
from grpo_ref.lab.framework.tasks.drawn_bandits import FAMILY, drawn_kind
from grpo_ref.learning.policies.table import gather, policy_of, pull_back
from grpo_ref.learning.rollout import rollout
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import DR_GRPO, Recipe
from grpo_ref.tasks.bandit import bandit_with, exact_policy_gradient

CONTEXTS, MOST_ARMS, BATCHES = 8, 32, 64
COMPLETIONS = 64
"""Completions in a batch; the number of prompts follows from the group size."""
SIZES = (2, 4, 8, 16, 32)


def estimated(*, recipe: Recipe, group_size: int, prompts: int = 0, seeds: int, seed: int) -> Measures:
    """For a bandit and a policy per seed, many batches of some groups.

    Args:
      recipe: whose advantages are taken.
      group_size: G.
      prompts: groups of a batch, whose contexts are drawn; 0 for one group of each context.
      seeds, seed: number of bandits; base of their random numbers and of the family's draw.
    """
    runs = [
        _one_seed(np.random.default_rng([seed, run]), recipe, group_size, prompts, seed)
        for run in range(seeds)
    ]
    return {name: np.array([run[name] for run in runs]) for name in runs[0]}


def _one_seed(
    generator: np.random.Generator, recipe: Recipe, group_size: int, prompts: int, seed: int
) -> dict[str, float]:
    kind = drawn_kind(np.random.default_rng([seed, 7]), most_arms=MOST_ARMS)
    means, logits = kind.draw(generator, CONTEXTS)
    contexts = np.broadcast_to(np.arange(CONTEXTS), (BATCHES, CONTEXTS))
    if prompts:
        contexts = generator.integers(CONTEXTS, size=(BATCHES, prompts))
    errors, ascent = _batches(generator, recipe, (means, logits), contexts, group_size)
    exact = exact_policy_gradient(means, logits)
    rms = float(np.sqrt((errors**2).mean()))
    return {
        "bias": float(errors.mean()),
        "error": rms,
        "error x √G": rms * float(np.sqrt(group_size)),
        "gradient error": _distance(ascent, exact),
    }


def _batches(
    generator: np.random.Generator,
    recipe: Recipe,
    drawn: tuple[Floats, Floats],
    prompts: Integers,
    group_size: int,
) -> tuple[Floats, Floats]:
    """The errors of the group means, and the gradient of each batch.

    The gradient of a centered advantage is too short by (G - 1)/G, because a completion's own reward is part
    of the mean; that known factor is taken out.

    Args:
      generator: for the completions.
      recipe: whose advantages are taken.
      drawn: two (contexts, arms): mean rewards and logits.
      prompts: (batches, prompts) contexts.
      group_size: G.
    """
    means, logits = drawn
    policy = policy_of(np.broadcast_to(logits, (BATCHES, *logits.shape)))
    uniforms = generator.random((*prompts.shape, group_size, 1))
    batch = rollout(bandit_with(means), policy.probs, prompts, uniforms)
    values = (policy.probs[0] * means).sum(-1)[prompts]
    log_probs = gather(policy.log_probs, batch.states, batch.tokens)
    loss = policy_loss(
        log_probs, recipe.advantage(batch), batch.mask, recipe=recipe, max_length=1, metrics=()
    )
    ascent = -pull_back(loss.gradient, batch.states, batch.tokens, policy.probs)
    errors: Floats = batch.rewards.mean(-1) - values
    return errors, ascent * group_size / (group_size - 1)


def _distance(ascent: Floats, exact: Floats) -> float:
    """Power of ten of the root mean squared distance from the exact gradient, relative to its length."""
    return float(np.log10(((ascent - exact) ** 2).sum((-2, -1)).mean() / (exact**2).sum()) / 2.0)


FACTOR = 0.1
"""In powers of ten: a quarter more."""
LABELS = {f"G = {size}": size for size in SIZES}
AS_MANY = {f"{label}, as many": size for label, size in LABELS.items()}


def _less(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "gradient error", left, "less", right, FACTOR, main)


EXPERIMENT = Experiment(
    name="group_mean",
    title="Is the group's mean reward a good baseline?",
    group="advantages",
    claim="The mean reward of a group is an unbiased estimate of V(s), and a larger group makes it and the"
    " gradient less noisy.",
    source="Shao et al. 2024, DeepSeekMath, sec. 4.1.1 (arXiv:2402.03300), where the mean reward of a"
    " group is the baseline; a book chapter on GRPO (2026, not public), sec. 7.2, 'why group"
    " normalization works'",
    family=f"{FAMILY} Here there are {CONTEXTS} contexts of 2 to {MOST_ARMS} arms.",
    run=f"For each seed a bandit and a policy are sampled, and {BATCHES} batches with one group for each"
    f" context. Where it says 'as many', a batch has {COMPLETIONS} completions in all, for any size of the"
    " groups, and its contexts are sampled. Nothing is trained. V(s) and the gradient of the expected reward"
    " are known exactly. Advantages are centered and not divided.",
    measured="The error of the group mean (bias, and root of the mean square, in units of reward), and the"
    " root mean squared distance of a batch's gradient from the exact one, relative to the exact one's"
    " length, as a power of ten: 0.1 is a quarter more.",
    arms={label: arm(estimated, recipe=DR_GRPO, group_size=size) for label, size in LABELS.items()}
    | {
        label: arm(estimated, recipe=DR_GRPO, group_size=size, prompts=COMPLETIONS // size)
        for label, size in AS_MANY.items()
    },
    predictions=(
        _less(
            "The gradient of groups of 8 is less noisy than that of groups of 2", "G = 8", "G = 2", main=True
        ),
        Prediction("The mean of a group of 8 has no bias", "bias", "G = 8", "same", 0.0, 0.01, main=True),
        Prediction(
            "Its error falls as 1/√G: the error times √G is the same at 2 and at 32",
            "error x √G",
            "G = 2",
            "same",
            "G = 32",
            0.02,
        ),
        _less("The gradient of groups of 32 is less noisy than that of groups of 8", "G = 32", "G = 8"),
        _less("With as many completions, too, 8 is less noisy than 2", "G = 8, as many", "G = 2, as many"),
        _less("With as many completions, too, 32 is less noisy than 8", "G = 32, as many", "G = 8, as many"),
    ),
    panels=(
        Points(
            "gradient error",
            "error of the gradient of a batch /\n|exact gradient| (power of ten)",
            x={"one group per context": LABELS, f"{COMPLETIONS} completions": AS_MANY},
            xlabel="group size G (completions per prompt)",
            log="x",
        ),
        Points(
            "error",
            "error of the group mean (reward)",
            x={"one group": LABELS},
            xlabel="group size G (completions per prompt)",
            log="xy",
        ),
    ),
)
