"""Claim: it misleads to count completions that the budget cut as wrong; other treatments are better."""

import math
from dataclasses import replace

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.experiments.framework.experiment import Curves, Experiment, Measures, Prediction, arm
from grpo_ref.experiments.framework.training import trained
from grpo_ref.kernels.filters import ended_completions
from grpo_ref.learning.policies.table import gather, policy_of, pull_back
from grpo_ref.learning.rollout import rollout
from grpo_ref.learning.tasks.task import END, Task
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import DAPO, GRPO, Recipe, slot

STEPS, BUDGET = 4, 12
"""Steps of the reasoning; with the choice to reason and the answer it takes STEPS + 2 tokens at least."""
EASY = (True, True, False, False, False)
"""For which of the prompts the quick answer is right; the policy cannot tell them apart."""
YES, NO = 0, 1
CHOICE, ANSWER = 0, STEPS + 1
"""The first and the last state; those between are the steps."""
AT_FIRST = {"reason": 0.5, "step": 0.25, "sound": 0.9}
"""Probabilities to reason, to step on instead of wandering, and to draw the right conclusion at the end."""
GAP = 2.0
"""Reward of a right answer over that of a wrong one, as between DAPO's 1 and -1."""
BATCHES = 32
"""Batches from which the gradient at the start is estimated."""


def reasoning() -> Task:
    """Answer at once, which is right for two prompts of five, or reason, which is right for all if sound.

    Reasoning takes some steps; before each step the policy may wander for as many tokens as it likes, and the
    budget cuts off what has not reached an answer. All prompts share their states.
    """
    transitions = np.stack([np.arange(1, STEPS + 3), np.arange(STEPS + 2)], axis=-1)
    transitions[CHOICE, NO] = END
    transitions[ANSWER] = END
    shares = np.array([AT_FIRST["reason"], *[AT_FIRST["step"]] * STEPS, AT_FIRST["sound"]])
    ref_logits = np.zeros((STEPS + 2, 2))
    ref_logits[:, YES] = np.log(shares / (1.0 - shares))
    return Task(
        name="reasoning",
        vocabulary=("+", "-"),
        transitions=transitions,
        prompts=tuple("12345"),
        starts=np.full(len(EASY), CHOICE),
        prompt_probs=np.full(len(EASY), 1.0 / len(EASY)),
        max_length=BUDGET,
        ref_logits=ref_logits,
        verify=_judge,
        criteria=("correct", "reasons"),
        weights=np.array([GAP, 0.0]),
        settings={"updates": 100, "prompts": 8, "group_size": 8, "learning_rate": 0.05},
    )


