"""Claim: ratio clipping over-penalizes rare tokens and under-penalizes frequent ones; DPPO does not."""

from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Grid,
    Measures,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.lab.framework.stale_data import largest_step
from grpo_ref.lab.framework.tasks.rare_answer import rare_answer
from grpo_ref.lab.framework.training import trained
from grpo_ref.learning.policies.table import Policy, policy_of
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import DPPO_KL, DPPO_TV, Recipe, slot
from grpo_ref.surrogates import clipped

CLIP = replace(DPPO_TV, surrogate=slot(clipped, clip_low=0.2, clip_high=0.2))
RATIO, TV, KL = "ratio clipping", "DPPO, binary TV", "DPPO, binary KL"
COMPARED = {RATIO: CLIP, TV: DPPO_TV, KL: DPPO_KL}
STATES = 64
RARE, FREQUENT = 0.05, 0.5
"""Old probabilities."""
EDGES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 0.75, 1.0)
"""Bounds of the classes of old probability for the curve."""
MIDDLES = tuple(float(np.sqrt(low * high)) for low, high in pairwise(EDGES))
ANY, NONE, MUCH = (0.0, 0.5), (0.0, 0.0), (0.5, 0.5)
"""Between which the share of its prompts is drawn for which a wrong answer pays."""
ANYWHERE, RARELY = (0.003, 0.5), (0.003, 0.03)
"""Between which the chance of the right answer is drawn at first."""


def held(*, recipe: Recipe, seeds: int, seed: int) -> Measures:
    """The share of the drawn tokens without a gradient after an equal step, by their old probability."""
    generator = np.random.default_rng([seed, 6])
    vocabulary, nats = int(generator.integers(8, 65)), np.exp(generator.uniform(*np.log((0.02, 0.5))))
    old, new = _moved(vocabulary, nats, seeds, seed)
    stopped = _stopped(recipe, old, new)
    shares = [_share(stopped, old.probs, low, high) for low, high in pairwise(EDGES)]
    rare, frequent = _share(stopped, old.probs, 0.0, RARE), _share(stopped, old.probs, FREQUENT, 1.0)
    return {
        "share held": np.stack(shares, -1),
        "rare held": rare,
        "frequent held": frequent,
        "rare - frequent": rare - frequent,
    }


def _moved(vocabulary: int, nats: float, seeds: int, seed: int) -> tuple[Policy, Policy]:
    """Two policies (S, N, V): from the first to the second all logits drift at random.

    Each state drifts so far that all states have the same divergence.
    """
    generators = [np.random.default_rng([seed, run]) for run in range(seeds)]
    shape = (STATES, vocabulary)
    logits, drift = (np.stack([one.normal(size=shape) for one in generators]) for _ in range(2))
    spread = np.stack([one.uniform(1.0, 8.0, size=(STATES, 1)) for one in generators])
    logits = spread * logits
    old = policy_of(logits)
    steps = largest_step(
        lambda step: old.divergences(policy_of(logits + step[..., None] * drift).log_probs) > nats,
        (seeds, STATES),
    )
    return old, policy_of(logits + steps[..., None] * drift)


def _stopped(recipe: Recipe, old: Policy, new: Policy) -> Floats:
    """(S, N, V) the share of a token's draws without a gradient; half of the draws are good, half are bad."""
    vocabulary = old.probs.shape[-1]
    advantages = np.broadcast_to(np.repeat([1.0, -1.0], vocabulary), (*old.probs.shape[:2], 2 * vocabulary))
    log_probs, old_log_probs = (np.tile(one.log_probs, 2)[..., None] for one in (new, old))
    mask = np.ones(log_probs.shape)
    loss = policy_loss(log_probs, advantages, mask, recipe=recipe, old_log_probs=old_log_probs, metrics=())
    none = (loss.gradient[..., 0] == 0.0).reshape(*old.probs.shape[:2], 2, vocabulary)
    stopped: Floats = none.mean(-2)
    return stopped


def _share(stopped: Floats, probs: Floats, low: float, high: float) -> Floats:
    """(S,) among the drawn tokens whose old probability lies between the two bounds."""
    drawn = np.where((probs >= low) & (probs < high), probs, 0.0)
    share: Floats = (drawn * stopped).sum((-2, -1)) / drawn.sum((-2, -1))
    return share


def learned(
    *,
    recipe: Recipe,
    luck: tuple[float, float] = ANY,
    chances: tuple[float, float] = ANYWHERE,
    use: Literal["drawn", "once"] = "drawn",
    learning_rate: float = 0.1,
    seeds: int,
    seed: int,
) -> Measures:
    """Train on a drawn task, with batches that are used for several steps or for one.

    Args:
      recipe: the algorithm.
      luck, chances: between which the luck and the chance of the right answer are drawn.
      use: whether each batch is used for as many steps as the family draws, or for one.
      learning_rate: step size.
      seeds, seed: number of runs; base of their random numbers and of the task.
    """
    generator = np.random.default_rng([seed, 7])
    options: dict[str, Any] = {
        "contexts": int(generator.integers(2, 9)),
        "answers": int(generator.integers(8, 65)),
        "spread": float(generator.uniform(0.0, 2.0)),
        "probability": float(np.exp(generator.uniform(*np.log(chances)))),
        "luck": float(generator.uniform(*luck)),
        "seed": seed,
    }
    sizes: dict[str, Any] = {
        "prompts": int(generator.integers(8, 17)),
        "group_size": int(generator.choice([4, 8, 16])),
    }
    drawn: dict[str, Any] = {
        "epochs": int(generator.choice([2, 4])),
        "minibatches": int(generator.choice([2, 4])),
    }
    steps = drawn if use == "drawn" else {}
    return trained(
        task=rare_answer,
        task_options=options,
        recipe=recipe,
        record=("reward",),
        updates=40,
        learning_rate=learning_rate,
        seeds=seeds,
        seed=seed,
        **sizes,
        **steps,
    )


