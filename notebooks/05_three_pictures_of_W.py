# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 5. Three pictures of W: how much does a token count?
#
# A batch has completions of different lengths, and the values of their tokens must become one number. Which mean should
# we take? GRPO, DAPO and Dr. GRPO answer differently.
#
# **The question: how much does each token count, and what does that do to long and short completions?**
#
# Averaging is linear. So each answer is an array of **weights** $W$, one per token, and the loss is
#
# $$ \text{loss} = -\sum_{i,t} W_{i,t}\, s_{i,t} $$
#
# where $s_{i,t}$ is what token $t$ of completion $i$ adds (its surrogate, notebook 4). If you know the picture of $W$,
# you know the aggregation.
#
# Two cells ask for a **guess**. The number in the cell is only a placeholder. Replace it by your own guess. A guess
# within 5 % of the answer counts as right.

# %%
# %matplotlib inline
from dataclasses import replace

import numpy as np
from ipywidgets import interact

from grpo_ref import GRPO, iter_train, slot
from grpo_ref.aggregation import (
    fixed_length,
    group_token_mean,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
)
from grpo_ref.course.guess import how_far
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.task import END, Task
from grpo_ref.plots import dynamics_figure, token_grids, weights_by_length

# %% [markdown]
# ## The three pictures
#
# One group of $n = 4$ completions with $|o_i| = 1, 2, 4, 6$ tokens. The generation budget is $L = 8$ tokens. The mask is 1
# on tokens and 0 on padding.
#
# The **sequence mean** takes the mean over the tokens of each completion, and then the mean over the completions, so $W
# = \frac1n \cdot \frac1{|o|}$. The **token mean** takes the mean over all tokens of the batch, so $W = 1 / \sum_i
# |o_i|$. The **constant** divides by $n$ and by the budget, whatever the lengths are, so $W = \frac1{nL}$.
#
# **Guess:** the longest completion has 6 of 13 tokens. What share of the total weight does it have with GRPO?

# %%
guess_share = 6 / 13

# %%
lengths, budget = np.array([1, 2, 4, 6]), 8
mask = (np.arange(lengths.max()) < lengths[:, None]).astype(float)


def weights(aggregate, mask=mask):
    return aggregate(mask=mask[None], max_length=budget)[0]


grpo, dapo, dr_grpo = slot(sequence_mean_token_mean), slot(token_mean), slot(fixed_length)
pictures = {
    "sequence mean (GRPO): 1 / (n |o|)": weights(grpo),
    "token mean (DAPO): 1 / Σ|o|": weights(dapo),
    "constant (Dr. GRPO): 1 / (n L)": weights(dr_grpo),
    "sum, without L: 1 / n": weights(slot(sequence_mean_token_sum)),
}
because = (
    "Each completion has a quarter of the weight, shared by its tokens. With DAPO it would be 6/13 = 0.4615."
)
print(how_far(guess_share, weights(grpo)[-1].sum(), because))
token_grids(pictures, mask, sums=True)
# Figure: four grids of token weights, with a row for each of four completions of 1, 2, 4 and 6 tokens. In the
# sequence mean every row sums to 1/4; in the token mean every cell is 1/13; with the constant every cell is
# 1/32; without L every cell is 1/4.

# %% [markdown]
# The pictures show:
#
# * **Sequence mean.** Each row sums to 1/4: *every completion has the same weight.* A token of the longest completion
#   counts a sixth of the only token of the shortest completion.
# * **Token mean.** Each cell is 1/13: *every token has the same weight.* The longest completion has nearly half of the
#   total weight.
# * **Constant.** All cells are equal again, but they are $1/32$ instead of $1/13$, and they do not depend on the other
#   completions. In a batch of short answers the whole loss is small.
# * **Without L.** The weights of the third picture, multiplied by $L$. They differ only by this factor, which the
#   learning rate can undo.
#
# So there are two kinds of aggregation: some divide by the length of each completion, and some do not.
#
# With a running kernel, make the longest completion longer, and watch the weights of the *other* completions:


# %%
def longer(longest=6):
    ragged = (np.arange(longest) < np.append(lengths[:-1], longest)[:, None]).astype(float)
    named = {"sequence mean (GRPO)": grpo, "token mean (DAPO)": dapo}
    return token_grids({name: weights(each, ragged) for name, each in named.items()}, ragged, sums=True)


_ = interact(longer, longest=(4, 8, 1))

# %% [markdown]
# With GRPO the weights of the others do not change; with DAPO all of them become smaller. The next figure shows this
# for six completions of 1 to 12 tokens.

# %%
spread = (np.arange(12) < np.array([1, 2, 3, 5, 8, 12])[:, None]).astype(float)
weights_by_length({"sequence mean": grpo, "token mean": dapo, "constant": dr_grpo}, spread, max_length=16)
# Figure: left, the weight of a token against the length of its completion: it falls for the sequence mean and
# is constant for the two others. Right, the weight of a completion: constant for the sequence mean,
# proportional to the length for the others.

