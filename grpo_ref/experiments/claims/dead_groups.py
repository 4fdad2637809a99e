"""Claim: groups that are all right or all wrong teach nothing, and learning is faster without them."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.experiments.framework.experiment import Arm, Curves, Experiment, Measures, Prediction, arm
from grpo_ref.experiments.framework.tasks.chain import RIGHT, chain, pass_rates
from grpo_ref.kernels.filters import mixed_groups
from grpo_ref.learning.config import TrainConfig, config_for
from grpo_ref.learning.policies.table import gather, policy_of, pull_back
from grpo_ref.learning.rollout import draw
from grpo_ref.learning.state import initial_state
from grpo_ref.learning.tasks.task import Task
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import GRPO, Recipe, slot
from grpo_ref.training import train

LONGEST = 8
BUDGET = 2500
"""Completions after which learning is compared at equal cost; an update without redrawing costs 64."""


def gradients(*, recipe: Recipe, seeds: int, seed: int) -> Measures:
    """For a half-trained policy per seed: the gradient of its dead groups, and that of the others."""
    task = chain(longest=LONGEST, hardest_share=1 / LONGEST)
    generators = [np.random.default_rng([seed, run]) for run in range(seeds)]
    logits = np.stack([generator.normal(size=task.ref_logits.shape) for generator in generators])
    logits[..., RIGHT] += 2.0
    policy = policy_of(logits)
    batch = draw(task, policy, generators, prompts=64, group_size=8)
    log_probs, mixed = gather(policy.log_probs, batch.states, batch.tokens), mixed_groups(batch.rewards)
    measures: Measures = {"dead groups": 1.0 - mixed.mean(-1)}
    for name, groups in (("dead", ~mixed), ("mixed", mixed)):
        mask = batch.mask & groups[..., None, None]
        loss = policy_loss(log_probs, recipe.advantage(batch), mask, recipe=recipe, metrics=())
        gradient = pull_back(loss.gradient, batch.states, batch.tokens, policy.probs)
        measures[f"gradient of {name} groups"] = np.sqrt((gradient**2).sum((-2, -1)))
    return measures


def learned(*, recipe: Recipe, seeds: int, seed: int, **config: Any) -> Measures:
    """Train on prompts of all lengths, and count every completion that is sampled.

    Args:
      recipe: the algorithm.
      seeds, seed: independent runs, and the base of their random numbers.
      config: fields of `TrainConfig`.
    """
    task = chain(longest=LONGEST, hardest_share=1 / LONGEST)
    settings = config_for(task, seeds=seeds, seed=seed, **config)
    before, rates, costs = initial_state(task, settings), [], []
    for update in train(task, recipe, settings, before, metrics=()):
        costs.append(_completions(task, settings, before.update, pass_rates(task, before.params)))
        before = update.state
        rates.append(pass_rates(task, before.params).mean(-1))
    curve, cost = np.stack(rates, axis=-1), np.cumsum(costs, axis=0).T
    at_budget = [np.interp(BUDGET, *run) for run in zip(cost, curve, strict=True)]
    return {
        "pass rate": curve,
        "mean pass rate": curve.mean(-1),
        f"pass rate after {BUDGET} completions": np.array(at_budget),
        "completions": cost[:, -1],
    }


def _completions(task: Task, config: TrainConfig, update: int, rates: Floats) -> Floats:
    """(S,) how many completions an update is expected to sample, those of the filter included.

    A group is dead with probability d = p^G + (1-p)^G, averaged over prompts, and is drawn anew up to
    R = resamples times: 1 + d + ... + d^R draws for each group of the batch.
    """
    dead = (rates**config.group_size + (1.0 - rates) ** config.group_size).mean(-1)
    draws = sum(dead**times for times in range(config.resamples + 1))
    judged = config.refilter_every > 0 and update % config.refilter_every == 0
    completions: Floats = config.group_size * (config.prompts * draws + judged * len(task.prompts))
    return completions


PLAIN = replace(GRPO, kl_coef=0.0)
ADAM = {"optimizer": "adam", "learning_rate": 0.1}
SGD = {"optimizer": "sgd", "learning_rate": 10.0}


def _all(**config: Any) -> Arm:
    return arm(learned, recipe=PLAIN, resamples=0, **config)


def _dynamic(**config: Any) -> Arm:
    return arm(learned, recipe=replace(PLAIN, keep=slot(mixed_groups)), resamples=3, **config)


def _filtered(**config: Any) -> Arm:
    return _all(refilter_every=3, pass_low=0.2, pass_high=0.8, **config)


EXPERIMENT = Experiment(
    name="dead_groups",
    group="advantages",
    claim="Groups whose completions are all right or all wrong have no gradient; dropping and redrawing"
    " them, or keeping only prompts with a pass rate of 20 to 80 %, makes learning faster.",
    source="a book chapter on GRPO (2026, not public), sec. 7.4; Yu et al. 2025, DAPO, dynamic sampling"
    " (arXiv:2503.14476)",
    run=f"Prompts need 1 to {LONGEST} steps with 4 moves each and are drawn evenly; hard prompts share steps"
    " with easy ones. There are 75 updates of 8 x 8 completions without a KL penalty: with all groups; with"
    " dead groups redrawn up to 3 times (dynamic sampling); and with the prompts filtered every 3 updates by"
    " the pass rate of one group each. All of it is done with Adam and with SGD.",
    measured="The mean pass rate of the prompts, computed from the policy: its mean over training, and its"
    f" value after {BUDGET} sampled completions. Of redrawn groups the expected number of completions is"
    " counted, of the filter the exact number. The length of the dead groups' gradient is measured as well.",
    arms={
        "one batch": arm(gradients, recipe=PLAIN),
        "all groups, Adam": _all(**ADAM),
        "dynamic sampling, Adam": _dynamic(**ADAM),
        "filter, Adam": _filtered(**ADAM),
        "all groups, SGD": _all(**SGD),
        "dynamic sampling, SGD": _dynamic(**SGD),
        "filter, SGD": _filtered(**SGD),
    },
    predictions=(
        Prediction("Dead groups have no gradient", "gradient of dead groups", "one batch", "same", 0.0),
        Prediction(
            "Dynamic sampling learns faster, update by update (Adam)",
            "mean pass rate",
            "dynamic sampling, Adam",
            "more",
            "all groups, Adam",
            0.02,
        ),
        Prediction(
            "Dynamic sampling learns faster, completion by completion (Adam)",
            f"pass rate after {BUDGET} completions",
            "dynamic sampling, Adam",
            "more",
            "all groups, Adam",
            0.02,
        ),
        Prediction(
            "The filter learns faster, update by update (Adam)",
            "mean pass rate",
            "filter, Adam",
            "more",
            "all groups, Adam",
            0.02,
        ),
        Prediction(
            "Dynamic sampling learns faster, update by update (SGD)",
            "mean pass rate",
            "dynamic sampling, SGD",
            "more",
            "all groups, SGD",
            0.02,
        ),
        Prediction(
            "The filter learns faster, update by update (SGD)",
            "mean pass rate",
            "filter, SGD",
            "more",
            "all groups, SGD",
            0.02,
        ),
    ),
    panels=(
        Curves(
            "pass rate",
            "pass rate (mean over prompts)",
            arms=("all groups, Adam", "dynamic sampling, Adam", "filter, Adam"),
        ),
        Curves(
            "pass rate",
            "pass rate (mean over prompts)",
            arms=("all groups, SGD", "dynamic sampling, SGD", "filter, SGD"),
        ),
    ),
    remark="Dead groups shrink the mean gradient, and the steps of SGD with it. Adam divides by the"
    " gradient's usual size; with Adam it pays to learn on many prompts at once, and the filter admits few."
    " With a KL penalty or an entropy bonus dead groups have a gradient as well.",
)
