"""Does the cost grow at most linearly, over three decades of each size?

Each panel changes one size and holds the others. Beside ours stands what no NumPy form of the same work can
pass: np.exp over the same array, reading its arrays once, or drawing the same random numbers. The exponent is
the slope of log time over log size in the last decade, where the fixed cost of a call weighs least: at most 1
is linear or better.
"""

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measure import heading, interleaved, machine, spread

from grpo_ref import GRPO, TASKS, config_for, iter_train, policy_loss, policy_loss_from_logits
from grpo_ref.fast.many_seeds import train_many
from grpo_ref.learning.task import Task
from grpo_ref.plots.style import COLOURS, LINES, figure_style, new_figure

Actions = dict[str, Callable[[], Any]]


class Series(NamedTuple):
    """A size that is changed, the values that it takes, and what is timed at each of them."""

    title: str
    sizes: tuple[int, ...]
    actions: Callable[[int], Actions]


def of_tokens(tokens: int) -> Actions:
    """`policy_loss` of completions of 100 tokens, eight a prompt."""
    shape = (max(tokens // 800, 1), 8, tokens // max(tokens // 800, 1) // 8)
    rng = np.random.default_rng(0)
    log_probs, old, ref = -2.0 + 0.1 * rng.normal(size=(3, *shape))
    advantages, mask, out = rng.normal(size=shape[:2]), np.ones(shape), np.empty(shape)
    others = {"old_log_probs": old, "ref_log_probs": ref, "recipe": GRPO, "metrics": ()}
    return {
        "policy_loss": lambda: policy_loss(log_probs, advantages, mask, **others),
        "np.exp alone": lambda: np.exp(log_probs, out=out),
        "copies of its arrays alone": lambda: [
            np.copyto(out, array) for array in (log_probs, old, ref, mask)
        ],
    }


def of_logits(rows: int, vocabulary: int) -> Actions:
    """`policy_loss_from_logits` in float32, one thread."""
    rng = np.random.default_rng(0)
    logits = rng.standard_normal((rows, 1, vocabulary), np.float32)
    tokens, out = rng.integers(0, vocabulary, (rows, 1)), np.empty_like(logits)
    given = (logits, tokens, rng.normal(size=rows), np.ones((rows, 1)))
    settings = {"ref_log_probs": np.full((rows, 1), -2.0), "recipe": GRPO, "metrics": (), "threads": 1}
    return {
        "policy_loss_from_logits": lambda: policy_loss_from_logits(*given, out=out, **settings),
        "np.exp alone": lambda: np.exp(logits, out=out),
    }


def of_training(size: int, task: Callable[[int], Task], **sizes: Any) -> Actions:
    """An update of either loop, after the first one; a size that is None takes the value of the series."""
    given = {name: size if value is None else value for name, value in sizes.items()}
    made = task(size)
    config = config_for(made, updates=1000, **given)
    loops = {
        "train_many": train_many(made, GRPO, config),
        "train, all metrics": iter_train(made, GRPO, config),
    }
    room = np.empty((config.seeds, config.prompts, 1 + config.group_size * made.max_length))
    rng = np.random.default_rng(0)
    updates = {name: partial(next, loop) for name, loop in loops.items()}
    return updates | {"random numbers alone": partial(rng.random, out=room)}


def arithmetic(_: int) -> Task:
    """The usual task, whatever the size of the batch."""
    return TASKS["arithmetic"]()


DECADES = (1, 10, 100, 1000)
SERIES = (
    Series("tokens of a loss", (1_000, 10_000, 100_000, 1_000_000), of_tokens),
    Series("rows of logits, V = 4096", (4, 40, 400, 4000), partial(of_logits, vocabulary=4096)),
    Series("vocabulary of 2048 rows", (32, 320, 3200, 32_000), lambda size: of_logits(2048, size)),
    Series("seeds", DECADES, partial(of_training, task=arithmetic, seeds=None, prompts=4, group_size=4)),
    Series(
        "prompts of a batch",
        DECADES,
        partial(of_training, task=arithmetic, seeds=4, prompts=None, group_size=4),
    ),
    Series(
        "completions of a prompt",
        (2, 20, 200, 2000),
        partial(of_training, task=arithmetic, seeds=4, prompts=4, group_size=None),
    ),
    Series(
        "tokens of a completion",
        (3, 30, 300, 3000),
        partial(
            of_training,
            task=lambda size: TASKS["arithmetic"](largest=3, max_length=size),
            seeds=4,
            prompts=4,
            group_size=4,
        ),
    ),
    Series(
        "arms of a bandit",
        (10, 100, 1000, 10_000),
        partial(of_training, task=lambda size: TASKS["bandit"](arms=size), seeds=4, prompts=4, group_size=4),
    ),
)


def main() -> None:
    """Time each series, print it, write the figures and draw them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--plot", type=Path, help="draw them here (PNG)")
    arguments = parser.parse_args()
    heading("growth, milliseconds")
    figures = {series.title: measured(series, arguments.rounds) for series in SERIES}
    if arguments.json:
        arguments.json.write_text(json.dumps({"machine": machine(), "milliseconds": figures}) + "\n")
    if arguments.plot:
        draw(figures, arguments.plot)


def measured(series: Series, rounds: int) -> dict[str, dict[int, list[float]]]:
    """Side -> size -> milliseconds of each round."""
    found: dict[str, dict[int, list[float]]] = {}
    for size in series.sizes:
        actions = series.actions(size)
        for action in actions.values():
            action()  # for the first time, when memory is new
        for side, seconds in interleaved(actions, rounds).items():
            found.setdefault(side, {})[size] = [round(1e3 * value, 4) for value in seconds]
    print(f"\n  {series.title}")
    for side, cost in found.items():
        print(f"    {side:24} exponent {exponent(cost):.2f}")
        for size, values in cost.items():
            print(f"    {size:>10} {spread(values, 2)}")
    return found


def exponent(cost: dict[int, list[float]]) -> float:
    """Slope of log time over log size in the last decade."""
    (small, before), (large, after) = list(cost.items())[-2:]
    return float(np.log(np.median(after) / np.median(before)) / np.log(large / small))


def draw(figures: dict[str, dict[str, dict[int, list[float]]]], path: Path) -> None:
    """A panel a series; bands from the fastest to the slowest round."""
    with figure_style():
        figure = new_figure(9.0, 5.0)
        for axes, (title, sides) in zip(figure.subplots(2, 4).flat, figures.items(), strict=True):
            for (side, cost), colour, dash in zip(sides.items(), COLOURS, LINES, strict=False):
                sizes, middle = list(cost), [np.median(values) for values in cost.values()]
                low, high = ([end(values) for values in cost.values()] for end in (min, max))
                axes.fill_between(sizes, low, high, color=colour, alpha=0.2, linewidth=0)
                axes.plot(sizes, middle, color=colour, linestyle=dash, marker="o", markersize=3, label=side)
            first, last = sizes[0], sizes[-1]
            level = np.median(next(iter(sides.values()))[last])
            axes.plot(
                [first, last], [level * first / last, level], color="0.6", linewidth=0.7, label="linear"
            )
            axes.set(xscale="log", yscale="log", xlabel=title, ylabel="milliseconds")
            axes.margins(y=0.3)
            axes.legend(fontsize=6, frameon=False, loc="upper left")
        figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