# %% [markdown]
# Left: only in the sequence mean does the weight of a token fall with the length of its completion. Right: in the two
# others, the weight of a completion grows with its length. You write all three in
# [`aggregation/sequence_mean`](../exercises/05_aggregation/03_sequence_mean.py),
# [`aggregation/token_mean`](../exercises/05_aggregation/02_token_mean.py) and
# [`aggregation/fixed_length`](../exercises/05_aggregation/04_fixed_length.py); [the
# aggregation](../docs/derivation/09_aggregation.md) derives what each of them optimizes.
#
# ## One token mean, two denominators
#
# The pictures above have one group. With several prompts, the trainers differ from DAPO's paper. verl and TRL divide by
# the number of tokens in the *batch*. The paper (equations 8 and 12) divides by the number of tokens in each *group*,
# and then takes the mean over the prompts. Take two prompts: the answers to one have 10 tokens, the answers to the
# other have 1000.

# %%
lengths_of_prompts = np.array([[10, 10], [1000, 1000]])
two_groups = (np.arange(1000) < lengths_of_prompts[..., None]).astype(float)
for name, kernel in {"verl and TRL": token_mean, "DAPO's paper": group_token_mean}.items():
    print(f"{name:13} weight of each prompt:", kernel(two_groups).sum((1, 2)).round(4))

# %% [markdown]
# In the paper every prompt has the same weight. In the trainers every token of the batch has the same weight, so the
# prompt with the short answers hardly counts. The papers of CISPO and GPG have the same formula as DAPO's paper. You
# write it in [`aggregation/group_token_mean`](../exercises/05_aggregation/06_group_token_mean.py).
#
# ## The effect on right and wrong answers
#
# The push on a token is $W \cdot A$, upwards if it is positive. Take a short and a long right answer ($A = +1$), and a
# short and a long wrong one ($A = -1$).

# %%
rows = ["right, short", "right, long", "wrong, short", "wrong, long"]
ragged = (np.arange(6) < np.array([2, 6, 2, 6])[:, None]).astype(float)
A = np.array([[1.0], [1.0], [-1.0], [-1.0]])
pushes = {
    "sequence mean (GRPO)": A * weights(grpo, ragged),
    "constant (Dr. GRPO)": A * weights(dr_grpo, ragged),
}
token_grids(pushes, ragged, rows=rows)
# Figure: two grids of pushes for short and long, right and wrong completions. With the sequence mean the
# tokens of long completions have a third of the push of short ones; with the constant all pushes have the
# same size.

# %% [markdown]
# With the sequence mean,
#
# * among *right* answers, each token of the short one is pushed up three times as hard: **be brief when right**;
# * among *wrong* answers, each token of the long one is pushed down only a third as hard: **ramble when wrong**.
#
# The task does not ask for this; the objective rewards it. It is the **length bias** that Dr. GRPO (Liu et al. 2025, arXiv:2503.20783) removes.
# One line of mathematics explains it. The policy gradient follows $\mathbb{E}[A \sum_t \nabla \log\pi_t] = \nabla\,
# \mathbb{E}[A]$, so with the weight $1/|o|$ it follows
#
# $$ \mathbb{E}\Big[\frac{A}{|o|} \sum_t \nabla\log\pi_t\Big] = \nabla\, \mathbb{E}\Big[\frac{A}{|o|}\Big]
#    \quad\text{(with } A \text{ held constant).} $$
#
# It increases the advantage **per token**, $A/|o|$. If $A > 0$, this is larger for a short completion. If $A < 0$, it
# is *less negative* for a long one.
#
# ## Does it happen?
#
# We build the smallest language in which it could happen. The first token is the answer: `R` (right) or `W` (wrong).
# Any number of dots follows, and then the end. **Only the first token decides the reward; the dots change nothing.** The
# policy has three states: at the start, after `R`, and after `W`.


# %%
def judge(prompts, tokens, mask):
    right, length = tokens[..., 0] == 0, mask.sum(-1)
    return np.stack([right, right * length, ~right * length], axis=-1).astype(float)


# %%
never = -20.0  # a logit so low that the token is never sampled
chatter = Task(
    name="chatter", vocabulary=("R", "W", ".", ""), max_length=20, prompts=("?",), starts=np.array([0]),
    prompt_probs=np.ones(1),
    transitions=np.array([[1, 2, END, END], [END, END, 1, END], [END, END, 2, END]]),
    ref_logits=np.array([[0, 0, never, never], [never, never, 1.5, 0], [never, never, 1.5, 0]]),
    verify=judge, criteria=("right", "right_tokens", "wrong_tokens"), weights=np.array([1.0, 0, 0]),
)  # fmt: skip

