"""Draw the gradient of each completion's log-probability, under several recipes side by side."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from grpo_ref.arrays import Floats
from grpo_ref.loss import policy_loss
from grpo_ref.plots.style import COLOURS, HATCHES, figure_style, grid, new_figure
from grpo_ref.recipes import Recipe


def pushes(recipe: Recipe, rewards: Floats, *, length: int) -> Floats:
    """Return the negative gradient of each token's log-probability, on-policy, without a penalty.

        push = -∂loss/∂log π(token)

    Args:
      recipe: recipe whose advantage, aggregation and surrogate are used.
      rewards: (1, G) rewards of the completions of one prompt.
      length: number of tokens of each completion.

    Returns:
      (G,) for the first token of each completion; positive if the token becomes more likely.
    """
    log_probs = np.full((*rewards.shape, length), np.log(0.5))
    advantages = recipe.advantage(rewards=rewards)
    loss = policy_loss(log_probs, advantages, np.ones_like(log_probs), recipe=recipe, ref_log_probs=log_probs)
    push: Floats = -loss.gradient[0, :, 0]
    return push


def compared_gradients(recipes: Mapping[str, Recipe], rewards: Floats, *, length: int) -> Figure:
    """Draw a bar per recipe for each completion of one prompt: its token's negative gradient.

    Args:
      recipes: label -> recipe, two to six.
      rewards: (1, G) rewards of the completions of one prompt.
      length: number of tokens of each completion.

    Returns:
      The figure.
    """
    width = 0.8 / len(recipes)
    places = np.arange(rewards.shape[-1])
    with figure_style():
        figure = new_figure(7.0, 2.8)
        axis = figure.subplots()
        for index, (label, recipe) in enumerate(recipes.items()):
            axis.bar(
                places + (index - (len(recipes) - 1) / 2) * width,
                pushes(recipe, rewards, length=length),
                width,
                color=COLOURS[index],
                hatch=HATCHES[index],
                edgecolor="black",
                linewidth=0.6,
                label=label,
            )
        axis.axhline(0.0, color="black", linewidth=0.8)
        axis.set_xticks(places, [f"reward {reward:g}" for reward in rewards[0]], fontsize=8)
        axis.set_ylabel("push on each token\n(-gradient, per nat of log-probability)")
        grid(axis)
        axis.legend(frameon=False)
    return figure
