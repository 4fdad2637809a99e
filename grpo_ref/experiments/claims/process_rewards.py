"""Claim: rewards for every step teach more than a reward for the outcome."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.experiments.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Grid,
    Measures,
    Prediction,
    Tuning,
    tuned,
)
from grpo_ref.experiments.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.learning.tasks.task import END, Task
from grpo_ref.recipes import GRPO, Recipe
from grpo_ref.recipes.catalog import PROCESS_GRPO

RIGHT, PLEASING = 0, 1
"""The right move of most prompts, and one that a flawed judge finds better in some states."""
COPIES, PLEASURE = 10, 1.5
"""Prompts of a question, and what a flawed judge gives for the pleasing move; for the right one it is 1."""
HARD, EASY = 0.005, 0.5
"""The chances of a right answer before training, between which they are drawn."""
SIZES: Mapping[str, Any] = {"updates": 100, "prompts": 16, "group_size": 8}
MARGIN = 0.02


class Drawn(NamedTuple):
    """A task of the family.

    Attributes:
      task: with one criterion, "solved".
      labels: (Q, T) the right move of each step.
    """

    task: Task
    labels: Integers

    def chances(self, logits: Floats) -> Floats:
        """(..., Q) how likely each prompt is solved."""
        states = self.task.starts[:, None] + np.arange(self.task.max_length)
        chances: Floats = np.exp(log_softmax(logits)[..., states, self.labels].sum(-1))
        return chances


def drawn(
    seed: int,
    *,
    steps: int = 0,
    known: float = 0.0,
    random_errors: float = 0.0,
    flawed: float = 0.0,
    outcome: bool = False,
) -> Drawn:
    """A task of the family: a prompt is solved if all of its steps are right.

    Args:
      seed: of the task.
      steps: of every question; 0 to draw them.
      known: chance of a right answer to a median question before training; 0 to draw it.
      random_errors: share of the judge's verdicts on a prompt's moves that are the opposite of the truth.
      flawed: share of the states in which the judge finds a pleasing move better than the right one.
      outcome: whether the judge adds 1 to the last step of a solved prompt.
    """
    generator = np.random.default_rng([seed, 13])
    questions, drawn_steps = int(generator.integers(4, 25)), int(generator.integers(2, 9))
    moves, drawn_known = int(generator.integers(3, 7)), generator.uniform(np.log(HARD), np.log(EASY))
    mislabelled, length = generator.uniform(0.0, 0.3), steps or drawn_steps
    chance = (known or np.exp(drawn_known)) ** (1.0 / length)
    odds = np.log(chance / (1.0 - chance)) + 0.5 * generator.normal(size=(questions, length))
    logits = 0.5 * generator.normal(size=(questions, length, moves))
    logits[..., RIGHT] = odds + np.log(np.exp(logits[..., 1:]).sum(-1))
    own = np.repeat(np.arange(questions), COPIES)
    is_wrong = (generator.random(len(own)) < mislabelled)[:, None]
    labels = np.where(is_wrong, generator.integers(moves, size=(len(own), length)), RIGHT)
    verdicts = (np.arange(moves) == labels[..., None]).astype(np.float64)
    verdicts = np.where(generator.random(verdicts.shape) < random_errors, 1.0 - verdicts, verdicts)
    pleased = (generator.random((questions, length)) < flawed)[own]
    verdicts[..., PLEASING] = np.where(pleased, PLEASURE, verdicts[..., PLEASING])
    states = np.arange(questions * length)
    following = np.where(states % length == length - 1, END, states + 1)
    task = Task(
        name="steps_to_go",
        vocabulary=tuple("abcdef"[:moves]),
        transitions=np.repeat(following[:, None], moves, axis=1),
        prompts=tuple(f"{question}:" for question in own),
        starts=own * length,
        prompt_probs=np.full(len(own), 1.0 / len(own)),
        max_length=length,
        ref_logits=logits.reshape(-1, moves),
        verify=partial(_solved, labels),
        verify_steps=partial(_judged, labels, verdicts, float(outcome)),
        criteria=("solved",),
        weights=np.ones(1),
        settings=SIZES,
    )
    return Drawn(task, labels)


def _solved(labels: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    solved: Floats = (tokens == labels[prompts][..., None, :]).all(-1)[..., None].astype(np.float64)
    return solved


def _judged(
    labels: Integers, verdicts: Floats, outcome: float, prompts: Integers, tokens: Integers, mask: Bools
) -> tuple[Floats, Bools]:
    """Two (..., P, G, T): what the judge gives for every step, and every token as a step."""
    rewards = verdicts[prompts[..., None, None], np.arange(tokens.shape[-1]), tokens]
    rewards[..., -1] += outcome * _solved(labels, prompts, tokens, mask)[..., 0]
    return rewards, mask


def learned(
    *, recipe: Recipe, learning_rate: float, seeds: int, seed: int, judge: Mapping[str, Any] | None = None
) -> Measures:
    """Train on a task of the family, and compute how likely a prompt is solved, nothing sampled.

    Args:
      recipe: the algorithm.
      learning_rate: of Adam.
      seeds, seed: number of independent runs, and the base of their random numbers and of the task.
      judge: arguments of `drawn`.
    """
    made = drawn(seed, **(judge or {}))
    settings = config_for(made.task, seeds=seeds, seed=seed, learning_rate=learning_rate)
    return summarized(
        curves(made.task, recipe, settings, solved=lambda state: made.chances(state.params).mean(-1))
    )


RATES = (0.03, 0.1, 0.3, 1.0, 3.0)
OUTCOME, PROCESS = replace(GRPO, kl_coef=0.0), replace(PROCESS_GRPO, kl_coef=0.0)


def _arm(recipe: Recipe = PROCESS, **judge: Any) -> Arm:
    return tuned(learned, Tuning("learning_rate", RATES, by="mean solved"), recipe=recipe, judge=judge)


def _more(
    says: str, left: str, right: str, *, measure: str = "mean solved", main: bool = False
) -> Prediction:
    return Prediction(says, measure, left, "more", right, MARGIN, main)


EXPERIMENT = Experiment(
    name="process_rewards",
    group="rewards",
    claim="GRPO with process supervision is superior to GRPO with outcome supervision, which shows the"
    " benefit of fine-grained, step-aware gradient coefficients.",
    source="Shao et al. 2024, DeepSeekMath, sec. 5.2 (arXiv:2402.03300; read in summaries); against it"
    " DeepSeek-R1 (arXiv:2501.12948), which names reward hacking as a reason to do without a process reward"
    " model",
    family=f"4 to 24 questions of {COPIES} prompts each, which look the same to the policy. A prompt is"
    " solved if all of its 2 to 8 steps are right, of 3 to 6 moves each. At first 0.5 to 50 % of the answers"
    " to a median question are right (log-uniform), of some steps more than of others (logits with a standard"
    " deviation of 0.5). Up to 30 % of the prompts have labels of their own, at random.",
    run=f"There are {SIZES['updates']} updates of {SIZES['prompts']} x {SIZES['group_size']} completions with"
    " Adam and without a KL penalty. Outcome supervision rewards the whole completion with 1 if it is"
    " solved. Process supervision rewards every right step with 1, all steps of a group are normalized"
    " together, and a token is worth the sum of what follows. One flawed judge errs at random in 20 % of its"
    f" verdicts on moves; another gives {PLEASURE:g} for a wrong, pleasing move in 20 % of the states, once"
    " with the outcome on top. In the control questions have one step, so that process is outcome.",
    measured="How likely a prompt is solved, computed from the policy at temperature 1: its mean over the"
    " updates, by which the learning rate is chosen, and its mean over the last fifth of them.",
    arms={
        "outcome": _arm(OUTCOME),
        "process": _arm(),
        "process, random errors": _arm(random_errors=0.2),
        "process, flawed judge": _arm(flawed=0.2),
        "process, flawed judge, and outcome": _arm(flawed=0.2, outcome=True),
        "outcome, one step": _arm(OUTCOME, steps=1),
        "process, one step": _arm(steps=1),
        "outcome, hard": _arm(OUTCOME, known=HARD),
        "process, hard": _arm(known=HARD),
        "outcome, easy": _arm(OUTCOME, known=EASY),
        "process, easy": _arm(known=EASY),
    },
    predictions=(
        _more("Process supervision learns more", "process", "outcome", main=True),
        _more("It ends higher, too", "process", "outcome", measure="final solved"),
        _more("It learns more where 0.5 % is right at first", "process, hard", "outcome, hard"),
        _more("It learns more where 50 % is right at first", "process, easy", "outcome, easy"),
        Prediction(
            "Control: with one step the two are the same",
            "mean solved",
            "process, one step",
            "same",
            "outcome, one step",
            MARGIN,
        ),
        _more(
            "A judge that errs at random is still better than the outcome",
            "process, random errors",
            "outcome",
        ),
        _more(
            "Hostile: with a judge who finds a wrong move better, the outcome ends higher",
            "outcome",
            "process, flawed judge",
            measure="final solved",
        ),
        _more(
            "Hostile: also if the outcome is added to that judge's rewards",
            "outcome",
            "process, flawed judge, and outcome",
            measure="final solved",
        ),
    ),
    panels=(
        Curves(
            "solved",
            "solved prompts (share)",
            arms=(
                "outcome",
                "process",
                "process, random errors",
                "process, flawed judge",
                "process, flawed judge, and outcome",
            ),
        ),
        Curves(
            "solved",
            "solved prompts (share)",
            arms=("outcome, hard", "process, hard", "outcome, easy", "process, easy"),
        ),
        Grid(
            "solved prompts (mean over updates)",
            arms=("outcome", "process", "process, random errors", "process, flawed judge"),
        ),
    ),
    chosen="In the first family 2 to 50 % were right at first and no label was wrong; one solved prompt said"
    " all, and every arm had learned everything after a few large steps. After a look at the second, the one"
    " above, the pairs that fix how much is right at first took the place of a pair of eight steps.",
)
