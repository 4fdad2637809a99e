"""Draw a policy's next-token probabilities along its most likely answer."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grpo_ref.arrays import Floats
from grpo_ref.learning.task import END, Task
from grpo_ref.plots.style import figure_style, new_figure


def likeliest_answer(task: Task, probs: Floats, prompt: int) -> list[tuple[str, int, int]]:
    """Return the greedy answer of a policy: always the most likely token.

    Args:
      task: the automaton.
      probs: (N, V) probabilities of the policy.
      prompt: index of the prompt.

    Returns:
      For each step the text so far, the state and the chosen token; at most max_length steps.
    """
    steps: list[tuple[str, int, int]] = []
    text, state = task.prompts[prompt], int(task.starts[prompt])
    while state != END and len(steps) < task.max_length:
        token = int(probs[state].argmax())
        steps.append((text, state, token))
        text, state = text + task.vocabulary[token], int(task.transitions[state, token])
    return steps


def next_tokens(task: Task, policies: Mapping[str, Floats], prompt: int) -> Figure:
    """Draw the next-token distributions along the greedy answer of each policy.

    Args:
      task: the automaton.
      policies: label -> (N, V) probabilities.
      prompt: index of the prompt.

    Returns:
      The figure, with one panel per policy: a row for each step and a column for each token. Colours show
      probabilities; the probability of the chosen token is written in.
    """
    answers = {name: likeliest_answer(task, probs, prompt) for name, probs in policies.items()}
    longest = max(map(len, answers.values()))
    with figure_style():
        figure = new_figure(4.6 * len(policies), 0.4 * longest + 1.1)
        axes = np.atleast_1d(figure.subplots(1, len(policies)))
        for axis, (name, steps) in zip(axes, answers.items(), strict=True):
            _draw_steps(axis, task, policies[name], steps)
            axis.set_title(name, fontsize=9)
        colours = axes[-1].images[0]
        figure.colorbar(colours, ax=axes, label="probability", shrink=0.9)
    return figure


def _draw_steps(axis: Axes, task: Task, probs: Floats, steps: list[tuple[str, int, int]]) -> None:
    texts, states, tokens = zip(*steps, strict=True)
    shown = probs[list(states)]
    axis.imshow(shown, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    for row, token in enumerate(tokens):
        dark = "white" if shown[row, token] > 0.6 else "black"
        axis.text(token, row, f"{shown[row, token]:.2f}", ha="center", va="center", color=dark, fontsize=7)
    axis.set_xticks(range(len(task.vocabulary)), [token or "end" for token in task.vocabulary])
    axis.set_yticks(range(len(texts)), texts)
    axis.set_xlabel("next token")
    axis.set_ylabel("written so far")
    axis.tick_params(labelsize=8, length=0)
    axis.spines[:].set_visible(False)
