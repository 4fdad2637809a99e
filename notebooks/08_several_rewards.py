# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 8. Several rewards
#
# A reward is rarely one number: an answer should be right, well formed, short, polite. Trainers add the criteria up with
# weights, and GRPO divides the sum by its standard deviation. **What happens to the small reward beside the big one?** And
# does it help to normalise each reward first, as GDPO does?

# %%
# %matplotlib inline
from dataclasses import replace

import numpy as np

from grpo_ref import GRPO, RECIPES, group_normalized
from grpo_ref.advantages import normalized_then_summed
from grpo_ref.course.guess import how_far
from grpo_ref.lab.claims.reward_scales import learned
from grpo_ref.plots import lines_figure

# %% [markdown]
# ## One group, by hand
#
# Four completions of one prompt, judged twice: by a large reward (0 or 20) and by a small one (0 or 1). All four
# combinations occur once.

# %%
large = np.array([[20.0, 20.0, 0.0, 0.0]])
small = np.array([[1.0, 0.0, 1.0, 0.0]])
summed = group_normalized(large + small)
separate = group_normalized(large) + group_normalized(small)
print("summed first:    ", summed.round(2)[0])
print("normalised first:", separate.round(2)[0])

# %% [markdown]
# Summed first, the completion that gets the large reward alone has nearly the same advantage as the one that gets both: the
# small reward makes a difference of $1/20$ of the large one's. Normalised first, both count the same. That is all there is
# to it: dividing by the standard deviation of the *sum* keeps the proportions that the scales happened to have.
#
# The share of the small reward in the advantage, as its scale shrinks:

# %%
scales = np.array([1, 2, 5, 10, 20, 50, 100])


def pull(advantages):
    return advantages[0, 0] - advantages[0, 1]  # what the small reward is worth, all else equal


summed = [pull(group_normalized(scale * large / 20 + small)) for scale in scales]
components = [np.stack([scale * large / 20, small], axis=-1) for scale in scales]
separate = [pull(normalized_then_summed(both, np.ones(2))) for both in components]
lines = {
    "summed (GRPO)": np.array([summed]),
    "each normalised first (GDPO)": np.array([separate]),
}
lines_figure(
    scales,
    lines,
    "scale of the large reward / scale of the small one",
    "advantage of having the small reward",
    log_x=True,
)

# %% [markdown]
# ## Does it matter for learning?
#
# A toy language whose completions have two parts, each of a few letters. The letters of the first part earn the large
# reward, those of the second the small one, and the two have nothing to do with one another: nothing is lost by learning
# both. The quality of a part is 0 for the policy that we start from and 1 for the best letters. The large reward is 20 times
# the small one.
#
# **Guess first.** Averaged over the training, how much of the *small* reward's quality does GRPO get on the sum, where GDPO
# gets 1 part? (0 for nothing, 1 for as much; within 0.1 counts as right.)

# %%
guess_share = 0.2

# %%
recipes = {"summed (GRPO)": replace(GRPO, kl_coef=0.0), "each normalised first (GDPO)": RECIPES["gdpo"]}
runs = {
    label: learned(recipe=recipe, learning_rate=1.0, ratio=20.0, seeds=16, seed=0)
    for label, recipe in recipes.items()
}
summed, separate = (found["mean small"].mean() for found in runs.values())
because = (
    "the sum is divided by the standard deviation of the large reward, so the small one is one twentieth as loud,"
    " until the large one is learned and no longer tells the completions of a group apart."
)
print(how_far(guess_share, summed / separate, because, within=0.1))

# %%
updates = np.arange(1, 81)
lines_figure(
    updates[::4],
    {name: found["small"][:, ::4] for name, found in runs.items()},
    "update",
    "quality paid with the small reward (0 to 1)",
)

# %%
lines_figure(
    updates[::4],
    {name: found["large"][:, ::4] for name, found in runs.items()},
    "update",
    "quality paid with the large reward (0 to 1)",
)

# %% [markdown]
# With the sum, the small reward's letters are learned late. Nothing is ignored for ever here, because in the toy the large
# reward can be *solved*. Where it cannot, the small one stays in its noise. And the large reward pays next to nothing for
# it: the two lines of the second figure lie on each other.
#
# The experiment [`reward_scales`](../docs/experiments/README.md#reward_scales) asks the same on tasks drawn anew, at ratios
# from 3:1 to 100:1, with every learning rate chosen for its arm.
#
# ## What normalising cannot do
#
# * It makes the criteria *equally loud*, which may not be what you want: set the weights then. They multiply after the
#   normalisation, so they mean what they say.
# * A criterion that is the same for all completions of a group is silent, whatever its weight: there is nothing to compare.
# * It changes the trade-off where two criteria contradict one another. No normalisation decides what you prefer.
#
# ## Try yourself
#
# 1. Give the small reward a weight of 20 instead of normalising: `(large + 20 * small)`. What is the difference to GDPO?
#
# <details><summary>Answer</summary>
#
# For these numbers, none. But the right weight depends on the spread of each reward in each group, and that changes while
# the policy learns: GDPO follows it.
# </details>
#
# 2. What does GDPO do to a criterion that only one of eight completions meets?
#
# <details><summary>Answer</summary>
#
# Its standard deviation in the group is small, so the one that meets it gets a large advantage: rare successes are made
# loud, just as one right answer out of eight is in GRPO itself.
# </details>
#
# Exercises that practise this: `advantages/gdpo`, `advantages/group_normalized`, `advantages/ranks`.
