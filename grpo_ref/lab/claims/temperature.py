"""Claim: sampling at a temperature of 0.7 to 1 gives groups that are varied enough to compare."""

from dataclasses import replace
from functools import partial

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.lab.framework.experiment import (
    Arm,
    Experiment,
    Grid,
    Measures,
    Points,
    Prediction,
    Tuning,
    tuned,
)
from grpo_ref.lab.framework.tasks.synonyms import (
    PROMPTS,
    TRAINING,
    VOCABULARY,
    right_answers,
    synonyms,
)
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.learning.state import TrainState
from grpo_ref.learning.task import Task
from grpo_ref.recipes import GRPO, Recipe

PLAIN = replace(GRPO, kl_coef=0.0)
TEMPERATURES, FEW = (0.4, 0.7, 1.0, 1.5, 2.0), (0.4, 1.0, 1.5)
ANY, MILD, SHARP = (0.5, 2.5), (0.5, 0.5), (2.5, 2.5)
"""Between which the standard deviation of the reference's logits is drawn."""
VARIANTS = 8
"""Variants of each prompt."""
GREEDY = 1e-3
"""A temperature at which the likeliest token is certain."""
RATES = Tuning("learning_rate", (0.03, 0.1, 0.3, 1.0), by="mean reward at 1")


def learned(
    *,
    recipe: Recipe,
    temperature: float,
    spreads: tuple[float, float] = ANY,
    learning_rate: float = 0.1,
    seeds: int,
    seed: int,
) -> Measures:
    """Train on a sampled task at one temperature, and see what the policy has learned at temperature 1.

    Args:
      recipe: the algorithm.
      temperature: of the policy, for sampling and for the gradient.
      spreads: between which the standard deviation of the reference's logits is drawn.
      learning_rate: step size.
      seeds, seed: number of runs; base of their random numbers and of the task.

    Returns:
      The measures of `summarized` for the "reward" and the "dead_groups" of the batches, and for the exact
      "reward at 1" and "greedy reward" of the policy.
    """
    task, answers, group_size = sampled_task(seed, spreads)
    own = {"group_size": group_size, "temperature": temperature, "learning_rate": learning_rate}
    config = config_for(task, **{**TRAINING, **own}, seeds=seeds, seed=seed)

    def judged_at(temperature: float, state: TrainState) -> Floats:
        return expected_reward(log_softmax(state.params, temperature=temperature), answers)

    exact = {"reward at 1": partial(judged_at, 1.0), "greedy reward": partial(judged_at, GREEDY)}
    return summarized(curves(task, recipe, config, ("reward", "dead_groups"), **exact))


def sampled_task(seed: int, spreads: tuple[float, float]) -> tuple[Task, Integers, int]:
    """Return a sampled task, its right answers (prompts, right, 2) and its completions per prompt.

    Args:
      seed: seed of the task.
      spreads: between which the standard deviation of the reference's logits is sampled.
    """
    generator = np.random.default_rng([seed, 2])
    right, group_size = int(generator.integers(1, 7)), int(generator.choice([4, 8, 16]))
    spread, hint, luck = generator.uniform(*spreads), generator.uniform(0.0, 2.0), generator.uniform(0.0, 0.3)
    answers = right_answers(right=right, seed=seed)
    task = _hinted(synonyms(right=right, spread=spread, seed=seed), answers, hint)
    return _lucky(task, answers, luck, generator), answers, group_size


def _rows(answers: Integers) -> tuple[Integers, Integers]:
    """(prompts, right) state of `synonyms` in which the first and the second token of an answer is said."""
    roots = np.broadcast_to(np.arange(PROMPTS)[:, None] * (1 + VOCABULARY), answers.shape[:-1])
    return roots, roots + 1 + answers[..., 0]


def _hinted(task: Task, answers: Integers, hint: float) -> Task:
    """The reference likes the tokens of right answers by so many nats more."""
    logits = task.ref_logits.copy()
    for place, row in enumerate(_rows(answers)):
        logits[row, answers[..., place]] += hint
    return replace(task, ref_logits=logits)


def _lucky(task: Task, answers: Integers, luck: float, generator: np.random.Generator) -> Task:
    """Each prompt in variants that the policy cannot tell apart: this share of their verdicts is wrong."""
    verdicts = np.zeros((PROMPTS, 1, VOCABULARY, VOCABULARY))
    verdicts[np.arange(PROMPTS)[:, None], 0, answers[..., 0], answers[..., 1]] = 1.0
    wrong = generator.random((PROMPTS, VARIANTS, VOCABULARY, VOCABULARY)) < luck
    return replace(
        task,
        prompts=tuple(f"{prompt}.{variant}:" for prompt in range(PROMPTS) for variant in range(VARIANTS)),
        starts=np.repeat(task.starts, VARIANTS),
        prompt_probs=np.full(PROMPTS * VARIANTS, 1.0 / (PROMPTS * VARIANTS)),
        verify=partial(_judge, np.where(wrong, 1.0 - verdicts, verdicts).reshape(-1, VOCABULARY, VOCABULARY)),
    )


