# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 9. Debugging: six broken runs
#
# Here are six trainers that "do GRPO". Each of them has exactly one fault, and each runs without an error message. This
# is why faults in reinforcement learning are expensive. In this notebook you learn to find them from the curves.
#
# Each figure shows a **healthy** run and the **faulty** run on the same seeds, so every difference comes from the fault
# and not from chance. Lines are means of 16 seeds. Bands go from the 10th to the 90th percentile of the seeds.
#
# How to work: read the complaint and look at the curves. Replace `None` by the fault that you suspect, and then run the
# next cell, which checks it. Ask yourself which *one* number would prove it. Only then unfold the answer. These are the
# possible faults; two of them do not occur:
#
# | word | fault |
# |---|---|
# | `"sign"` | a term of the loss has the wrong sign |
# | `"batch"` | mean and standard deviation are taken over the whole batch instead of over each group |
# | `"padding"` | padding after the end of a text is counted as tokens |
# | `"ddof"` | the standard deviation is divided by $G - 1$ instead of by $G$, or the other way round |
# | `"stale"` | the ratio compares with a policy that is too old |
# | `"rate"` | the learning rate is too large |
# | `"groups"` | the groups are too small |
# | `"metric"` | the training is healthy, a metric is wrong |
#
# [Notebook 3](03_reading_dynamics.ipynb) explains the curves one by one. [What the curves of a run
# mean](../docs/howto/symptoms.md) lists the names of these curves in the logs of your trainer.

# %%
# %matplotlib inline
import numpy as np

from grpo_ref.check.mistakes.faulty_runs import FAULTY_RUNS
from grpo_ref.course.guess import how_far
from grpo_ref.plots import dynamics_figure

charts = {}


def examine(letter):
    faulty = FAULTY_RUNS[letter]
    charts[letter] = faulty.charts()
    print(f"Run {letter}: “{faulty.complaint}”")
    return dynamics_figure(charts[letter], faulty.panels)


# %% [markdown]
# ## Run A

# %%
examine("A")
# Figure: reward, KL and log-likelihood under the reference of the healthy run and of faulty run A. In run A
# the reward is higher and the KL grows to more than twice that of the healthy run.

# %% [markdown]
# Both runs have `kl_coef = 0.2`. The penalty should keep the policy near the reference.
#
# <details><summary>Questions that help</summary>
#
# Is the KL of the faulty run higher or lower than the KL of the healthy run? What would happen to it if you raised the
# weight further?
# </details>

# %%
guess_a = None

# %%
print(how_far(guess_a, "sign", FAULTY_RUNS["A"].sign))

# %% [markdown]
# <details><summary>Diagnosis</summary>
#
# **The KL penalty has the wrong sign.** The loss subtracts `kl_coef · KL` instead of adding it, so moving away from the
# reference is rewarded. The reward may look *better* than the reward of the healthy run, because nothing holds the
# policy back. The one number that proves it: if you raise the weight, the KL must fall; here it rises. In the library
# the minus sign is in `grpo_ref/loss.py`, and a test checks that a larger `kl_coef` lowers the objective.
# </details>

# %% [markdown]
# ## Run B

# %%
examine("B")
# Figure: six panels for the healthy run and faulty run B. Both start and end with nearly all groups having
# equal rewards, but the gradient of run B stays large there, its KL keeps rising and its reward stops at
# about half.

# %% [markdown]
# Here only right answers have a reward, and there is no KL penalty. Groups with equal rewards should teach nothing. The
# two curves of the first panel begin together and end together. Compare the second panel with the first, at the very
# beginning and at the very end.
#
# <details><summary>Questions that help</summary>
#
# In the first updates all answers are wrong in nine of ten groups. What should the gradient be then, and what is it?
# Suppose that the mean is taken over a batch in which some other group has a reward of 1. What is the advantage of a
# completion in a group with the rewards `[0, 0, 0, 0]`?
# </details>

# %%
guess_b = None

# %%
print(how_far(guess_b, "batch", FAULTY_RUNS["B"].sign))

