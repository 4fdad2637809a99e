"""Claim: groups that are all right or all wrong teach nothing, and learning is faster without them."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.filters import mixed_groups
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
from grpo_ref.lab.framework.tasks.digit_sums import (
    FAMILY,
    PLAIN,
    PROMPTS,
    UPDATES,
    drawn_sums,
    labelled_answers,
)
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import TrainConfig, config_for
from grpo_ref.learning.policies.table import gather, log_softmax, policy_of, pull_back
from grpo_ref.learning.rollout import draw
from grpo_ref.learning.task import Task
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import Recipe, slot

GROUP, COPIES = 8, 5
"""Completions per prompt, and prompts per question: the filter has to judge every prompt."""
BUDGET = UPDATES * PROMPTS * GROUP
"""Completions of a training without redrawing; no arm needs fewer for its updates."""
PLACES = tuple(BUDGET * part / 25 for part in range(1, 26))
"""Numbers of completions at which arms are compared."""
MARGIN = 0.02


def gradients(*, recipe: Recipe, seeds: int, seed: int) -> Measures:
    """The gradient at the start: that of the dead groups of a batch, and that of the others."""
    task = drawn_sums(seed)
    generators = [np.random.default_rng([seed, run]) for run in range(seeds)]
    policy = policy_of(np.repeat(task.ref_logits[None], seeds, axis=0))
    batch = draw(task, policy, generators, prompts=64, group_size=GROUP)
    log_probs, mixed = gather(policy.log_probs, batch.states, batch.tokens), mixed_groups(batch.rewards)
    measures: Measures = {"dead groups": 1.0 - mixed.mean(-1)}
    for name, groups in (("dead", ~mixed), ("mixed", mixed)):
        mask = batch.mask & groups[..., None, None]
        loss = policy_loss(log_probs, recipe.advantage(batch), mask, recipe=recipe, metrics=())
        gradient = pull_back(loss.gradient, batch.states, batch.tokens, policy.probs)
        measures[f"gradient of {name} groups"] = np.sqrt((gradient**2).sum((-2, -1)))
    return measures


def learned(*, recipe: Recipe, seeds: int, seed: int, **config: Any) -> Measures:
    """Train on a task of the family, and count every completion that is sampled.

    Args:
      recipe: the algorithm.
      seeds, seed: independent runs, and the base of their random numbers and of the task.
      config: fields of `TrainConfig`.
    """
    task = drawn_sums(seed, copies=COPIES)
    sizes = {"updates": UPDATES, "prompts": PROMPTS, "group_size": GROUP}
    settings = config_for(task, seeds=seeds, seed=seed, **(sizes | config))
    tokens, mask = labelled_answers(task)
    states = task.starts[:, None] + np.arange(task.max_length)

    def correct(logits: Floats) -> Floats:
        rates: Floats = np.exp((log_softmax(logits)[..., states, tokens] * mask).sum(-1)).mean(-1)
        return rates

    found = curves(task, recipe, settings, ("dead_groups",), correct=lambda state: correct(state.params))
    cost = _completions(task, settings, found["dead_groups"]).cumsum(-1)
    start = correct(task.ref_logits)
    by_cost = np.stack(
        [
            np.interp(PLACES, [0.0, *spent], [start, *curve])
            for spent, curve in zip(cost, found["correct"], strict=True)
        ]
    )
    return summarized(found) | {
        "correct by completions": by_cost,
        "mean correct by completions": by_cost.mean(-1),
        "completions": cost[:, -1],
    }


def _completions(task: Task, config: TrainConfig, dead: Floats) -> Floats:
    """(S, U) how many completions each update is expected to sample, those of the filter included.

    Of the groups, a share d is dead and drawn anew up to R = resamples times, so there are
    1 + d + ... + d^R draws for each group of the batch.

    Args:
      task, config: of the training.
      dead: (S, U) the share of dead groups of each batch as it was drawn first.
    """
    draws = sum(dead**times for times in range(config.resamples + 1))
    updates = np.arange(config.updates)
    judged = (config.refilter_every > 0) & (updates % max(config.refilter_every, 1) == 0)
    completions: Floats = config.group_size * (config.prompts * draws + judged * len(task.prompts))
    return completions


MIXED = replace(PLAIN, keep=slot(mixed_groups))
RATES = {
    "adam": (0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
    "sgd": (100.0, 300.0, 1000.0, 3000.0, 10000.0, 30000.0),
}
BY_UPDATE, BY_COMPLETION = "mean correct", "mean correct by completions"
ENDINGS = {BY_UPDATE: "", BY_COMPLETION: ", by completions"}
"""Measure by which the learning rate is chosen -> ending of the arm's label."""