def _judge(prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    """(..., P, G, 2): is the answer right, and did it reason? Sound reasoning has a yes in every state."""
    reasons = tokens[..., 0] == YES
    sound = ((tokens == YES) & mask).sum(-1) == STEPS + 2
    quick = np.array(EASY)[prompts][..., None]
    return np.stack([np.where(reasons, sound, quick), reasons], axis=-1).astype(np.float64)


def studied(*, recipe: Recipe, seeds: int, seed: int) -> Measures:
    """Train, and before that compute the gradient of many batches at the start."""
    record = ("correct", "reasons", "truncated")
    runs = [_at_start(recipe, np.random.default_rng([seed, run])) for run in range(seeds)]
    start = {name: np.array([run[name] for run in runs]) for name in runs[0]}
    return trained(task=reasoning, recipe=recipe, record=record, seeds=seeds, seed=seed) | start


def _at_start(recipe: Recipe, generator: np.random.Generator) -> dict[str, float]:
    ascent = _ascent(recipe, generator)
    mean = ascent.mean(0)
    length = float(np.linalg.norm(mean))
    variance = float(((ascent - mean) ** 2).sum((-2, -1)).mean())
    push = float(mean[CHOICE, YES] - mean[CHOICE, NO]) / math.sqrt(2.0)
    return {"gradient noise": math.sqrt(variance) / length, "push to reason": push / length}


def _ascent(recipe: Recipe, generator: np.random.Generator) -> Floats:
    """(B, N, V) the direction in which each of many batches moves the logits at the start."""
    task = reasoning()
    sizes = BATCHES, task.settings["prompts"], task.settings["group_size"]
    policy = policy_of(np.tile(task.ref_logits, (BATCHES, 1, 1)))
    prompts = generator.integers(len(EASY), size=sizes[:-1])
    batch = rollout(task, policy.probs, prompts, generator.random((*sizes, BUDGET)))
    loss = policy_loss(
        gather(policy.log_probs, batch.states, batch.tokens),
        recipe.advantage(replace(batch, rewards=recipe.reward(batch))),
        batch.mask & recipe.admit(batch)[..., None],
        recipe=recipe,
        max_length=BUDGET,
        metrics=(),
    )
    return -pull_back(loss.gradient, batch.states, batch.tokens, policy.probs)


BASE = replace(GRPO, kl_coef=0.0, aggregate=DAPO.aggregate)
PUNISHED, FILTERED, RAMP = "counts as wrong", "left out", "soft punishment"

EXPERIMENT = Experiment(
    name="overlong",
    group="aggregation",
    claim="Completions that the budget cuts mislead if they count as wrong, since their reasoning may be"
    " sound: leaving them out makes training better and steadier; so does a punishment that grows slowly.",
    source="Yu et al. 2025, DAPO, sec. 3.4 (arXiv:2503.14476); a book chapter on GRPO (2026, not public),"
    " sec. 7.5.2",
    run="The policy gives a quick answer, which is right for two of five prompts, or it reasons, which is"
    f" right for all prompts if sound. Reasoning takes {STEPS} steps, and the policy wanders between them,"
    f" so that a budget of {BUDGET} tokens cuts most of it at first. The algorithm is GRPO with the token"
    " mean and without a KL penalty; completions that are cut count as wrong, or are masked (overlong"
    " filtering), or count as wrong while length is punished in the last fifth of the budget.",
    measured="The share of right answers and that of completions that are cut, as means over all of"
    " training. At the start of training, the gradient of one batch: its standard deviation relative to the"
    " length of the expected gradient, and the cosine of the expected gradient with the direction that makes"
    " reasoning likelier.",
    arms={
        PUNISHED: arm(studied, recipe=BASE),
        FILTERED: arm(studied, recipe=replace(BASE, admit=slot(ended_completions))),
        RAMP: arm(studied, recipe=replace(BASE, reward=DAPO.reward)),
    },
    predictions=(
        Prediction(
            "Leaving cut completions out gives more right answers",
            "mean correct",
            FILTERED,
            "more",
            PUNISHED,
            0.02,
        ),
        Prediction(
            "A soft punishment gives more right answers", "mean correct", RAMP, "more", PUNISHED, 0.02
        ),
        Prediction(
            "Leaving cut completions out makes the gradient steadier",
            "gradient noise",
            FILTERED,
            "less",
            PUNISHED,
            0.1,
        ),
        Prediction(
            "Leaving cut completions out pushes more toward reasoning",
            "push to reason",
            FILTERED,
            "more",
            PUNISHED,
            0.1,
        ),
        Prediction(
            "Under a soft punishment fewer completions are cut than where they are left out",
            "mean truncated",
            RAMP,
            "less",
            FILTERED,
            0.01,
        ),
    ),
    panels=(
        Curves("correct", "share of right answers"),
        Curves("truncated", "share of completions that are cut"),
    ),
    remark="Masked completions still enter the mean and the standard deviation of their group. To count them"
    " as wrong also teaches the policy to be brief, which leaving them out does not.",
    chosen="About a dozen environments were tried. Right answers are measured as a mean over training, since"
    " every environment was solved in the end. In all of them the effect of filtering stayed within the"
    " margin, and that of the soft punishment below zero.",
)
