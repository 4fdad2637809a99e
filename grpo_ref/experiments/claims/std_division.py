"""Claim: dividing by the group's standard deviation gives very easy and very hard prompts larger weights."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.experiments.framework.experiment import Curves, Experiment, Measures, Prediction, arm
from grpo_ref.experiments.framework.training import curves, summarized
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.policies.table import gather, policy_of, pull_back
from grpo_ref.learning.rollout import rollout
from grpo_ref.learning.state import TrainState
from grpo_ref.learning.tasks.bandit import bandit_with
from grpo_ref.learning.tasks.task import Task
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import DR_GRPO, GRPO, Recipe

RATES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98)
MIDDLE = RATES.index(0.5)
GROUP_SIZE, BATCHES = 256, 8
MIX = (0.05, 0.5, 0.95)
"""Pass rates of a hard, a medium and an easy prompt before training."""
STEP, SHORT = 0.05, 1e-3
"""Length of every step in logits, and of the gradient before it is multiplied by the learning rate."""
DIVIDED = replace(GRPO, kl_coef=0.0)
CENTERED = replace(DIVIDED, advantage=DR_GRPO.advantage)


def coins(rates: Sequence[float]) -> Task:
    """Prompts with a right and a wrong answer, the right one as likely as given."""
    right = np.array(rates)
    task = bandit_with(np.tile([1.0, 0.0], (len(right), 1)))
    return replace(task, ref_logits=np.log(np.stack([right, 1.0 - right], axis=-1)))


def gradients(*, recipe: Recipe, group_size: int, seeds: int, seed: int) -> Measures:
    """How far each prompt moves its own policy, relative to the prompt with a pass rate of one half."""
    task = coins(RATES)
    prompts = np.tile(np.arange(len(RATES)), (seeds, BATCHES))
    shape = (*prompts.shape[1:], group_size, 1)
    uniforms = np.stack([np.random.default_rng([seed, run]).random(shape) for run in range(seeds)])
    policy = policy_of(np.broadcast_to(task.ref_logits, (seeds, *task.ref_logits.shape)))
    batch = rollout(task, policy.probs, prompts, uniforms)
    log_probs = gather(policy.log_probs, batch.states, batch.tokens)
    loss = policy_loss(
        log_probs, recipe.advantage(batch), batch.mask, recipe=recipe, max_length=1, metrics=()
    )
    ascent = -pull_back(loss.gradient, batch.states, batch.tokens, policy.probs)[..., 0]
    return _weights(ascent / ascent[:, MIDDLE, None])


def theory(*, power: float, seeds: int, seed: int) -> Measures:
    """In a large group the gradient is p(1-p), and √(p(1-p)) after the division, relative to that at 1/2.

    The expected ascent of the right answer's logit is p(1-p) for centered rewards, and their standard
    deviation is √(p(1-p)).

    Args:
      power: 1, or 1/2 with the division.
      seeds: how often the same numbers are returned.
      seed: of no consequence.
    """
    rates = np.array(RATES)
    return _weights(np.tile((4.0 * rates * (1.0 - rates)) ** power, (seeds, 1)))


def _weights(relative: Floats) -> Measures:
    return {
        "gradient": relative,
        "gradient at 5 %": relative[:, RATES.index(0.05)],
        "gradient at 95 %": relative[:, RATES.index(0.95)],
    }


def learned(*, recipe: Recipe, seeds: int, seed: int) -> Measures:
    """Train on a hard, a medium and an easy prompt that share nothing, and compute their pass rates.

    Every step has the length STEP, because the gradient is always clipped: what a recipe can decide is only
    how much of the step each prompt gets.
    """
    task = coins(MIX)
    config = TrainConfig(
        updates=100,
        seeds=seeds,
        seed=seed,
        prompts=12,
        group_size=16,
        optimizer="sgd",
        max_grad_norm=SHORT,
        learning_rate=STEP / SHORT,
    )
    rates = curves(task, recipe, config, rates=_pass_rates)["rates"]
    return summarized({"hard prompt": rates[:, 0], "mix": rates.mean(1)})


def _pass_rates(state: TrainState) -> Floats:
    """(S, prompts) probability of the right answer to each prompt."""
    return policy_of(state.params).probs[..., 0]


EXPERIMENT = Experiment(
    name="std_division",
    group="advantages",
    claim="Dividing by the group's standard deviation gives prompts that are very easy or very hard larger"
    " weights: a question-level difficulty bias, which Dr. GRPO removes.",
    source="Liu et al. 2025, Dr. GRPO (arXiv:2503.20783)",
    run="Prompts have one right and one wrong answer and states of their own, and there is no KL penalty."
    f" First the gradient of prompts of known pass rates is taken from {BATCHES} groups of {GROUP_SIZE}"
    " each. Then three prompts with pass rates of 5 %, 50 % and 95 % are trained: 100 updates of 12 groups"
    " of 16 with SGD and steps of equal length, so that only the shares of the prompts in a step differ.",
    measured="The gradient of the right answer's logit, relative to that of a prompt with pass rate 1/2; and"
    " the pass rates, as means over training, computed from the policy.",
    arms={
        "divided": arm(gradients, recipe=DIVIDED, group_size=GROUP_SIZE),
        "only centered": arm(gradients, recipe=CENTERED, group_size=GROUP_SIZE),
        "divided, groups of 8": arm(gradients, recipe=DIVIDED, group_size=8),
        "√(4p(1-p))": arm(theory, power=0.5),
        "4p(1-p)": arm(theory, power=1.0),
        "training, divided": arm(learned, recipe=DIVIDED),
        "training, only centered": arm(learned, recipe=CENTERED),
    },
    predictions=(
        Prediction(
            "A prompt of 5 % has the weight √(4p(1-p)) with the division",
            "gradient at 5 %",
            "divided",
            "same",
            "√(4p(1-p))",
            0.03,
        ),
        Prediction(
            "A prompt of 5 % has the weight 4p(1-p) without the division",
            "gradient at 5 %",
            "only centered",
            "same",
            "4p(1-p)",
            0.03,
        ),
        Prediction(
            "The division gives hard prompts more weight",
            "gradient at 5 %",
            "divided",
            "more",
            "only centered",
            0.1,
        ),
        Prediction(
            "The division gives easy prompts more weight",
            "gradient at 95 %",
            "divided",
            "more",
            "only centered",
            0.1,
        ),
        Prediction(
            "The hard prompt is learned faster with the division",
            "mean hard prompt",
            "training, divided",
            "more",
            "training, only centered",
            0.05,
        ),
        Prediction(
            "The mix as a whole is learned faster without the division",
            "mean mix",
            "training, only centered",
            "more",
            "training, divided",
            0.01,
        ),
    ),
    panels=(
        Curves(
            "gradient",
            "gradient relative to that at p = 1/2",
            xlabel="pass rate p of the prompt",
            x=RATES,
        ),
        Curves("hard prompt", "pass rate of the hard prompt"),
    ),
    remark="The division makes the weights more even, but does not make them larger at the ends: a prompt of"
    " 50 % still moves its policy most, and arXiv:2601.20614 finds these weights of hard prompts too small.",
    chosen="The groups grew from 64 to 256 and the training was set up anew after trial runs, in which the"
    " bias of small groups was close to the margin and all runs ended alike.",
)
