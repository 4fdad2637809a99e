"""Claims: what keeps a policy from giving only one of several right answers, and how to notice it."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.experiments.framework.experiment import Comparison, Curves, Experiment, Measures, Points, arm
from grpo_ref.experiments.framework.training import summarised
from grpo_ref.kernels.diversity import has_collapsed
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.learning.tasks.task import END, Task
from grpo_ref.recipes import GRPO, Recipe
from grpo_ref.training import train

PROMPTS, VOCABULARY = 12, 8
RECORD = ("reward", "entropy", "distinct_bigrams", "reward_width", "dead_groups")
TRAINING: Mapping[str, Any] = {"updates": 150, "prompts": 12, "group_size": 8, "learning_rate": 0.1}


def synonyms(*, right: int = 4, spread: float = 1.0, seed: int = 0) -> Task:
    """Answers of two tokens, of which some are right, each as good as the others.

    Args:
      right: number of right answers to each prompt; their first tokens differ.
      spread: standard deviation of the reference's logits: the wider, the more it has favourites.
      seed: of the right answers and of the reference.

    Returns:
      A task with the criterion "right".
    """
    roots = np.arange(PROMPTS) * (1 + VOCABULARY)
    following = np.full((PROMPTS, 1 + VOCABULARY, VOCABULARY), END)
    following[:, 0, :] = roots[:, None] + 1 + np.arange(VOCABULARY)
    generator = np.random.default_rng([seed, 1])
    return Task(
        name="synonyms",
        vocabulary=tuple("abcdefgh"),
        transitions=following.reshape(-1, VOCABULARY),
        prompts=tuple(f"{prompt}:" for prompt in range(PROMPTS)),
        starts=roots,
        prompt_probs=np.full(PROMPTS, 1.0 / PROMPTS),
        max_length=2,
        ref_logits=spread * generator.normal(size=(PROMPTS * (1 + VOCABULARY), VOCABULARY)),
        verify=partial(_judge, right_answers(right=right, seed=seed)),
        criteria=("right",),
        weights=np.ones(1),
    )


def right_answers(*, right: int, seed: int) -> Integers:
    """(prompts, right, 2) first and second token of each right answer."""
    generator = np.random.default_rng([seed, 0])
    first = np.argsort(generator.random((PROMPTS, VOCABULARY)))[:, :right]
    second = generator.integers(VOCABULARY, size=(PROMPTS, right))
    answers: Integers = np.stack([first, second], axis=-1)
    return answers


def _judge(answers: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    same = tokens[..., None, :] == answers[prompts][..., None, :, :]
    right: Floats = same.all(-1).any(-1)[..., None].astype(np.float64)
    return right


def modes(log_probs: Floats, answers: Integers) -> Floats:
    """How many of the right answers a policy gives: the exponential of their entropy, mean of the prompts.

    Args:
      log_probs: (..., N, V) of `synonyms`.
      answers: (prompts, right, 2).

    Returns:
      (...,) from 1 to the number of right answers.
    """
    rows = np.arange(PROMPTS)[:, None] * (1 + VOCABULARY)
    first, second = answers[..., 0], answers[..., 1]
    log_odds = log_probs[..., rows, first] + log_probs[..., rows + 1 + first, second]
    shares = log_softmax(log_odds)
    effective: Floats = np.exp(-(np.exp(shares) * shares).sum(-1)).mean(-1)
    return effective


def answered(
    *, recipe: Recipe, seeds: int, seed: int, right: int = 4, spread: float = 1.0, **config: Any
) -> Measures:
    """Train on synonyms and count the right answers that are left, at the temperature of training."""
    task, answers = synonyms(right=right, spread=spread), right_answers(right=right, seed=0)
    settings = config_for(task, **{**TRAINING, **config}, seeds=seeds, seed=seed)
    rows = []
    for update in train(task, recipe, settings):
        left = modes(log_softmax(update.state.logits, temperature=settings.temperature), answers)
        rows.append([*(update.metrics[name] for name in RECORD), left])
    curves = dict(zip((*RECORD, "modes"), np.moveaxis(np.array(rows), 0, -1), strict=True))
    signals = (curves[name].T for name in ("entropy", "distinct_bigrams", "reward_width"))
    return summarised(curves) | {
        "alarm": has_collapsed(*signals).astype(np.float64),
        "modes lost": modes(log_softmax(task.ref_logits), answers) - curves["modes"][:, -1],
    }


PLAIN = replace(GRPO, kl_coef=0.0)

COLLAPSE = Experiment(
    name="collapse",
    group="divergence",
    claim="Without diversity pressure RL collapses to a narrow set of answers of high reward; the KL penalty"
    " is the primary remedy but not sufficient alone, and an entropy bonus is another.",
    source="a book chapter on GRPO (2026), sec. 7.5.1",
    run=f"{PROMPTS} prompts, answers of two tokens out of {VOCABULARY}, four of them right and equally good."
    " GRPO with k3 and several kl_coef and entropy_coef.",
    measured="Right answers that are given: the exponential of the entropy among them, from 1 to 4, and how"
    " many fewer than under the reference; mean reward at the end.",
    arms={
        "none": arm(answered, recipe=PLAIN),
        "KL 0.04": arm(answered, recipe=GRPO),
        "KL 0.1": arm(answered, recipe=replace(GRPO, kl_coef=0.1)),
        "bonus 0.1": arm(answered, recipe=PLAIN, entropy_coef=0.1),
        "bonus 0.3": arm(answered, recipe=PLAIN, entropy_coef=0.3),
        "KL 0.1, bonus 0.1": arm(answered, recipe=replace(GRPO, kl_coef=0.1), entropy_coef=0.1),
    },
    comparisons=(
        Comparison("Without pressure right answers are lost", "modes lost", "none", "more", 0.0, 0.5),
        Comparison(
            "A KL penalty keeps more of the right answers", "final modes", "KL 0.1", "more", "none", 0.1
        ),
        Comparison(
            "An entropy bonus keeps more of the right answers",
            "final modes",
            "bonus 0.1",
            "more",
            "none",
            0.1,
        ),
        Comparison(
            "Penalty and bonus together keep more than the penalty alone",
            "final modes",
            "KL 0.1, bonus 0.1",
            "more",
            "KL 0.1",
            0.1,
        ),
        Comparison(
            "The penalty keeps more than a bonus of 0.3", "final modes", "KL 0.1", "more", "bonus 0.3", 0.1
        ),
        Comparison(
            "The penalty and a bonus of 0.3 cost as much reward",
            "final reward",
            "KL 0.1",
            "same",
            "bonus 0.3",
            0.05,
        ),
    ),
    panels=(
        Curves("modes", "right answers that are given (of 4)"),
        Points("final reward", "mean reward at the end"),
    ),
    remark="Once every answer is right there is no gradient: the collapse happens while the policy"
    " learns, when the likelier of the right answers is rewarded more often.",
    chosen="KL 0.1 is compared rather than 0.04, which stands at the margin.",
)

LONGER = 200
"""Updates until every prompt with a single right answer is learned."""

COLLAPSE_ALARM = Experiment(
    name="collapse_alarm",
    group="divergence",
    claim="If response entropy, the share of distinct n-grams and the width of the rewards all drop during"
    " training, you have a collapse problem.",
    source="a book chapter on GRPO (2026), sec. 7.5.1",
    run="The task of `collapse` with four right answers to a prompt, without pressure and with an entropy"
    " bonus of 0.3; and with only one right answer and a uniform reference, where nothing can collapse. GRPO"
    " without a KL penalty.",
    measured="Share of the seeds in which the alarm is given: the last tenth of each of the three below half"
    " of its first tenth; and right answers lost, from the reference to the final policy.",
    arms={
        "four right answers": arm(answered, recipe=PLAIN, updates=LONGER),
        "four, bonus 0.3": arm(answered, recipe=PLAIN, updates=LONGER, entropy_coef=0.3),
        "one right answer": arm(answered, recipe=PLAIN, updates=LONGER, right=1, spread=0.0),
    },
    comparisons=(
        Comparison("Without pressure answers are lost", "modes lost", "four right answers", "more", 0.0, 0.5),
        Comparison(
            "Without pressure the alarm is given in more than half of the runs",
            "alarm",
            "four right answers",
            "more",
            0.5,
        ),
        Comparison(
            "With a bonus fewer than half an answer is lost", "modes lost", "four, bonus 0.3", "less", 0.5
        ),
        Comparison(
            "With a bonus the alarm is given in fewer than half of the runs",
            "alarm",
            "four, bonus 0.3",
            "less",
            0.5,
        ),
        Comparison(
            "Where there is nothing to lose, the alarm is given in fewer than half of the runs",
            "alarm",
            "one right answer",
            "less",
            0.5,
        ),
    ),
    panels=(
        Curves("entropy", "entropy (nats a token)"),
        Curves("reward_width", "width of the rewards\n(standard deviation in the batch)"),
    ),
    remark="Where only one answer is right, certainty is what was to be learned, and all three fall as well.",
    chosen="Training became longer and the arm with one answer got a uniform reference; before, its alarm"
    " rate was anywhere from 6 % to 47 %.",
)

TEMPERATURES = (0.4, 0.7, 1.0, 1.5, 2.0)
REFERENCES = {"mild": 1.0, "sharp": 2.0}
"""Standard deviation of the reference's logits."""