# %% [markdown]
# <details><summary>Diagnosis</summary>
#
# **Mean and standard deviation are taken over the whole batch.** For a prompt that the policy always solves, every
# completion is now "better than average" and is pushed up further. For a prompt that it never solves, every completion
# is "worse than average" and is pushed down, whatever it is. Look for a *pair* of curves: nearly all groups have equal
# rewards, and still there is a gradient. The healthy run changes where there is something to compare, and stops where
# there is not. The faulty run never stops: its KL rises from the first update on and keeps rising. Half of the prompts
# are lost: their answers were all pushed down before the right one was found. The one number that proves it: print the
# advantages of a group with equal rewards. They must be exactly zero. Or print the gradient of a batch in which *all*
# groups have equal rewards, as in the second cell below. In
# [`clinic/easy_and_hard`](../exercises/08_clinic/03_easy_and_hard.py) you repair such a trainer.
# </details>

# %%
easy_and_hard = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0]])  # two prompts, four completions each
for label, recipe in {"healthy": FAULTY_RUNS["B"].healthy, "faulty": FAULTY_RUNS["B"].recipe}.items():
    print(label, recipe.advantage.kernel(easy_and_hard, **recipe.advantage.settings).round(2).tolist())

# %%
for label, history in charts["B"].items():
    dead, norm = (np.stack([metrics[name] for metrics in history]) for name in ("dead_groups", "grad_norm"))
    print(
        f"{label}: updates 1 to 5: equal rewards in {dead[:5].mean():.0%} of the groups, gradient norm {norm[:5].mean():.3f}"
    )
    print(
        f"{'':7}  the last five:  equal rewards in {dead[-5:].mean():.0%} of the groups, gradient norm {norm[-5:].mean():.3f}"
    )
    print(
        f"{'':7}  batches with equal rewards in all groups: gradient norm {norm[dead == 1].mean():.3f} on average"
    )

# %% [markdown]
# ## Run C

# %%
examine("C")
# Figure: reward, gradient norm and length of the healthy run and of faulty run C. In run C the gradient norm
# is smaller from the first update on and the reward hardly rises.

# %% [markdown]
# The budget is 12 tokens; an answer needs two. The optimizer is plain gradient descent, so the size of the gradient
# matters.
#
# <details><summary>Questions that help</summary>
#
# By what factor is the weight of each token too small, in an answer of two tokens and in an answer of twelve? What
# would the two factors be with a budget of 24?
# </details>

# %%
guess_c = None

# %%
print(how_far(guess_c, "padding", FAULTY_RUNS["C"].sign))

# %% [markdown]
# <details><summary>Diagnosis</summary>
#
# **Padding counts in the mean.** `.mean()` over the token axis divides by the padded length, 12, instead of by the
# length of each completion. The weights of an answer of two tokens are too small by a factor of 6, and those of an
# answer of twelve tokens are right. The right answers are short. With Adam the fault is hard to see, because Adam's
# steps do not depend on the size of the gradient. The one number that proves it: the loss of one completion must not
# change when you pad it further.
# </details>

# %%
mask = np.array([[[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]]])  # one prompt, two completions
longer = np.pad(mask, [(0, 0), (0, 0), (0, 4)])
for label, recipe in {"healthy": FAULTY_RUNS["C"].healthy, "faulty": FAULTY_RUNS["C"].recipe}.items():
    aggregate = recipe.aggregate.kernel
    print(
        label, "weight of a token:", aggregate(mask)[0, 0, 0], "padded further:", aggregate(longer)[0, 0, 0]
    )

# %% [markdown]
# ## Run D

# %%
examine("D")
# Figure: reward, gradient norm and entropy of the healthy run and of faulty run D. Rewards and entropies
# nearly agree; the first gradient norm of run D is smaller.

# %% [markdown]
# The two colleagues use the same seeds, groups of two, and Adam.
#
# <details><summary>Questions that help</summary>
#
# What are the advantages of the rewards `[1, 0]` in both? What is the ratio of the two gradient norms in the first update?
# </details>

# %%
guess_d = None

# %%
print(how_far(guess_d, "ddof", FAULTY_RUNS["D"].sign))

# %% [markdown]
# <details><summary>Diagnosis</summary>
#
# **`ddof`.** One divides by the standard deviation of a sample (`ddof=1`: TRL, verl, RLinf, OpenRLHF), the other by the
# standard deviation of the population (`ddof=0`: Open Instruct). With G = 2 the advantages are ±0.71 or ±1. This is a
# factor of √2 in the first gradient, and nearly nothing in the reward, because Adam removes the factor again. With
# plain gradient descent it would act like another learning rate. Neither is wrong, but you should know which one you
# use.
# </details>

