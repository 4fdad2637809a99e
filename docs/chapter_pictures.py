"""Draw the picture of each chapter's page: `python docs/chapter_pictures.py`, then `grpo-ref dev build`.

All figures of the package use these colours. Hatches and markers distinguish them in print without colour.
"""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from grpo_ref import GRPO, TASKS, config_for, group_normalized, iter_train, slot
from grpo_ref.aggregation import fixed_length, sequence_mean_token_mean, token_mean
from grpo_ref.arrays import Floats
from grpo_ref.files import replace_file
from grpo_ref.learning.policies.kinds import network_for
from grpo_ref.learning.policies.parameters import views
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.learning.pretraining import pretrain, pretrain_config_for
from grpo_ref.penalties import k1, k2, k3
from grpo_ref.plots import (
    dynamics_figure,
    objective_terms,
    penalty_figure,
    surrogate_figure,
    weights_by_length,
)
from grpo_ref.plots.axes import label, legend_above, series
from grpo_ref.plots.style import COLOURS, HATCHES, MARKERS, figure_style, grid, new_figure
from grpo_ref.surrogates import clipped

FOLDER = Path(__file__).parents[1] / "grpo_ref" / "course" / "exercises"
COLOURS_KEPT = 64


def probabilities() -> Figure:
    """From logits to probabilities, and from a uniform number to a token."""
    tokens, logits, uniform = ["yes", "no", "if", "but", "end"], np.array([2.0, 1.0, 0.5, -1.0, 0.0]), 0.7
    probs = policy_of(logits).probs
    with figure_style():
        figure = new_figure(8.0, 2.9)
        left, middle, right = figure.subplots(1, 3)
        for axis, heights, what in ((left, logits, "logit (nats)"), (middle, probs, "probability")):
            axis.bar(tokens, heights, color=COLOURS[5], hatch=HATCHES[1], edgecolor="white", linewidth=0)
            axis.axhline(0.0, color="black", linewidth=0.8)
            _write_heights(axis, heights)
            label(axis, "token", what)
        right.step([-0.5, *np.arange(5) + 0.5], [0.0, *probs.cumsum()], where="pre", color="black")
        right.annotate("", (0.5, uniform), (-0.5, uniform), arrowprops={"arrowstyle": "->"})
        right.text(0.65, uniform - 0.02, f"u = {uniform} gives “no”", fontsize=8, va="top")
        right.set_xticks(range(5), tokens)
        right.set_xlim(-0.5, 4.5)
        label(right, "token", "cumulative probability")
    return figure


def _write_heights(axis: Axes, heights: Floats) -> None:
    for place, height in enumerate(heights):
        below = "top" if height < 0 else "bottom"
        axis.text(place, height, f"{height:.2f}", ha="center", va=below, fontsize=8)
    axis.margins(y=0.15)


def advantages() -> Figure:
    """Rewards, and the advantages that result from comparing them within their groups."""
    rewards = np.array([[0.9, 1.0, 0.8, 1.0], [0.0, 0.1, 0.0, 0.3]])
    with figure_style():
        figure = new_figure(8.0, 2.9)
        left, right = figure.subplots(1, 2)
        for axis, values, what in (
            (left, rewards, "reward"),
            (right, group_normalized(rewards, ddof=0), "advantage (standard deviations)"),
        ):
            for index, (name, group) in enumerate(zip(("easy prompt", "hard prompt"), values, strict=True)):
                places = np.arange(4) + 5 * index
                axis.plot(places, group, MARKERS[index], color=COLOURS[index], label=name, markersize=8)
                axis.hlines(group.mean(), places[0] - 0.4, places[-1] + 0.4, color="black", linestyle="--")
            axis.set_xticks([*range(4), *range(5, 9)], [f"$o_{{{index}}}$" for index in (1, 2, 3, 4)] * 2)
            label(axis, "completion; dashed: the mean of its group", what)
            grid(axis)
        legend_above(left)
    return figure


def ratios() -> Figure:
    """Value and slope of the clipped surrogate."""
    return surrogate_figure(slot(clipped, clip_low=0.2, clip_high=0.2))


def kl() -> Figure:
    """Value and slope of the three estimators."""
    return penalty_figure({"k1": slot(k1), "k2": slot(k2), "k3": slot(k3)})