def _arms(
    label: str, optimizer: str = "adam", *, recipe: Recipe = PLAIN, resamples: int = 0, **config: Any
) -> dict[str, Arm]:
    """Return a training twice: with the learning rate that is best by updates, and best by completions."""
    settings = {"recipe": recipe, "resamples": resamples, "optimizer": optimizer, **config}
    return {
        label + ending: tuned(learned, Tuning("learning_rate", RATES[optimizer], by=measure), **settings)
        for measure, ending in ENDINGS.items()
    }


def _faster(says: str, left: str, right: str, measure: str, *, main: bool = False) -> Prediction:
    unit = {BY_UPDATE: "update by update", BY_COMPLETION: "completion by completion"}[measure]
    left, right = left + ENDINGS[measure], right + ENDINGS[measure]
    return Prediction(f"{says}, {unit}", measure, left, "more", right, MARGIN, main)


REDRAWN, FILTERED = "Dynamic sampling learns faster", "The filter learns faster"
ADAM, ADAM_REDRAWN, ADAM_FILTER = "all groups, Adam", "dynamic sampling, Adam", "filter, Adam"
LARGER = "all groups, four times the prompts, Adam"
SGD, SGD_REDRAWN = "all groups, SGD", "dynamic sampling, SGD"

EXPERIMENT = Experiment(
    name="dead_groups",
    title="Does it help to resample groups with equal rewards?",
    group="advantages",
    claim="Groups whose completions are all right or all wrong have no gradient; dropping and redrawing"
    " them, or keeping only prompts with a pass rate of 20 to 80 %, makes learning faster.",
    source="Yu et al. 2025, DAPO, dynamic sampling (arXiv:2503.14476); a book chapter on GRPO (2026, not"
    " public), sec. 7.4",
    family=FAMILY,
    run=f"There are {UPDATES} updates of {PROMPTS} x {GROUP} completions, {COPIES} prompts for each question,"
    " and no KL penalty. A group is called dead if its rewards are all equal. Training uses all groups; or"
    " dead groups are resampled up to 3 times (dynamic sampling); or only prompts with a pass rate of 20 to"
    " 80 % are used, estimated every 10 updates from one group each (filter). In the control batches have all"
    " groups and four times the prompts, about what resampling costs. Training with all groups and dynamic"
    " sampling are run with SGD too.",
    measured="The share of right completions over all prompts, computed from the policy at temperature 1: its"
    f" mean over the updates, and its mean over the first {BUDGET} sampled completions ('by completions')."
    " Each comparison is at the learning rates that are best for its own mean. For resampled groups the"
    " expected number of completions is counted, for the filter the exact number. The length of the gradient"
    " of dead groups is measured as well.",
    arms={
        "one batch": arm(gradients, recipe=PLAIN),
        **_arms(ADAM),
        **_arms(ADAM_REDRAWN, recipe=MIXED, resamples=3),
        **_arms(ADAM_FILTER, refilter_every=10, pass_low=0.2, pass_high=0.8),
        LARGER: _arms(LARGER, prompts=4 * PROMPTS)[LARGER],
        **_arms(SGD, "sgd"),
        **_arms(SGD_REDRAWN, "sgd", recipe=MIXED, resamples=3),
    },
    predictions=(
        _faster(f"{REDRAWN} (Adam)", ADAM_REDRAWN, ADAM, BY_UPDATE, main=True),
        _faster(f"{REDRAWN} (Adam)", ADAM_REDRAWN, ADAM, BY_COMPLETION, main=True),
        _faster(f"{FILTERED} (Adam)", ADAM_FILTER, ADAM, BY_UPDATE),
        _faster(f"{FILTERED} (Adam)", ADAM_FILTER, ADAM, BY_COMPLETION),
        _faster(f"{REDRAWN} (SGD)", SGD_REDRAWN, SGD, BY_UPDATE),
        _faster(f"{REDRAWN} (SGD)", SGD_REDRAWN, SGD, BY_COMPLETION),
        Prediction("Dead groups have no gradient", "gradient of dead groups", "one batch", "same", 0.0),
        Prediction(
            "Control: as many completions without redrawing, in larger batches, do the same (Adam)",
            "mean correct",
            LARGER,
            "same",
            ADAM_REDRAWN,
            MARGIN,
        ),
    ),
    panels=(
        Curves(
            "correct by completions",
            "right completions (share)",
            xlabel="completions",
            x=PLACES,
            arms=(
                *(label + ENDINGS[BY_COMPLETION] for label in (ADAM, ADAM_REDRAWN, ADAM_FILTER)),
                LARGER,
            ),
        ),
        Grid("right completions (mean over updates)", arms=(ADAM, ADAM_REDRAWN, ADAM_FILTER, LARGER)),
    ),
)
