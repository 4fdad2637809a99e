"""The pictures and numbers of docs/neural.md: python docs/neural_story.py   (three minutes on two cores)

A transformer learns to write sums, first by imitation, then by GRPO; the pictures show one held-out sum
before and after. The numbers that the page quotes are printed.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.progress import track

from grpo_ref import GRPO, TASKS, config_for, iter_train
from grpo_ref.arrays import Floats
from grpo_ref.learning.held_out import GREEDY, held_out_rates
from grpo_ref.learning.policies.kinds import network_for
from grpo_ref.learning.policies.neural import NeuralPolicy
from grpo_ref.learning.policies.table import gather
from grpo_ref.learning.pretraining import pretrain, pretrain_config_for
from grpo_ref.learning.task import Task
from grpo_ref.plots.attention import attention_figure, token_probabilities
from grpo_ref.plots.axes import label, series
from grpo_ref.plots.style import figure_style, new_figure
from grpo_ref.tasks.sums import right_completions

PLACE = Path(__file__).parent / "neural"
QUESTION = "27+38="
SEED = 1
NAMES = ("after imitation", "after GRPO")


class Story(NamedTuple):
    """A training run from the first weights to the last.

    Attributes:
      losses: nats per token of each step of imitation.
      rewards: of each update of GRPO.
      policy: after imitation.
      params: (1, n) after GRPO.
    """

    losses: list[float]
    rewards: list[float]
    policy: NeuralPolicy
    params: Floats


def main() -> None:
    """Train, draw, and print the numbers that the page quotes."""
    PLACE.mkdir(exist_ok=True)
    task = asking(QUESTION)
    story = train_both(task)
    ends = dict(zip(NAMES, (story.policy.weights[None], story.params), strict=True))
    for name, params in ends.items():
        rates = (
            held_out_rates(task, params, story.policy, prompts=2000, temperature=temperature)[0, 0]
            for temperature in (1.0, GREEDY)
        )
        print(name, "held out, sampled and greedy:", *(f"{rate:.3f}" for rate in rates))
    draw_curves(story)
    draw_text(task, story.policy, ends)


def asking(question: str) -> Task:
    """Return the task of sums, split so that the question is held out."""
    for split in range(1000):
        task = TASKS["sums"](split_seed=split)
        if task.prompt_probs[task.prompts.index(question)] == 0.0:
            return task
    raise AssertionError("a fifth of the prompts is held out each time")


def train_both(task: Task) -> Story:
    """Train by imitation, then by GRPO, with the settings of the task."""
    losses, rewards = [], []
    for step in pretrain(task, network_for(task, "transformer"), pretrain_config_for(task, seed=SEED)):
        losses.append(step.loss)
    config = config_for(task, seed=SEED)
    updates = iter_train(task, GRPO, config, policy=step.policy, metrics=("reward",))
    for update in track(updates, "GRPO", total=config.updates):
        rewards.append(float(update.metrics["reward"][0]))
    return Story(losses, rewards, step.policy, update.state.params)


def draw_curves(story: Story) -> None:
    """Draw the loss of the imitation and the reward of GRPO."""
    with figure_style():
        figure = new_figure(8.0, 2.8)
        left, right = figure.subplots(1, 2)
        left.plot(story.losses, **series(0) | {"marker": None})
        label(left, "step of imitation", "loss in nats per token")
        right.plot(story.rewards, **series(1) | {"marker": None, "linestyle": "-"})
        label(right, "update of GRPO", "share of right sums in the batch")
        right.set_ylim(0.0, 1.0)
        figure.savefig(PLACE / "learning.png", dpi=150)


def draw_text(task: Task, policy: NeuralPolicy, ends: dict[str, Floats]) -> None:
    """Draw the probability of each token of the right answer, and the attention of the last layer."""
    prompt = task.prompts.index(QUESTION)
    tokens = right_completions(np.array([divmod(prompt, 100)]))[None, None]
    probs, attention = {}, {}
    for name, params in ends.items():
        visited = policy.at(params, 1.0).visit(task, np.array([[prompt]]), tokens, tokens)
        probs[name] = np.exp(gather(visited.policy.log_probs, visited.states, tokens))[0, 0, 0]
        attention[name] = np.swapaxes(visited.kept.blocks[-1].attended.weights[0, 0], -1, -2)
    written = [task.vocabulary[token] for token in tokens[0, 0, 0]]
    token_probabilities(probs, written).savefig(PLACE / "probabilities.png", dpi=150)
    read = [*QUESTION, *written[:-1]]
    attention_figure(attention, read).savefig(PLACE / "attention.png", dpi=150)
    print(QUESTION, *written, {name: np.round(values, 2).tolist() for name, values in probs.items()})
    print("weights:", policy.weights.size)


if __name__ == "__main__":
    main()
