"""Claim: ratio clipping over-penalizes rare tokens and under-penalizes frequent ones; DPPO does not."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.experiments.framework.experiment import Arm, Curves, Experiment, Measures, Prediction, arm
from grpo_ref.experiments.framework.stale_data import largest_step
from grpo_ref.experiments.framework.training import trained
from grpo_ref.kernels.surrogates import clipped
from grpo_ref.learning.policies.table import Policy, policy_of
from grpo_ref.learning.tasks.bandit import bandit_with
from grpo_ref.learning.tasks.task import Task
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import DPPO_KL, DPPO_TV, Recipe, slot

RATIO = replace(DPPO_TV, surrogate=slot(clipped, clip_low=0.2, clip_high=0.2))
COMPARED = {"ratio clipping": RATIO, "DPPO, binary TV": DPPO_TV, "DPPO, binary KL": DPPO_KL}
STATES, VOCABULARY = 64, 32
SPREAD = 4.0
"""Standard deviation of the old logits: two states in five have a token with most of the probability."""
DIVERGENCE = 0.15
"""KL(old ‖ new) of every state, in nats."""
RARE, FREQUENT = 0.03, 0.75
"""Old probabilities. Above 0.75, a change by 0.15, DPPO's threshold, changes the ratio by less than 20 %."""
EDGES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, FREQUENT, 1.0)
"""Bounds of the classes of old probability."""
MIDDLES = tuple(float(np.sqrt(low * high)) for low, high in pairwise(EDGES))


def held(*, recipe: Recipe, seeds: int, seed: int) -> Measures:
    """The share of the drawn tokens without a gradient after an equal step, by their old probability."""
    old, new = _moved(seeds, seed)
    stopped = _stopped(recipe, old, new)
    shares = [_share(stopped, old.probs, low, high) for low, high in pairwise(EDGES)]
    rare, frequent = _share(stopped, old.probs, 0.0, RARE), _share(stopped, old.probs, FREQUENT, 1.0)
    return {"share held": np.stack(shares, -1), "frequent held": frequent, "rare - frequent": rare - frequent}


def _moved(seeds: int, seed: int) -> tuple[Policy, Policy]:
    """Two policies (S, N, V): from the first to the second all logits drift at random.

    Each state drifts so far that all states have the same divergence.
    """
    generators = [np.random.default_rng([seed, run]) for run in range(seeds)]
    shape = (STATES, VOCABULARY)
    logits, drift = (np.stack([one.normal(size=shape) for one in generators]) for _ in range(2))
    logits = SPREAD * logits
    old = policy_of(logits)
    steps = largest_step(
        lambda step: old.divergences(policy_of(logits + step[..., None] * drift).log_probs) > DIVERGENCE,
        (seeds, STATES),
    )
    return old, policy_of(logits + steps[..., None] * drift)


def _stopped(recipe: Recipe, old: Policy, new: Policy) -> Floats:
    """(S, N, V) the share of a token's draws without a gradient; half of the draws are good, half are bad."""
    advantages = np.broadcast_to(np.repeat([1.0, -1.0], VOCABULARY), (*old.probs.shape[:2], 2 * VOCABULARY))
    log_probs, old_log_probs = (np.tile(one.log_probs, 2)[..., None] for one in (new, old))
    mask = np.ones(log_probs.shape)
    loss = policy_loss(log_probs, advantages, mask, recipe=recipe, old_log_probs=old_log_probs, metrics=())
    none = (loss.gradient[..., 0] == 0.0).reshape(*old.probs.shape[:2], 2, VOCABULARY)
    stopped: Floats = none.mean(-2)
    return stopped


def _share(stopped: Floats, probs: Floats, low: float, high: float) -> Floats:
    """(S,) among the drawn tokens whose old probability lies between the two bounds."""
    drawn = np.where((probs >= low) & (probs < high), probs, 0.0)
    share: Floats = (drawn * stopped).sum((-2, -1)) / drawn.sum((-2, -1))
    return share