# %%
norms = {label: history[0]["grad_norm"] for label, history in charts["D"].items()}
print("ratio of the first gradient norms, four seeds:", (norms["healthy"] / norms["faulty"])[:4].round(3))

# %% [markdown]
# ## Run E

# %%
examine("E")
# Figure: reward, KL and entropy of the healthy run and of faulty run E. In run E the KL stops at a small
# value, the entropy stays high and the reward stops rising.

# %% [markdown]
# Each batch is used for a single step. There is no KL penalty; `kl` only measures the distance to the first policy.
#
# <details><summary>Questions that help</summary>
#
# With one step per batch, what should every ratio be? Where does the KL stop, and why there?
# </details>

# %%
guess_e = None

# %%
print(how_far(guess_e, "stale", FAULTY_RUNS["E"].sign))

# %% [markdown]
# <details><summary>Diagnosis</summary>
#
# **`old_log_probs` are stale:** they were computed once, at the start of training. The ratio compares with the first
# policy. As soon as a token is 20 % more likely than at the start, it is clipped for ever. From then on its probability
# changes only because others are pushed down, and training stops. The one number that proves it: in the first step of
# each batch, the ratio must be exactly 1 and `approx_kl` exactly 0.
# </details>

# %% [markdown]
# ## Run F

# %%
examine("F")
# Figure: reward, gradient norm and clipped share of the healthy run and of faulty run F. Reward and gradient
# are the same; the clipped share is 0 in the healthy run and 1 in run F.

# %% [markdown]
# <details><summary>Questions that help</summary>
#
# Compare the reward and the gradient norm of the two runs number by number. With one step per batch, can any token be
# clipped at all?
# </details>

# %%
guess_f = None

# %%
print(how_far(guess_f, "metric", FAULTY_RUNS["F"].sign))

# %% [markdown]
# <details><summary>Diagnosis</summary>
#
# **Training is healthy; the metric is wrong.** The metric counts the tokens *inside* the clip range. Reward and
# gradient are equal to the last digit. The one number that proves it: with one step per batch every ratio is 1, and the
# clipped share must be exactly 0. A metric is code too, and needs its own test.
# </details>

# %% [markdown]
# ## The numbers to print first
#
# | check | must be | finds |
# |---|---|---|
# | ratio in the first step of a batch | exactly 1 | stale `old_log_probs`, a mismatch between sampler and trainer |
# | clipped share in that step | exactly 0 | a clip metric that is inverted, or that counts tokens that are not clipped |
# | advantages of a group with equal rewards | exactly 0 | a mean over the wrong axis |
# | advantages of `[1, 0]` | ±1 or ±0.71 | `ddof` |
# | loss of a batch, and of the same batch padded further | equal | padding in a mean |
# | KL after raising its weight | lower | a wrong sign |
#
# `grpo-ref diagnose LOG CONFIG` tests the first three, and more, in the log of a trainer, if it logs the numbers: [the
# clip ratio is 0](../docs/howto/symptoms.md#the-clip-ratio-is-0), [reward_std is
# 0](../docs/howto/symptoms.md#reward_std-is-0).
#
# ## Try yourself
#
# 1. Train run C with Adam: `from dataclasses import replace`, then
#    `replace(FAULTY_RUNS["C"], settings={"updates": 80})`. Can you still see the fault?
#
# <details><summary>Answer</summary>
#
# Hardly in the reward: Adam scales each parameter's step by its own recent gradients, so a constant factor cancels. The
# gradient norm still shows it. This is why such faults can stay unnoticed for a long time.
# </details>
#
# 2. Which of the six faults would a unit test on one hand-made batch have found?
#
# <details><summary>Answer</summary>
#
# B, C, D and F on any batch, E on a batch after the first update, A by the sign of the penalty's slope on one token.
# </details>
#
# In the debugging chapter of the course you repair such trainers: [chapter 8](../exercises/08_clinic/README.md), with
# [`clinic/read_the_curve`](../exercises/08_clinic/01_read_the_curve.py), in which a program diagnoses runs, and the
# last two exercises of [chapter 9](../exercises/09_network/README.md).
