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
# Some cells ask for a **guess**. The value in such a cell is only a placeholder. Replace it by your own guess. A number
# within 5 % of the answer counts as right.

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
# Here is a popular configuration. It is meant to be "Dr. GRPO with a KL penalty" and sets `loss_type` to `dr_grpo`.
#
# **Guess:** are its advantages divided by the standard deviation of the group, as in GRPO, `"yes"` or `"no"`? In Dr.
# GRPO they are not.

# %%
guess_divided = "no"

# %%
mine = {"loss_type": "dr_grpo", "beta": 0.04, "num_generations": 8}
explanation = explain(DIALECTS["trl"], mine)
for part in explanation.parts:
    print(f"{part.name:10} {part.value}")
divided = explanation.recipe.advantage.kernel.__name__ == "group_normalized"
because = "The key sets only how the losses of the tokens are averaged. Another key, scale_rewards, sets how rewards are scaled."
print(how_far(guess_divided, "yes" if divided else "no", because))

# %% [markdown]
# Read the first line: the advantages are still *normalised*, that is, divided by the standard deviation of their group.
# Dr. GRPO changes both the denominator of the loss and the advantages. The traps explain this:

# %%
for trap in explanation.traps:
    print(f"! {trap.name}\n  {trap.text}\n")

# %% [markdown]
# The repaired configuration differs from the first one in exactly one part:

# %%
repaired = trl.recipe(**mine, scale_rewards="none")
repaired.differences(explanation.recipe)

# %% [markdown]
# Here is the same configuration in the keys of another trainer, with the settings that this trainer does not have:

# %%
conversion = convert(DIALECTS["trl"], DIALECTS["verl"], {**mine, "scale_rewards": "none"})
print(conversion.config)
for part, (requested, there) in conversion.lost.items():
    print(f"cannot be expressed: {part} = {requested}; in verl it is {there}")

# %% [markdown]
# ## How large is the difference?
#
# Two recipes are two functions. The figure compares how hard each completion of one prompt is pushed, in the original
# configuration and in the repaired one. The group has one right answer out of eight: a hard prompt.
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
because = "s = √(8/7 · 1/8 · 7/8) = √(1/8) = 0.354, and the factor is 1/s. At p = 1/2, s is 0.535: hard prompts push more."
print(how_far(guess_factor, 1 / rewards.std(ddof=1), because))
compared_gradients({"as configured": explanation.recipe, "as meant": repaired}, rewards, length=4)
# Figure: gradient for each of eight completions under both configurations: the signs are the same, and with
# the division by the standard deviation each gradient is about three times as large.

# %% [markdown]
# Dividing by the standard deviation makes a hard prompt push about three times as hard, and the factor is the same for
# every completion: $\hat A_i = (r_i - \bar r) / s$, and $s$ is small if nearly all rewards are equal. [The standard
# deviation](../docs/derivation/06_standard_deviation.md) derives the consequences.
#
# ## Does the library compute what the trainers compute?
#
# The losses, gradients and tensors of the trainers' real code were recorded. `grpo-ref parity` computes
# them again from the configurations and inputs alone, and compares. The report ends with the number of passed
# comparisons for each trainer.
#
# ## Does my own loss compute what I think?
#
# Write your loss as a function of five arrays. The checker tries it on 200 difficult batches: ragged lengths, empty
# completions, extreme ratios, groups with equal rewards, random values and NaN in the padding. A first attempt is
# below.
#
# **Guess:** what is wrong with it? `"clip"`, `"sign"`, `"padding"` or `"nothing"`?

# %%
guess_fault = "nothing"


# %%
def my_loss(log_probs, old_log_probs, ref_log_probs, advantages, mask):
    ratio = np.exp(np.where(mask > 0, log_probs - old_log_probs, 0.0))
    gain = np.minimum(ratio * advantages[:, None], np.clip(ratio, 0.8, 1.2) * advantages[:, None])
    return -np.where(mask > 0, gain, 0.0).mean()


expected = trl.recipe(loss_type="grpo")
print(compare(my_loss, expected))
because = "The last line takes the mean over all places of the array, including the padding after the end of a completion."
print(how_far(guess_fault, "padding", because))

# %% [markdown]
# It agrees only if nothing is padded, and the checker names the reason: `.mean()` divides by the padded length. The
# loss must first take the mean over the tokens of each completion:


# %%
def repaired_loss(log_probs, old_log_probs, ref_log_probs, advantages, mask):
    ratio = np.exp(np.where(mask > 0, log_probs - old_log_probs, 0.0))
    gain = np.minimum(ratio * advantages[:, None], np.clip(ratio, 0.8, 1.2) * advantages[:, None])
    lengths = np.maximum(mask.sum(1), 1.0)
    return -(np.where(mask > 0, gain, 0.0).sum(1) / lengths).mean()


print(compare(repaired_loss, expected))

# %% [markdown]
# In your own tests this is one line, for NumPy, PyTorch and JAX functions:
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
# 1. Change one thing in `repaired_loss` (the clip range, the sign of the advantage in the clip, the order of `min` and
#    `clip`) and see whether `compare` names the mistake.
#
# <details><summary>Answer</summary>
#
# `compare` names most single mistakes: another clip range, a missing `min`, a forgotten mask, a wrong denominator, a
# swapped KL. It also reports a mistake that it does not know, but without a name.
# </details>
#
# 2. TRL's `loss_type="cispo"` with the default `epsilon_high` is not the loss of the paper. What does `explain` report?
#
# <details><summary>Answer</summary>
#
# `explain(DIALECTS["trl"], {"loss_type": "cispo"})` warns that the bound falls back to `epsilon`, 0.2, so that nearly
# all weights are truncated. In the papers the bound is several units.
# </details>
#
# Exercises that practise this: debugging, [chapter 8 of the course](../exercises/08_clinic/README.md), and
# [`objective/grpo_loss`](../exercises/06_objective/02_grpo_loss.py), in which you write such a loss. [The
# practitioner's guide](../docs/practitioner.md) explains what `explain` can read.