def rare_answer(*, contexts: int = 8, arms: int = 32, probability: float = 0.01) -> Task:
    """A bandit whose only paying arm, the first of each context, is rarely pulled at the start."""
    logits = 1.5 * np.random.default_rng(0).normal(size=(contexts, arms))
    others = np.log(np.exp(logits[:, 1:]).sum(-1))
    logits[:, 0] = others + np.log(probability / (1.0 - probability))
    means = np.zeros((contexts, arms))
    means[:, 0] = 1.0
    return replace(bandit_with(means), name="rare_answer", ref_logits=logits)


def _trained(recipe: Recipe) -> Arm:
    return arm(
        trained,
        task=rare_answer,
        recipe=recipe,
        record=("reward",),
        updates=100,
        epochs=8,
        learning_rate=0.1,
    )


EXPERIMENT = Experiment(
    name="rare_tokens",
    group="clipping",
    claim="Ratio clipping over-penalizes tokens of low probability and under-penalizes tokens of high"
    " probability; DPPO's divergence masks do not.",
    source="DPPO (arXiv:2602.04879); a book chapter on GRPO (2026, not public), sec. 7.5.9",
    run=f"The logits of {STATES} states of {VOCABULARY} tokens drift at random until every state has moved"
    f" by {DIVERGENCE} nats; the tokens are drawn from the old policy, and a coin decides whether they are"
    " good or bad. And on a bandit of 32 arms, of which the only one that pays starts at a probability of 1"
    " %, there are 100 batches of 16 prompts with groups of 8, each used for 8 steps. Ratios are clipped at"
    " 0.2; the masks hold tokens from 0.15 (TV) or 0.05 nats (KL) on.",
    measured="The share of the drawn tokens that get no gradient, for rare tokens (old probability below"
    f" {RARE:.0%}) and for frequent tokens (above {FREQUENT:.0%}); and the reward, as a mean over all of"
    " training.",
    arms={
        **{f"{label}, one step": arm(held, recipe=recipe) for label, recipe in COMPARED.items()},
        **{label: _trained(recipe) for label, recipe in COMPARED.items()},
    },
    predictions=(
        Prediction(
            "After an equal step, ratio clipping holds rare tokens more often than frequent ones",
            "rare - frequent",
            "ratio clipping, one step",
            "more",
            0.0,
            margin=0.05,
        ),
        Prediction(
            "After an equal step, ratio clipping holds frequent tokens less often than binary TV",
            "frequent held",
            "ratio clipping, one step",
            "less",
            "DPPO, binary TV, one step",
            margin=0.05,
        ),
        Prediction(
            "Binary TV holds at most 0.05 more of the rare tokens than of the frequent ones",
            "rare - frequent",
            "DPPO, binary TV, one step",
            "less",
            0.05,
        ),
        Prediction(
            "Binary KL holds at most 0.05 more of the rare tokens than of the frequent ones",
            "rare - frequent",
            "DPPO, binary KL, one step",
            "less",
            0.05,
        ),
        Prediction(
            "Where the right answer starts rare, binary TV gains more reward than ratio clipping",
            "mean reward",
            "DPPO, binary TV",
            "more",
            "ratio clipping",
            margin=0.02,
        ),
        Prediction(
            "Where the right answer starts rare, binary KL gains more reward than ratio clipping",
            "mean reward",
            "DPPO, binary KL",
            "more",
            "ratio clipping",
            margin=0.02,
        ),
    ),
    panels=(
        Curves(
            "share held",
            "share of drawn tokens without a gradient",
            xlabel="old probability of the token",
            x=MIDDLES,
            log="x",
        ),
        Curves("reward", "reward"),
    ),
    remark="At steps below 0.05 nats the masks hold no token at all, while ratio clipping still holds rare"
    " tokens. It also holds the tokens between rare and frequent more often than the masks do.",
    chosen="Three numbers of the environment (what counts as frequent, the size of the step, the spread of"
    " the probabilities) were changed until the effect on frequent tokens showed; before that, it was first"
    " opposite and then at its margin.",
)