TEMPERATURE = Experiment(
    name="temperature",
    group="divergence",
    claim="A sampling temperature of 0.7 to 1 gives groups varied enough to compare; lower, groups agree and"
    " teach nothing; higher, they are random and learning is slow.",
    source="a book chapter on GRPO (2026), sec. 7.5.1; RLinf documentation, GRPO",
    run="The task of `collapse` with a mild reference (logits of standard deviation 1) and with a sharp one"
    " (2), whose favourites are mostly wrong. GRPO without a penalty; the temperature is the policy's, for"
    " sampling and for the gradient.",
    measured="Mean reward at the end and over all of training, and the share of groups without contrast over"
    " all of training, at the temperature of training.",
    arms={
        f"{name} {temperature}": arm(answered, recipe=PLAIN, spread=spread, temperature=temperature)
        for name, spread in REFERENCES.items()
        for temperature in TEMPERATURES
    },
    comparisons=(
        Comparison(
            "Mild reference: at 0.4 groups agree more often than at 1",
            "mean dead_groups",
            "mild 0.4",
            "more",
            "mild 1.0",
            0.05,
        ),
        Comparison(
            "Mild reference: 0.7 ends as high as 1", "final reward", "mild 0.7", "same", "mild 1.0", 0.02
        ),
        Comparison(
            "Mild reference: 1.5 learns more slowly than 1",
            "mean reward",
            "mild 1.5",
            "less",
            "mild 1.0",
            0.02,
        ),
        Comparison(
            "Sharp reference: 0.4 ends lower than 1", "final reward", "sharp 0.4", "less", "sharp 1.0", 0.02
        ),
        Comparison(
            "Sharp reference: 0.7 ends as high as 1", "final reward", "sharp 0.7", "same", "sharp 1.0", 0.02
        ),
        Comparison(
            "Sharp reference: 1.5 learns more slowly than 1",
            "mean reward",
            "sharp 1.5",
            "less",
            "sharp 1.0",
            0.02,
        ),
    ),
    panels=tuple(
        Points(
            measure,
            label,
            x={
                f"{name} reference": {f"{name} {temperature}": temperature for temperature in TEMPERATURES}
                for name in REFERENCES
            },
            xlabel="temperature",
        )
        for measure, label in (
            ("mean reward", "reward, mean of all updates"),
            ("mean dead_groups", "share of groups without contrast,\nmean of all updates"),
        )
    ),
    remark="The sharper the reference, the higher the temperature at which its groups have something"
    " to compare.",
    chosen="It was split into two references, because the first result hung on how sharp the reference is.",
)