def _judge(verdicts: Floats, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    judged: Floats = verdicts[prompts[..., None], tokens[..., 0], tokens[..., 1]][..., None]
    return judged


def expected_reward(log_probs: Floats, answers: Integers) -> Floats:
    """(...) how likely a policy (..., N, V) gives a right answer, mean of the prompts."""
    first, second = _rows(answers)
    found = log_probs[..., first, answers[..., 0]] + log_probs[..., second, answers[..., 1]]
    reward: Floats = np.exp(found).sum(-1).mean(-1)
    return reward


def _at(temperature: float, spreads: tuple[float, float] = ANY) -> Arm:
    return tuned(learned, RATES, recipe=PLAIN, temperature=temperature, spreads=spreads)


EXPERIMENT = Experiment(
    name="temperature",
    title="Which sampling temperature is best?",
    group="divergence",
    claim="A sampling temperature of 0.7 to 1 gives groups varied enough to compare; lower, groups agree and"
    " teach nothing; higher, they are random and learning is slow.",
    source="RLinf documentation, GRPO; a book chapter on GRPO (2026, not public), sec. 7.5.1",
    family="12 prompts have answers of two tokens out of 8. How many of the 64 answers are right (1 to 6),"
    " how much more the reference likes their tokens (by 0 to 2 nats), how sharp it is (a standard deviation"
    " of its logits of 0.5 to 2.5), which share of the verdicts is wrong (0 to 0.3) and the size of the"
    " groups (4, 8 or 16) are drawn.",
    run="GRPO without a KL penalty learns for 150 updates of 12 prompts with Adam. The temperature is the"
    " policy's, for sampling and for the gradient. Each prompt has 8 copies that look the same to the"
    " policy, and a wrong verdict belongs to one copy and one answer. Variants are named after the"
    " temperature. In the variants “mild” and"
    " “sharp”, the standard deviation of the reference's logits is fixed at 0.5 or at 2.5.",
    measured="The exact share of right answers of the policy at temperature 1, and of its greedy answers,"
    " whatever temperature it was trained at: as a mean over training, which is the larger the faster it"
    " learns. And, at the temperature of training, the reward and the share of groups with equal rewards"
    " (“dead_groups”).",
    arms={str(temperature): _at(temperature) for temperature in TEMPERATURES}
    | {f"mild, {temperature}": _at(temperature, MILD) for temperature in FEW}
    | {f"sharp, {temperature}": _at(temperature, SHARP) for temperature in FEW},
    predictions=(
        Prediction(
            "At 0.4 it learns more slowly than at 1",
            "mean reward at 1",
            "0.4",
            "less",
            "1.0",
            0.02,
            main=True,
        ),
        Prediction(
            "At 1.5 it learns more slowly than at 1",
            "mean reward at 1",
            "1.5",
            "less",
            "1.0",
            0.02,
            main=True,
        ),
        Prediction(
            "At 0.4 groups agree more often than at 1", "mean dead_groups", "0.4", "more", "1.0", 0.05
        ),
        Prediction("0.7 is as good as 1", "mean reward at 1", "0.7", "same", "1.0", 0.02),
        Prediction(
            "Judged greedily, 0.4 learns more slowly than 1", "mean greedy reward", "0.4", "less", "1.0", 0.02
        ),
        Prediction(
            "Judged greedily, 1.5 learns more slowly than 1", "mean greedy reward", "1.5", "less", "1.0", 0.02
        ),
        Prediction("2 learns more slowly than 1", "mean reward at 1", "2.0", "less", "1.0", 0.02),
        Prediction(
            "Mild: 1.5 learns more slowly", "mean reward at 1", "mild, 1.5", "less", "mild, 1.0", 0.02
        ),
        Prediction(
            "Sharp: 1.5 learns more slowly", "mean reward at 1", "sharp, 1.5", "less", "sharp, 1.0", 0.02
        ),
        Prediction("At 1.5 the batches are worse than at 1", "mean reward", "1.5", "less", "1.0", 0.02),
    ),
    panels=(
        Points(
            "mean reward at 1",
            "share right at temperature 1,\nmean of all updates",
            x={
                "any reference": {str(temperature): temperature for temperature in TEMPERATURES},
                "mild": {f"mild, {temperature}": temperature for temperature in FEW},
                "sharp": {f"sharp, {temperature}": temperature for temperature in FEW},
            },
            xlabel="temperature of training",
        ),
        Grid("share right at temperature 1", arms=tuple(map(str, TEMPERATURES))),
    ),
)
