# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 9. The clinic: six broken runs
#
# Six owners bring a trainer that "does GRPO". Each has exactly one fault, and each runs without an error:
# the curves move, a figure comes out. This is what makes faults in reinforcement learning expensive. Here you learn to
# read them from the chart.
#
# Each chart shows a **healthy** run and the **patient** on the same seeds, so that every difference is the fault's and not
# chance. Lines are means of 16 seeds, bands run from their 10th to their 90th percentile.
#
# How to work: read the complaint, look at the chart, and write what you suspect in place of `None` before you run the cell after
# it, which checks it. Ask yourself which *one* number would prove it. Only then unfold the answer. These are the faults that you
# may suspect; two of them nobody has:
#
# | word | fault |
# |---|---|
# | `"sign"` | a term of the loss has the wrong sign |
# | `"batch"` | mean and standard deviation are taken over the whole batch instead of over each group |
# | `"padding"` | filling after the end of a text is counted like its tokens |
# | `"ddof"` | the standard deviation is divided by $G - 1$ instead of by $G$, or the other way round |
# | `"stale"` | the ratio compares with a policy that is too old |
# | `"rate"` | the learning rate is too large |
# | `"groups"` | the groups are too small |
# | `"chart"` | the training is healthy, the chart is wrong |
#
# [Notebook 3](03_reading_dynamics.ipynb) explains the curves one by one, and
# [What the curves of a run mean](../docs/howto/symptoms.md) gives the names under which your trainer logs them.

# %%
# %matplotlib inline
import numpy as np

from grpo_ref.check.mistakes.faulty_runs import FAULTY_RUNS as PATIENTS
from grpo_ref.course.guess import how_far
from grpo_ref.plots import dynamics_figure

charts = {}


def examine(letter):
    patient = PATIENTS[letter]
    charts[letter] = patient.charts()
    print(f"Patient {letter}: “{patient.complaint}”")
    return dynamics_figure(charts[letter], patient.panels)


# %% [markdown]
# ## Patient A

# %%
examine("A")

# %% [markdown]
# Both runs have `kl_coef = 0.2`, and the penalty should hold the policy near the reference.
#
# <details><summary>Questions that help</summary>
#
# Which way does the KL of the patient go when you compare it with the healthy run? What would happen to it if you raised
# the weight further?
# </details>

# %%
guess_a = None

# %%
print(how_far(guess_a, "sign", PATIENTS["A"].sign))

# %% [markdown]
# <details><summary>Diagnosis</summary>
#
# **The KL penalty has the wrong sign.** The loss subtracts `kl_coef · KL` where it should add it, so leaving the reference
# is paid for. The reward may look *better* than that of the healthy run: nothing holds the policy back. The one number
# that proves it: raise the weight, and the KL must fall; here it rises. In the library the one minus sign stands in
# `grpo_ref/loss.py`, and a test checks that a larger `kl_coef` lowers the objective.
# </details>

# %% [markdown]
# ## Patient B

# %%
examine("B")

# %% [markdown]
# Only right answers pay here, and there is no KL penalty. *Groups without contrast* are those whose completions all got the same
# reward; they should teach nothing. The two curves of the first panel begin together and end together. Compare the second panel
# with the first, at the very beginning and at the very end.
#
# <details><summary>Questions that help</summary>
#
# In the first updates nine of ten groups are all wrong. What should the gradient be then, and what is it? What advantage does a
# completion of a group with rewards `[0, 0, 0, 0]` get, if the mean is taken over a batch in which some other group has a 1?
# </details>

# %%
guess_b = None

# %%
print(how_far(guess_b, "batch", PATIENTS["B"].sign))

# %% [markdown]
# <details><summary>Diagnosis</summary>
#
# **Mean and standard deviation are taken over the whole batch.** A prompt that the policy always solves is now "better than
# average" in every completion and is pushed further; a prompt that it never solves is "worse than average" in every completion,
# and whatever it says is pushed away. The sign in the chart is a *pair*: hardly any contrast, and yet a gradient. The healthy
# run moves where there is something to compare, and comes to rest where there is not. The patient never rests: its KL rises from
# the first update on and goes on rising, and half of the prompts, which were pushed away from every answer before the right
# one was found, are lost. The one number that proves it: print the advantages of a group with equal rewards. They must be
# exactly zero. Or, as in the second cell below: the gradient of a batch in which *no* group has contrast. In
# [`clinic/easy_and_hard`](../exercises/08_clinic/03_easy_and_hard.py) you mend such a trainer.
# </details>

# %%
easy_and_hard = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0]])  # two prompts, four completions each
for label, recipe in {"healthy": PATIENTS["B"].healthy, "patient": PATIENTS["B"].recipe}.items():
    print(label, recipe.advantage.kernel(easy_and_hard, **recipe.advantage.settings).round(2).tolist())

# %%
for label, history in charts["B"].items():
    dead, norm = (np.stack([metrics[name] for metrics in history]) for name in ("dead_groups", "grad_norm"))
    print(
        f"{label}: updates 1 to 5: {dead[:5].mean():.0%} of the groups without contrast, gradient norm {norm[:5].mean():.3f}"
    )
    print(
        f"{'':7}  the last five:  {dead[-5:].mean():.0%} of the groups without contrast, gradient norm {norm[-5:].mean():.3f}"
    )
    print(f"{'':7}  batches without any contrast: gradient norm {norm[dead == 1].mean():.3f} on average")

# %% [markdown]
# ## Patient C

# %%
examine("C")

# %% [markdown]
# The budget is 12 tokens; an answer needs two. Plain gradient descent is used here, so the size of the gradient matters.
#
# <details><summary>Questions that help</summary>
#
# By what factor is the weight of each token of a two-token answer too small, by what factor in one of twelve? What would the
# two factors be with a budget of 24?
# </details>

