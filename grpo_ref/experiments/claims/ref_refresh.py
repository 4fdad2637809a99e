"""Claim: with a reference that is refreshed now and then, the KL penalty does not hold learning back."""

from dataclasses import replace

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.experiments.framework.experiment import Curves, Experiment, Measures, Prediction, arm
from grpo_ref.experiments.framework.tasks.synonyms import VOCABULARY, modes, right_answers, synonyms
from grpo_ref.experiments.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.learning.state import TrainState
from grpo_ref.recipes import GRPO, Recipe


def refreshed(*, recipe: Recipe, every: int, seeds: int, seed: int) -> Measures:
    """Train with a reference refreshed every so many updates, and measure the drift from the first one."""
    task, answers = synonyms(), right_answers(right=4, seed=0)
    settings = config_for(
        task,
        updates=200,
        prompts=12,
        group_size=8,
        learning_rate=0.1,
        ref_refresh=every,
        seeds=seeds,
        seed=seed,
    )
    start = _answers(log_softmax(task.ref_logits))

    def drift(state: TrainState) -> Floats:
        return _divergence(_answers(log_softmax(state.params)), start)

    def modes_left(state: TrainState) -> Floats:
        return modes(log_softmax(state.params), answers)

    return summarized(curves(task, recipe, settings, ("reward", "entropy"), drift=drift, modes=modes_left))


def _answers(log_probs: Floats) -> Floats:
    """(..., prompts, V, V) log-probability of every answer of two tokens; log_probs are (..., N, V)."""
    table = log_probs.reshape(*log_probs.shape[:-2], -1, 1 + VOCABULARY, VOCABULARY)
    answers: Floats = table[..., 0, :, None] + table[..., 1:, :]
    return answers


def _divergence(answers: Floats, start: Floats) -> Floats:
    """KL(policy || first reference) in nats per completion, averaged over the prompts."""
    divergence: Floats = (np.exp(answers) * (answers - start)).sum((-2, -1)).mean(-1)
    return divergence


HELD = replace(GRPO, kl_coef=0.3)
FREE = replace(GRPO, kl_coef=0.0)

EXPERIMENT = Experiment(
    name="ref_refresh",
    group="divergence",
    claim="Refreshing the reference now and then keeps the KL penalty from holding learning back, while the"
    " penalty still keeps the policy more varied and nearer to its start than none.",
    source="Liu et al. 2025, ProRL (arXiv:2505.24864); TRL, sync_ref_model",
    run="The task of `collapse` with four right answers per prompt. The algorithm is GRPO with k3 and"
    " kl_coef = 0.3; the reference is frozen, or replaced by the policy every 20 or 50 updates, while the"
    " state of the optimizer is kept.",
    measured="The mean reward at the end, the exact KL from the policy to the first reference (nats per"
    " completion), and the entropy of the policy (nats per token).",
    arms={
        "frozen": arm(refreshed, recipe=HELD, every=0),
        "every 50": arm(refreshed, recipe=HELD, every=50),
        "every 20": arm(refreshed, recipe=HELD, every=20),
        "no penalty": arm(refreshed, recipe=FREE, every=0),
    },
    predictions=(
        Prediction(
            "With a reference refreshed every 50 updates the reward ends higher than with a frozen one",
            "final reward",
            "every 50",
            "more",
            "frozen",
            0.02,
        ),
        Prediction(
            "With a refreshed reference the policy ends farther from its start than with a frozen one",
            "final drift",
            "every 50",
            "more",
            "frozen",
            0.1,
        ),
        Prediction(
            "With a refreshed reference the reward ends as high as without a penalty",
            "final reward",
            "every 50",
            "same",
            "no penalty",
            0.02,
        ),
        Prediction(
            "With a refreshed reference the policy stays nearer to its start than without a penalty",
            "final drift",
            "every 50",
            "less",
            "no penalty",
            0.1,
        ),
        Prediction(
            "With a refreshed reference the policy stays more varied than without a penalty",
            "final entropy",
            "every 50",
            "more",
            "no penalty",
            0.05,
        ),
        Prediction(
            "Refreshed every 20 updates, too, the policy stays more varied than without a penalty",
            "final entropy",
            "every 20",
            "more",
            "no penalty",
            0.05,
        ),
    ),
    panels=(
        Curves("reward", "mean reward"),
        Curves("drift", "KL to the first reference\n(nats per completion)"),
    ),
    remark="Every refresh accepts the variety lost until then: the penalty slows the loss but does not stop"
    " it.",
    chosen="A prediction that the source does not make was dropped, and a prediction was added that the"
    " policy stays more varied with a refresh every 50 updates, too.",
)
