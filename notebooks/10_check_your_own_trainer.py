# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 10. Check your own trainer
#
# You train with TRL, verl, Open Instruct, RLinf or OpenRLHF, or with a loss of your own. Three questions:
#
# 1. **What does my configuration really optimise?** (`explain`)
# 2. **Does this library compute what the trainers compute?** (`parity`)
# 3. **Does my own loss compute what I think it does?** (`check`)
#
# Everything here is on the command line too: `grpo-ref explain`, `convert`, `parity`, `check`.
#
# Some cells ask for a **guess**. What stands there is a first thought; put in yours. A number within 5 % of the answer counts as
# right.

# %%
# %matplotlib inline
import numpy as np

from grpo_ref.check import compare
from grpo_ref.course.guess import how_far
from grpo_ref.explain.conversion import convert
from grpo_ref.explain.description import explain
from grpo_ref.explain.dialects import DIALECTS, trl

# %% [markdown]
# ## What does my configuration optimise?
#
# A popular configuration, meant to be "Dr. GRPO with a KL penalty". Its key `loss_type` says `dr_grpo`.
#
# **Guess:** are its advantages divided by the standard deviation of the group, as in GRPO, `"yes"` or `"no"`? Dr. GRPO does not.

# %%
guess_divided = "no"

# %%
mine = {"loss_type": "dr_grpo", "beta": 0.04, "num_generations": 8}
explanation = explain(DIALECTS["trl"], mine)
for part in explanation.parts:
    print(f"{part.name:10} {part.value}")
divided = explanation.recipe.advantage.kernel.__name__ == "group_normalized"
because = "The key chooses how the tokens are added up, and nothing else. Another key, scale_rewards, says how rewards are scaled."
print(how_far(guess_divided, "yes" if divided else "no", because))

# %% [markdown]
# Read the first line: the advantages are still *normalised*, that is, divided by the standard deviation of their group.
# Dr. GRPO is not only its denominator. The traps say so:

# %%
for trap in explanation.traps:
    print(f"! {trap.name}\n  {trap.text}\n")

# %% [markdown]
# The repaired configuration differs from the first one in exactly one part:

# %%
repaired = trl.recipe(**mine, scale_rewards="none")
repaired.differences(explanation.recipe)

# %% [markdown]
# And the same in the words of another trainer, with what cannot be said there:

# %%
conversion = convert(DIALECTS["trl"], DIALECTS["verl"], {**mine, "scale_rewards": "none"})
print(conversion.config)
for part, (wanted, there) in conversion.lost.items():
    print(f"cannot be said: {part} = {wanted}; there it is {there}")

# %% [markdown]
# ## What is the difference worth?
#
# Two recipes are two functions. Here is how much each completion of one prompt pushes, under the configuration as it was
# and as it was meant. The group has one right answer out of eight: a hard prompt.
#
# If a share $p$ of the $G$ rewards is 1 and the others are 0, their standard deviation, with the divisor $G - 1$, is
#
# $$ s = \sqrt{ \frac{p G (1 - p)^2 + (1 - p) G\, p^2}{G - 1} } = \sqrt{ \frac{G}{G - 1}\, p\,(1 - p) } . $$
#
# **Guess:** by what factor does the division by $s$ change the push of every completion, for $p = 1/8$ and $G = 8$?

# %%
guess_factor = 1.0

# %%
from grpo_ref.plots import compared_gradients

rewards = np.array([[1.0, 0, 0, 0, 0, 0, 0, 0]])
because = "s = √(8/7 · 1/8 · 7/8) = √(1/8) = 0.354, and one divides by it. At p = 1/2 it would be 0.535: hard prompts push more."
print(how_far(guess_factor, 1 / rewards.std(ddof=1), because))
compared_gradients({"as configured": explanation.recipe, "as meant": repaired}, rewards, length=4)

# %% [markdown]
# Dividing by the standard deviation makes a hard prompt push about three times as much, every completion by the same
# factor: $\hat A_i = (r_i - \bar r) / s$, and $s$ is small where nearly all rewards are equal.
# [The standard deviation](../docs/derivation/06_standard_deviation.md) proves what follows from that.
#
# ## Does the library compute what the trainers compute?
#
# `python -m conformance parity` rebuilds losses, gradients and tensors that were recorded from running the trainers' real code, from
# their configurations and inputs alone, and compares. The report ends with how many passed of each trainer.
#
# ## Does my own loss compute what I think?
#
# Write your loss as a function of five arrays and let it loose on 200 nasty batches: ragged lengths, empty completions,
# extreme ratios, groups without contrast, garbage and NaN in the padding. A first attempt is below.
#
# **Guess:** what is wrong with it? `"clip"`, `"sign"`, `"padding"` or `"nothing"`?

# %%
guess_fault = "nothing"


# %%
def my_loss(log_probs, old_log_probs, ref_log_probs, advantages, mask):
    ratio = np.exp(np.where(mask > 0, log_probs - old_log_probs, 0.0))
    gain = np.minimum(ratio * advantages[:, None], np.clip(ratio, 0.8, 1.2) * advantages[:, None])
    return -np.where(mask > 0, gain, 0.0).mean()


wanted = trl.recipe(loss_type="grpo")
print(compare(my_loss, wanted))
because = (
    "The last line takes the mean over all places of the array, those after the end of a completion too."
)
print(how_far(guess_fault, "padding", because))

# %% [markdown]
# It agrees only where nothing is padded, and the checker found out why: `.mean()` divides by the padded length. The mean has to be
# taken over each completion's own tokens first:


# %%
def mended(log_probs, old_log_probs, ref_log_probs, advantages, mask):
    ratio = np.exp(np.where(mask > 0, log_probs - old_log_probs, 0.0))
    gain = np.minimum(ratio * advantages[:, None], np.clip(ratio, 0.8, 1.2) * advantages[:, None])
    lengths = np.maximum(mask.sum(1), 1.0)
    return -(np.where(mask > 0, gain, 0.0).sum(1) / lengths).mean()


print(compare(mended, wanted))

# %% [markdown]
# In your own tests this is one line, for NumPy, PyTorch and JAX functions alike:
#
# ```python
# from grpo_ref.check import assert_matches
#
# def test_my_loss():
#     assert_matches(my_torch_loss, trl.recipe(loss_type="grpo", epsilon_high=0.28), framework="torch")
# ```
#
# ## Try yourself
#
# 1. Change one thing in `mended` (the clip range, the sign of the advantage in the clip, the order of `min` and `clip`) and let
#    `compare` name it.
#
# <details><summary>Answer</summary>
#
# Most single mistakes are named: another clip range, a missing `min`, a forgotten mask, a wrong denominator, a swapped
# KL. A mistake that is not among the known slips is still found; it just has no name.
# </details>
#
# 2. TRL's `loss_type="cispo"` with the default `epsilon_high` is not what the paper means. What does `explain` say?
#
# <details><summary>Answer</summary>
#
# `explain(DIALECTS["trl"], {"loss_type": "cispo"})` warns that the cap falls back to `epsilon`, 0.2, so that nearly all weights
# are capped; the papers use a cap of several units.
# </details>
#
# Exercises that practise this: the clinic, [chapter 8 of the course](../exercises/08_clinic/README.md), and
# [`objective/grpo_loss`](../exercises/06_objective/02_grpo_loss.py), in which you write such a loss. What `explain` can read is told
# in [the practitioner's guide](../docs/practitioner.md).
