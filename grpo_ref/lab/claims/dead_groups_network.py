"""Claim: learning is faster without groups that are all right or all wrong, for a network as well."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.filters import mixed_groups
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Grid,
    Measures,
    Prediction,
    tuned,
)
from grpo_ref.lab.framework.network import RATES, SUMS, network_curves, sums
from grpo_ref.lab.framework.tasks.digit_sums import PLAIN, PROMPTS
from grpo_ref.lab.framework.training import summarized
from grpo_ref.recipes import Recipe, slot

UPDATES, GROUP, COPIES, RESAMPLES = 40, 8, 5, 3
"""Batches, completions per prompt, prompts per question, and how often a dead group is drawn anew."""
BUDGET = UPDATES * PROMPTS * GROUP
"""Completions of a training without redrawing; no arm needs fewer for its updates."""
PLACES = tuple(BUDGET * part / 25 for part in range(1, 26))
"""Numbers of completions at which arms are compared."""
MARGIN = 0.02
BY_UPDATE, BY_COMPLETION = "mean correct", "mean correct by completions"


def learned(
    *, recipe: Recipe, prompts: int, resamples: int, seeds: int, seed: int, **config: Any
) -> Measures:
    """Train a network on a task of the family, and count every completion that is sampled.

    Of the groups, a share d is dead and drawn anew up to R = resamples times, so there are
    1 + d + ... + d^R draws for each group of the batch.
    """
    sizes = {"updates": UPDATES, "prompts": prompts, "group_size": GROUP, "resamples": resamples}
    settings = {**sizes, **config, "seeds": seeds, "seed": seed}
    found = network_curves(sums(seed, COPIES), recipe, ("correct", "dead_groups"), **settings)
    draws = sum(found["dead_groups"] ** times for times in range(resamples + 1))
    before = np.cumsum(prompts * GROUP * draws, axis=-1) - prompts * GROUP * draws
    by_cost = np.stack(
        [np.interp(PLACES, spent, curve) for spent, curve in zip(before, found["correct"], strict=True)]
    )
    return summarized(found) | {
        "correct by completions": by_cost,
        BY_COMPLETION: by_cost.mean(-1),
        "dead at first": found["dead_groups"][:, 0],
    }


def _arm(*, by: str = BY_UPDATE, recipe: Recipe = PLAIN, prompts: int = PROMPTS, resamples: int = 0) -> Arm:
    tuning = RATES._replace(values=(0.003, 0.01, 0.03), by=by)
    return tuned(learned, tuning, recipe=recipe, prompts=prompts, resamples=resamples)


ALL, REDRAWN, LARGER = "all groups", "dynamic sampling", "all groups, four times the prompts"
ALL_BY_COMPLETION, REDRAWN_BY_COMPLETION = f"{ALL}, by completions", f"{REDRAWN}, by completions"
"""Arms whose learning rate is chosen by completions."""
MIXED = replace(PLAIN, keep=slot(mixed_groups))

EXPERIMENT = Experiment(
    name="dead_groups_network",
    title="Does it help to resample groups with equal rewards, with a network?",
    policy="network",
    beside="dead_groups",
    group="advantages",
    claim="Dropping and redrawing groups whose completions are all right or all wrong makes learning faster,"
    " where a pretrained network answers all questions with the same weights.",
    source="Yu et al. 2025, DAPO, dynamic sampling (arXiv:2503.14476); a book chapter on GRPO (2026, not"
    " public), sec. 7.4",
    family=SUMS,
    run=f"There are {UPDATES} updates of {PROMPTS} x {GROUP} completions, {COPIES} prompts for each question,"
    " and no KL penalty. A group is called dead if its rewards are all equal. Training uses all groups, or"
    f" dead groups are resampled up to {RESAMPLES} times (dynamic sampling). In the control batches have all"
    " groups and four times the prompts, which is the most that resampling can cost. Adam takes one step per"
    " batch.",
    measured="The share of right completions of each batch as it is first sampled, at temperature 1: its mean"
    f" over the updates, and its mean over the first {BUDGET} sampled completions ('by completions'). Each"
    " comparison is at the learning rates that are best for its own mean. For resampled groups the expected"
    " number of completions is counted.",
    arms={
        ALL: _arm(),
        REDRAWN: _arm(recipe=MIXED, resamples=RESAMPLES),
        LARGER: _arm(prompts=4 * PROMPTS),
        ALL_BY_COMPLETION: _arm(by=BY_COMPLETION),
        REDRAWN_BY_COMPLETION: _arm(by=BY_COMPLETION, recipe=MIXED, resamples=RESAMPLES),
    },
    predictions=(
        Prediction(
            "Dynamic sampling learns faster, update by update",
            BY_UPDATE,
            REDRAWN,
            "more",
            ALL,
            MARGIN,
            main=True,
        ),
        Prediction(
            "Dynamic sampling learns faster, completion by completion",
            BY_COMPLETION,
            REDRAWN_BY_COMPLETION,
            "more",
            ALL_BY_COMPLETION,
            MARGIN,
            main=True,
        ),
        Prediction(
            "Control: as many completions without redrawing, in larger batches, do the same",
            BY_UPDATE,
            LARGER,
            "same",
            REDRAWN,
            MARGIN,
        ),
    ),
    panels=(
        Curves(
            "correct by completions",
            "right completions (share)",
            xlabel="completions",
            x=PLACES,
            arms=(ALL_BY_COMPLETION, REDRAWN_BY_COMPLETION, LARGER),
        ),
        Grid("right completions (mean over updates)", arms=(ALL, REDRAWN, LARGER)),
    ),
)