# %%
guess_c = None

# %%
print(how_far(guess_c, "padding", PATIENTS["C"].sign))

# %% [markdown]
# <details><summary>Diagnosis</summary>
#
# **Padding counts in the mean.** `.mean()` over the token axis divides by the padded length, 12, instead of by the length of
# each completion. An answer of two tokens loses a factor of 6, one of twelve nothing, and the right answers are short. With Adam the fault hides, because
# Adam forgets the size of the gradient. The one number that proves it: the loss of one completion must not change
# when you pad it further.
# </details>

# %%
mask = np.array([[[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]]])  # one prompt, two completions
longer = np.pad(mask, [(0, 0), (0, 0), (0, 4)])
for label, recipe in {"healthy": PATIENTS["C"].healthy, "patient": PATIENTS["C"].recipe}.items():
    aggregate = recipe.aggregate.kernel
    print(
        label, "weight of a token:", aggregate(mask)[0, 0, 0], "padded further:", aggregate(longer)[0, 0, 0]
    )

# %% [markdown]
# ## Patient D

# %%
examine("D")

# %% [markdown]
# The two colleagues use the same seeds and groups of two, and Adam.
#
# <details><summary>Questions that help</summary>
#
# What are the advantages of the rewards `[1, 0]` in both? What is the ratio of the two gradient norms in the first update?
# </details>

# %%
guess_d = None

# %%
print(how_far(guess_d, "ddof", PATIENTS["D"].sign))

# %% [markdown]
# <details><summary>Diagnosis</summary>
#
# **`ddof`.** One divides by the standard deviation of a sample (`ddof=1`: TRL, verl, RLinf, OpenRLHF), the other by that of
# the population (`ddof=0`: Open Instruct). With G = 2 the advantages are ±0.71 or ±1: a factor of √2 in the first
# gradient, and nearly nothing in the reward, since Adam divides it out again. With plain gradient descent it would be a
# different learning rate. Neither is wrong; not knowing which one you have is.
# </details>

# %%
norms = {label: history[0]["grad_norm"] for label, history in charts["D"].items()}
print("ratio of the first gradient norms, four seeds:", (norms["healthy"] / norms["patient"])[:4].round(3))

# %% [markdown]
# ## Patient E

# %%
examine("E")

# %% [markdown]
# Each batch is used for a single step. No KL penalty is switched on; `kl` only measures the distance to the first policy.
#
# <details><summary>Questions that help</summary>
#
# With one step a batch, what should every ratio be? Where does the KL stop, and why there?
# </details>

# %%
guess_e = None

# %%
print(how_far(guess_e, "stale", PATIENTS["E"].sign))

# %% [markdown]
# <details><summary>Diagnosis</summary>
#
# **`old_log_probs` are stale:** they were computed once, at the start of training. The ratio is taken to the first policy, and
# as soon as a token is 20 % more likely than in the beginning it is clipped for good. From then on
# it moves only because others are pushed down, and training stands still. The one number that proves it: in the first step of each batch, the ratio must be exactly 1 and
# `approx_kl` exactly 0.
# </details>

# %% [markdown]
# ## Patient F

# %%
examine("F")

# %% [markdown]
# <details><summary>Questions that help</summary>
#
# Compare reward and gradient norm of the two runs number by number. With one step a batch, can anything be clipped at all?
# </details>

# %%
guess_f = None

# %%
print(how_far(guess_f, "chart", PATIENTS["F"].sign))

# %% [markdown]
# <details><summary>Diagnosis</summary>
#
# **The patient is healthy; the chart is ill.** The metric counts the tokens *inside* the clip range. Reward and gradient are
# equal to the last digit. The one number that proves it: with one step a batch every ratio is 1, and the clipped share
# must be exactly 0. A metric is code too, and deserves a test of its own.
# </details>

# %% [markdown]
# ## The numbers to print first
#
# | check | must be | finds |
# |---|---|---|
# | ratio in the first step of a batch | exactly 1 | stale `old_log_probs`, a mismatch of sampler and trainer |
# | clipped share in that step | exactly 0 | a clip metric that is inverted, or that counts what no clip holds |
# | advantages of a group with equal rewards | exactly 0 | a mean over the wrong axis |
# | advantages of `[1, 0]` | ±1 or ±0.71 | `ddof` |
# | loss of a batch, and of the same batch padded further | equal | padding in a mean |
# | KL after raising its weight | lower | a wrong sign |
#
# `grpo-ref diagnose LOG CONFIG` tests the first three, and others, in the log of a trainer, as far as it logs the numbers:
# [the clip ratio is 0](../docs/howto/symptoms.md#the-clip-ratio-is-0), [reward_std is 0](../docs/howto/symptoms.md#reward_std-is-0).
#
# ## Try yourself
#
# 1. Run patient C with Adam: `from dataclasses import replace`, then
#    `replace(PATIENTS["C"], settings={"updates": 80})`. Can you still see the fault?
#
# <details><summary>Answer</summary>
#
# Hardly in the reward: Adam scales each parameter's step by its own recent gradients, so a constant factor cancels. The
# gradient norm still shows it. This is why such faults live long.
# </details>
#
# 2. Which of the six faults would a unit test on one hand-made batch have found?
#
# <details><summary>Answer</summary>
#
# B, C, D and F on any batch, E on a batch after the first update, A by the sign of the penalty's slope on one token.
# </details>
#
# The course has a clinic of its own, in which you mend such trainers: [chapter 8](../exercises/08_clinic/README.md), with
# [`clinic/read_the_curve`](../exercises/08_clinic/01_read_the_curve.py), a diagnosis by a program, and the last two exercises of
# [chapter 9](../exercises/09_network/README.md).