def _best(label: str, rates: tuple[float, ...] = (0.03, 0.1, 0.3, 1.0), **settings: Any) -> Arm:
    return tuned(
        learned, Tuning("learning_rate", rates, by="mean reward"), recipe=COMPARED[label], **settings
    )


def _gains_more(left: str, where: str = "", *, main: bool = False) -> Prediction:
    says = f"{where.strip(', ')}: {left} gains more than clipping" if where else f"{left} gains more reward"
    return Prediction(
        says[0].upper() + says[1:], "mean reward", left + where, "more", RATIO + where, 0.02, main
    )


STEP = {label: f"{label}, one step" for label in COMPARED}

EXPERIMENT = Experiment(
    name="rare_tokens",
    title="Does ratio clipping treat rare tokens unfairly, and does DPPO avoid it?",
    group="clipping",
    claim="Ratio clipping over-penalizes tokens of low probability and under-penalizes tokens of high"
    " probability; DPPO's divergence masks do not.",
    source="DPPO (arXiv:2602.04879); a book chapter on GRPO (2026, not public), sec. 7.5.9",
    family=f"Policies of {STATES} states and 8 to 64 tokens, undecided in some states and certain in others"
    " (a standard deviation of the logits of 1 to 8), whose logits drift at random until every state has"
    " moved by 0.02 to 0.5 nats (log-uniform). And bandits of 2 to 8 states and 8 to 64 answers: the one that"
    " is right has a chance of 0.003 to 0.5 at first (log-uniform) and always pays; a wrong one pays, by"
    " luck, for a share of up to 0.5 of the prompts, which the policy cannot tell apart. Drawn are also the"
    " number of prompts (8 to 16), the size of the groups (4, 8 or 16), the passes over a batch (2 or 4) and"
    " into how many parts each is cut (2 or 4).",
    run="After the drift, tokens are sampled from the old policy, and each is good or bad with equal"
    " chance (`one step`). On the bandits, 40 batches are learned with Adam, each used for 4 to 16"
    " optimizer steps; in `once` for one step. In `no luck` rewards have no noise, in `much luck` they"
    " have the most, and in `rare at first` the right answer has a probability of 0.003 to 0.03 at first."
    " Ratio clipping is GRPO's clip of 0.2. A token is held if it gets no gradient. DPPO's masks hold a"
    " token if its probability has changed by a total variation (TV) of 0.15, or by a KL divergence of"
    " 0.05 nats.",
    measured="The share of the drawn tokens that get no gradient, for rare tokens (old probability below"
    f" {RARE:g}) and for frequent tokens (above {FREQUENT:g}); and the reward, as a mean over all of"
    " training, by which the learning rate is chosen.",
    arms={STEP[label]: arm(held, recipe=recipe) for label, recipe in COMPARED.items()}
    | {label: _best(label) for label in COMPARED}
    | {f"{label}, at 0.1": arm(learned, recipe=COMPARED[label], learning_rate=0.1) for label in (RATIO, TV)}
    | {f"{label}, no luck": _best(label, (1.0, 3.0, 10.0, 30.0), luck=NONE) for label in (RATIO, TV)}
    | {f"{label}, much luck": _best(label, luck=MUCH) for label in (RATIO, TV)}
    | {f"{label}, rare at first": _best(label, chances=RARELY) for label in (RATIO, TV)}
    | {f"{label}, once": arm(learned, recipe=COMPARED[label], use="once") for label in (RATIO, TV)},
    predictions=(
        Prediction(
            "Ratio clipping favors frequent tokens over rare ones more than binary TV does",
            "rare - frequent",
            STEP[RATIO],
            "more",
            STEP[TV],
            0.1,
            main=True,
        ),
        _gains_more(TV, main=True),
        Prediction(
            "It holds rare tokens more often than TV", "rare held", STEP[RATIO], "more", STEP[TV], 0.05
        ),
        Prediction(
            "It holds frequent tokens less often than TV",
            "frequent held",
            STEP[RATIO],
            "less",
            STEP[TV],
            0.05,
        ),
        Prediction(
            "Binary TV holds rare tokens at most 0.05 more often", "rare - frequent", STEP[TV], "less", 0.05
        ),
        Prediction(
            "Binary KL holds rare tokens at most 0.05 more often", "rare - frequent", STEP[KL], "less", 0.05
        ),
        _gains_more(KL),
        _gains_more(TV, ", at 0.1"),
        _gains_more(TV, ", no luck"),
        _gains_more(TV, ", much luck"),
        _gains_more(TV, ", rare at first"),
        Prediction(
            "Used once, nothing is held", "mean reward", f"{TV}, once", "same", f"{RATIO}, once", 0.001
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
        Grid("reward, mean of all updates", arms=tuple(COMPARED)),
    ),
)
