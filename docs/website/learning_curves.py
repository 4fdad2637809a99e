"""Learning curves of a recipe and of its parent: the reward on each task, over many seeds."""

from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.statistics import interval
from grpo_ref.lab.framework.training import curves, kept, last_state
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import TABLE
from grpo_ref.plots.axes import label
from grpo_ref.plots.style import COLOURS, as_svg, figure_style, new_figure
from grpo_ref.recipes import GRPO, RECIPES
from grpo_ref.tasks import TASKS
from grpo_ref.training import iter_train
from website.kept import of_each_recipe

SETTINGS = {"seeds": 16, "updates": 12, "epochs": 4}
"""Settings of every run. With one pass over a batch, every ratio would be 1, and surrogates would agree."""
GREY = "0.45"

Learned = dict[str, Floats]
"""Name of a task -> (S, U) rewards."""


def learning_of_all(code: str) -> dict[str, Learned]:
    """Return the rewards of each recipe on each task.

    Args:
      code: hash of the code. A cached result is used only if its hash is the same.
    """
    return of_each_recipe(_trained, code)


def _trained(name: str, code: str) -> Learned:
    return {task: _rewards(task, name) for task in TASKS}


def _rewards(task: str, name: str) -> Floats:
    made, recipe = TASKS[task](), RECIPES[name]
    config = config_for(made, **SETTINGS)
    if not recipe.needs_teacher:
        return curves(made, recipe, config, ("reward",))["reward"]
    # The teacher of a distillation is the policy that GRPO ends with, after twice as many updates.
    taught = last_state(made, GRPO, replace(config, updates=2 * config.updates))
    teacher = TABLE.at(taught.params, config.temperature)
    return kept(iter_train(made, recipe, config, metrics=("reward",), teacher=teacher), ("reward",), {})[
        "reward"
    ]


def picture(learned: dict[str, Learned], name: str, other: str) -> str:
    """Draw the reward of a recipe on each task, and that of another recipe in grey, as SVG.

    Args:
      learned: rewards of each recipe.
      name: name of the recipe.
      other: name of the recipe to compare with, or "".
    """
    with figure_style():
        figure = new_figure(6.8, 2.4)
        axes = figure.subplots(1, len(TASKS))
        for axis, task in zip(axes, TASKS, strict=True):
            if other:
                _draw(axis, learned[other][task], GREY, "--", other)
            _draw(axis, learned[name][task], COLOURS[0], "-", name)
            axis.set_title(task, fontsize=9)
            label(axis, "update", "mean reward" if axis is axes[0] else "")
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles[::-1], names[::-1], loc="outside upper center", ncols=2, frameon=False)
        return as_svg(figure).decode()


def _draw(axis: Axes, rewards: Floats, colour: str, line: str, name: str) -> None:
    updates = np.arange(1, rewards.shape[1] + 1)
    mean, reach = interval(rewards)
    axis.fill_between(updates, mean - reach, mean + reach, color=colour, alpha=0.2, linewidth=0)
    axis.plot(updates, mean, line, color=colour, linewidth=1.4, label=name)


def learned_alike(learned: dict[str, Learned], name: str, other: str) -> list[str]:
    """Return the tasks on which two recipes have the same rewards in every run."""
    return [
        task for task in TASKS if np.allclose(learned[name][task], learned[other][task], rtol=0.0, atol=1e-9)
    ]