def aggregation() -> Figure:
    """Weight of a token and of a completion, by the length of the completion."""
    lengths, budget = np.array([1, 2, 4, 8, 16, 32]), 32
    mask = (np.arange(budget) < lengths[:, None]).astype(float)
    aggregates = {
        "mean of means (GRPO)": slot(sequence_mean_token_mean),
        "mean of all tokens (DAPO)": slot(token_mean),
        "constant (Dr. GRPO)": slot(fixed_length),
    }
    return weights_by_length(aggregates, mask, budget)


def objective() -> Figure:
    """Every term of the objective of one group."""
    return objective_terms([1.5, 0.8, 1.1, 0.5], [1.0, 1.0, -1.0, -1.0], [0.3, 0.2, 0.4, 0.1], [0.25] * 4)


def training() -> Figure:
    """A table of logits learns to add."""
    task = TASKS["arithmetic"]()
    updates = iter_train(task, GRPO, config_for(task, updates=150, prompts=50, seeds=4))
    return dynamics_figure({"GRPO": [each.metrics for each in updates]}, ("correct", "entropy", "kl"))


def clinic() -> Figure:
    """Three runs over six arms: the reward, the intended reward and the entropy."""
    worth = np.array([0.2, 0.3, 0.4, 0.5, 0.6, 1.0])
    runs = {
        "healthy": (worth, 1.5),
        "wrong reward": (1.2 - worth, 1.5),
        "wrong sign": (worth, -1.5),
    }
    with figure_style():
        figure = new_figure(8.5, 2.9)
        axes = figure.subplots(1, 3, sharey=True)
        for axis, (name, (rewards, rate)) in zip(axes, runs.items(), strict=True):
            for index, (what, curve) in enumerate(_curves(rewards, worth, rate).items()):
                axis.plot(curve, label=what, **(series(index) | {"markevery": 12}))
            label(axis, "update", "reward; entropy (share of its start)" if axis is axes[0] else "")
            axis.set_title(name, fontsize=9)
            grid(axis)
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=3, frameon=False)
    return figure


def _curves(rewards: Floats, worth: Floats, rate: float) -> dict[str, Floats]:
    """Train a policy over arms with the exact gradient of its reward, and return its curves."""
    logits, curves = np.zeros(len(rewards)), []
    for _ in range(60):
        policy = policy_of(logits)
        curves.append((policy.probs @ rewards, policy.probs @ worth, float(policy.entropies())))
        logits = logits + rate * policy.probs * (rewards - policy.probs @ rewards)
    reward, truth, entropy = np.array(curves).T
    return {"reward": reward, "intended reward": truth, "entropy": entropy / entropy[0]}


def network() -> Figure:
    """A transformer learns to add, and where its heads look."""
    task = TASKS["sums"]()
    transformer = network_for(task, "transformer", {"heads": 2, "width": 32})
    steps = list(pretrain(task, transformer, pretrain_config_for(task, steps=500, until=1.0, batch=128)))
    text = "27+38=51.60.065"
    tokens = np.array([[[task.vocabulary.index(sign) for sign in text]]])
    weights = views(steps[-1].policy.weights[None], transformer.shapes())
    _, kept = transformer.forward(weights, tokens)
    with figure_style():
        figure = new_figure(9.0, 3.2)
        curve, *maps = figure.subplots(1, 3)
        curve.plot([each.step for each in steps], [each.loss for each in steps], color=COLOURS[0])
        label(curve, "step", "cross-entropy (nats per token)")
        grid(curve)
        for number, (axis, block) in enumerate(zip(maps, kept.blocks, strict=True), start=1):
            axis.imshow(block.attended.weights[0, 0, 0].T, cmap="Greys", vmin=0.0, vmax=1.0)
            axis.set_xticks(range(len(text)), text)
            axis.set_yticks(range(len(text)), text)
            label(axis, f"token looked at, in layer {number}", "token that looks" if number == 1 else "")
            axis.grid(visible=False)
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {
    draw.__name__: draw
    for draw in (probabilities, advantages, ratios, kl, aggregation, objective, training, clinic, network)
}


def save_small(figure: Figure, path: Path) -> None:
    """Write a picture as PNG, in the few colours that it has."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=200)
    picture = Image.open(drawn).convert("RGB").quantize(COLOURS_KEPT)
    replace_file(path, lambda file: picture.save(file, "png", optimize=True))


def main(folder: Path) -> None:
    """Write every picture into the folder of its chapter."""
    for chapter, draw in PICTURES.items():
        save_small(draw(), folder / chapter / "picture.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
