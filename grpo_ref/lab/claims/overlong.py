"""Claim: it misleads to count completions that the budget cut as wrong; other treatments are better."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.filters import ended_completions
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
from grpo_ref.lab.framework.reused_batches import largest_fall
from grpo_ref.lab.framework.tasks.reasoning import CHOICE, FAMILY, NO, YES, reasoning
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import gather, policy_of, pull_back
from grpo_ref.learning.rollout import draw
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import DAPO, GRPO, Recipe, slot
from grpo_ref.rewards import soft_overlong

BATCHES = 64
"""Batches from which the gradient at the start is estimated."""


def studied(*, recipe: Recipe, learning_rate: float, seeds: int, seed: int, **task: Any) -> Measures:
    """Train on a drawn task."""
    made = reasoning(seed, **task)
    config = config_for(made, seeds=seeds, seed=seed, learning_rate=learning_rate)
    found = curves(made, recipe, config, ("correct", "truncated"))
    return summarized(found) | {"largest fall": largest_fall(found["correct"])}


def at_start(*, recipe: Recipe, seeds: int, seed: int) -> Measures:
    """The gradient of many batches at the start: how noisy it is, and how much of it is for reasoning."""
    runs = [_at_start(recipe, seed, run) for run in range(seeds)]
    return {name: np.array([run[name] for run in runs]) for name in runs[0]}


def _at_start(recipe: Recipe, seed: int, run: int) -> dict[str, float]:
    ascent, starts = _ascent(recipe, seed, run)
    mean = ascent.mean(0)
    length = float(np.linalg.norm(mean))
    variance = float(((ascent - mean) ** 2).sum((-2, -1)).mean())
    push = (mean[starts, YES] - mean[starts, NO]).sum() / math.sqrt(2.0 * len(starts))
    return {"gradient noise": math.sqrt(variance) / length, "push to reason": float(push) / length}


def _ascent(recipe: Recipe, seed: int, run: int) -> tuple[Floats, Any]:
    """(B, N, V) where each of many batches moves the logits at the start, and the states of the choice."""
    task = reasoning(seed)
    policy = policy_of(np.tile(task.ref_logits, (BATCHES, 1, 1)))
    generators = [np.random.default_rng([seed, run, batch]) for batch in range(BATCHES)]
    batch = draw(task, policy, generators, prompts=16, group_size=8)
    loss = policy_loss(
        gather(policy.log_probs, batch.states, batch.tokens),
        recipe.advantage(replace(batch, rewards=recipe.reward(batch))),
        batch.mask & recipe.admit(batch)[..., None],
        recipe=recipe,
        max_length=task.max_length,
        metrics=(),
    )
    ascent = -pull_back(loss.gradient, batch.states, batch.tokens, policy.probs)
    return ascent, np.unique(task.starts) + CHOICE


BASE = replace(GRPO, kl_coef=0.0, aggregate=DAPO.aggregate)
FILTER = replace(BASE, admit=slot(ended_completions))
# A right answer earns 2 more than a wrong one here, as in DAPO. With rewards of 1 and 0 the weight 1 would be
# the 2 of the doubled penalty.
SOFT, DOUBLE = (replace(BASE, reward=slot(soft_overlong, buffer=0.2, weight=weight)) for weight in (1.0, 2.0))
PUNISHED, FILTERED, RAMP, TWICE = "counts as wrong", "left out", "soft punishment", "doubled penalty"
MARGIN = 0.02


def _arm(recipe: Recipe, **task: Any) -> Arm:
    rates = Tuning("learning_rate", (0.03, 0.1, 0.3, 1.0, 3.0), by="mean correct")
    return tuned(studied, rates, recipe=recipe, **task)


EXPERIMENT = Experiment(
    name="overlong",
    title="Should truncated completions be excluded from the loss?",
    group="aggregation",
    claim="Completions that the budget cuts mislead if they count as wrong, since their reasoning may be"
    " sound: leaving them out makes training better and steadier; so does a punishment that grows slowly.",
    source="Yu et al. 2025, DAPO, sec. 3.4 (arXiv:2503.14476); a book chapter on GRPO (2026, not public),"
    " sec. 7.5.2",
    family=FAMILY,
    run="There are 60 updates of 16 x 8 completions with Adam: GRPO with the token mean and without a KL"
    " penalty. A right answer earns 2 and a wrong one 0: the difference is that of DAPO's +1 and -1."
    " Truncated completions count as wrong, or are excluded from the loss (overlong"
    " filtering), or count as wrong and are penalized in addition. The penalty is DAPO's: it grows over the"
    " last fifth of the budget to 1 (the soft one) or to 2 (“doubled penalty”). Doubled is what the"
    " paper's weight of 1 amounts to with rewards of 1 and 0. The “ample” tasks are a control: the budget"
    " truncates about 1 % of the reasoning at first. In the “tight” tasks it truncates 90 %. The “useless”"
    " tasks were made to break the method: reasoning is right for half of the prompts, and the quick answer"
    " for more. “Start” is the initial policy, which is not trained.",
    measured="The share of right answers, sampled at temperature 1: its mean over the updates, by which the"
    " learning rate is chosen, and its largest fall below the best value so far (means of 5 updates). The"
    " share of truncated completions. For the initial policy: the standard deviation of the gradient of one"
    " batch, relative to the length of the expected gradient (“gradient noise”), and the cosine between the"
    " expected gradient and the direction that makes reasoning more likely (“push to reason”).",
    arms={
        PUNISHED: _arm(BASE),
        FILTERED: _arm(FILTER),
        RAMP: _arm(SOFT),
        TWICE: _arm(DOUBLE),
        f"{PUNISHED}, ample": _arm(BASE, cut=0.01),
        f"{FILTERED}, ample": _arm(FILTER, cut=0.01),
        f"{PUNISHED}, tight": _arm(BASE, cut=0.9),
        f"{FILTERED}, tight": _arm(FILTER, cut=0.9),
        f"{PUNISHED}, useless": _arm(BASE, useless=True),
        f"{FILTERED}, useless": _arm(FILTER, useless=True),
        f"{PUNISHED}, start": arm(at_start, recipe=BASE),
        f"{FILTERED}, start": arm(at_start, recipe=FILTER),
    },
    predictions=(
        Prediction(
            "Leaving cut completions out gives more right answers",
            "mean correct",
            FILTERED,
            "more",
            PUNISHED,
            MARGIN,
            main=True,
        ),
        Prediction(
            "A soft punishment gives more right answers",
            "mean correct",
            RAMP,
            "more",
            PUNISHED,
            MARGIN,
            main=True,
        ),
        Prediction(
            "Twice as heavy as in the paper, the penalty gives fewer right answers",
            "mean correct",
            TWICE,
            "less",
            RAMP,
            MARGIN,
        ),
        Prediction(
            "Leaving cut completions out makes training steadier: it falls less",
            "largest fall",
            FILTERED,
            "less",
            PUNISHED,
            MARGIN,
        ),
        Prediction(
            "Leaving cut completions out makes the gradient steadier",
            "gradient noise",
            f"{FILTERED}, start",
            "less",
            f"{PUNISHED}, start",
            0.1,
        ),
        Prediction(
            "Leaving cut completions out pushes more toward reasoning",
            "push to reason",
            f"{FILTERED}, start",
            "more",
            f"{PUNISHED}, start",
            0.1,
        ),
        Prediction(
            "Under a soft punishment fewer completions are cut than where they are left out",
            "mean truncated",
            RAMP,
            "less",
            FILTERED,
            MARGIN,
        ),
        Prediction(
            "Control: where hardly any completion is cut, it does not matter",
            "mean correct",
            f"{FILTERED}, ample",
            "same",
            f"{PUNISHED}, ample",
            MARGIN,
        ),
        Prediction(
            "Where nine tenths of the reasoning are cut at first, leaving them out gives more right answers",
            "mean correct",
            f"{FILTERED}, tight",
            "more",
            f"{PUNISHED}, tight",
            MARGIN,
        ),
        Prediction(
            "Where reasoning is of no use, leaving cut completions out does harm",
            "mean correct",
            f"{FILTERED}, useless",
            "less",
            f"{PUNISHED}, useless",
            MARGIN,
        ),
    ),
    panels=(
        Curves("correct", "share of right answers", arms=(PUNISHED, FILTERED, RAMP, TWICE)),
        Curves("truncated", "share of completions that are cut", arms=(PUNISHED, FILTERED, RAMP, TWICE)),
        Grid("right answers (mean over updates)", arms=(PUNISHED, FILTERED, RAMP, TWICE)),
    ),
)