# %% [markdown]
# The three runs differ only in the aggregation. We watch the mean length of right and of wrong completions. The reward
# gives no reason to change either of them. At the start all completions have about six tokens.
#
# **Guess:** how many tokens does a *wrong* completion have at the end, with the sequence mean?

# %%
guess_length = 6.0


# %%
def lengths_of(metrics):
    right = metrics["right_tokens"] / metrics["right"]
    wrong = metrics["wrong_tokens"] / np.maximum(1 - metrics["right"], 1e-9)
    return metrics | {"tokens if right": right, "tokens if wrong": wrong}


def run(aggregate):
    config = TrainConfig(updates=60, seeds=8, prompts=16, group_size=8, learning_rate=0.02)
    recipe = replace(GRPO, kl_coef=0.0, aggregate=aggregate)
    return [lengths_of(update.metrics) for update in iter_train(chatter, recipe, config)]


# %%
runs = {
    "sequence mean (GRPO)": run(grpo),
    "token mean (DAPO)": run(dapo),
    "constant (Dr. GRPO)": run(dr_grpo),
}
dynamics_figure(runs, ("right", "tokens if right", "tokens if wrong"))
# Figure: three panels over 60 updates: the share of right answers rises equally fast for all three
# aggregations; with the sequence mean right completions become shorter and wrong ones longer, with the two
# others the lengths hardly change.

# %%
for label, history in runs.items():
    for name in ("tokens if right", "tokens if wrong"):
        first, last = (history[update][name].mean() for update in (0, -1))
        print(f"{label:21} {name}: {first:.1f} -> {last:4.1f}")
because = "Each token of a wrong answer is pushed down less if the answer has more tokens. Nothing else in this task depends on the length."
print(how_far(guess_length, runs["sequence mean (GRPO)"][-1]["tokens if wrong"].mean(), because))

# %% [markdown]
# All three learn the right answer equally fast. But with the sequence mean, right completions become short and wrong
# completions become more than twice as long, although length is not rewarded. In a language model it would look as if
# the model thinks longer and longer about problems that it cannot solve, and you could mistake this for reasoning. With
# the two others the lengths do not change, up to chance.
#
# This is one task, whose labels are right. Over many tasks with tables, with some wrong labels, that wrong answers grow
# longer came out opposite; with a network it is undecided: [length_bias](../docs/experiments/length_bias/README.md).
#
# ## Which one to choose
#
# | | sequence mean | token mean | constant |
# |---|---|---|---|
# | same weight for | each completion | each token | each token |
# | length bias | rewards brief right and long wrong ones | hardly (the denominator depends on the sample) | none |
# | long completions | count as much as short ones | count more | count more |
# | sum of the weights | 1 | 1 | small in a batch of short answers |
# | depends on how a batch is split into micro-batches | no | yes: each part has its own number of tokens | no |
#
# The trainers use different names. The sequence mean is TRL's `"grpo"` and verl's `"seq-mean-token-mean"`, the token
# mean is TRL's `"bnpo"` or `"dapo"` and verl's `"token-mean"`, the constant is TRL's `"dr_grpo"` and verl's
# `"seq-mean-token-sum-norm"`.
#
# ## Try yourself
#
# **a.** Make the longest completion 13 tokens (`lengths = [1, 2, 4, 13]`). What share of the total weight do its tokens
# have in each picture? And what else must you change?
#
# <details><summary>Answer</summary>
#
# Sequence mean: 1/4, as for every completion. Token mean: $13/20 = 65\,\%$, and the same in the two others. The budget
# $L$ must be at least 13, because it is the largest allowed length.
# </details>
#
# **b.** Let one completion be empty (`lengths = [0, 2, 4, 6]`), and compare `slot(sequence_mean_token_mean,
# count_empty=False)`. What changes?
#
# <details><summary>Answer</summary>
#
# TRL counts the empty completion in $n = 4$: each of the others has weight 1/4, and the weights sum to 3/4. verl does
# not count it: each of the others has weight 1/3. The difference matters for completions that are masked out (DAPO's
# overlong filter).
# </details>
#
# **c.** In `judge`, let `W` be the right answer (`tokens[..., 0] == 1`). Which completions become shorter with the
# sequence mean: the ones that begin with `R`, or the ones that begin with `W`?
#
# <details><summary>Answer</summary>
#
# The completions that begin with `W`, which are rewarded now. The bias depends only on the sign of $A$.
# </details>
#
# In the course: the four exercises above,
# [`aggregation/completion_mask`](../exercises/05_aggregation/01_completion_mask.py) about what must be masked, and
# [`aggregation/soft_overlong`](../exercises/05_aggregation/05_soft_overlong.py) about texts that are cut at the budget.
# An experiment has tested the bias on many tasks: [length_bias](../docs/experiments/length_bias/README.md).
