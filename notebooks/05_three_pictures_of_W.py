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
# A batch holds completions of different lengths, and their tokens must become one number. Take the mean over what? GRPO,
# DAPO and Dr. GRPO answer differently.
#
# **The question: how much does each token count, and what does that do to long and short completions?**
#
# Averaging is linear. So every answer is an array of **weights** $W$, one per token, and the loss is
#
# $$ \text{loss} = -\sum_{i,t} W_{i,t}\, s_{i,t} $$
#
# where $s_{i,t}$ is what token $t$ of completion $i$ adds (its surrogate, notebook 4). Whoever knows the picture of $W$
# knows the aggregation.
#
# Two cells ask for a **guess**. The number that stands there is a first thought; put in yours. Within 5 % of the answer counts as
# right.

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
# The names of the pictures: in the **sequence mean** each completion takes the mean over its own tokens, and then the mean over the
# completions is taken, so $W = \frac1n \cdot \frac1{|o|}$. In the **token mean** all tokens of the batch are one heap,
# $W = 1 / \sum_i |o_i|$. The **constant** divides by $n$ and by the budget, whatever came out, $W = \frac1{nL}$.
#
# **Guess:** the longest completion has 6 of 13 tokens. What share of all the weight has it with GRPO?

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
    "without L (the textbook): 1 / n": weights(slot(sequence_mean_token_sum)),
}
because = "Each completion has one vote of four, and shares it among its tokens. With DAPO it would be 6/13 = 0.4615."
print(how_far(guess_share, weights(grpo)[-1].sum(), because))
token_grids(pictures, mask, sums=True)

# %% [markdown]
# What to see:
#
# * **Sequence mean.** Each row sums to the same, 1/4: *every completion has one vote.* A token of the longest completion
#   counts a sixth of the lone token of the shortest.
# * **Token mean.** Each cell is the same, 1/13: *every token has one vote.* The longest completion has nearly half of them.
# * **Constant.** Each cell is the same again, but $1/32$ instead of $1/13$, and it stays that whatever the other completions
#   are. In a batch of short answers the whole loss is small.
# * **Without L.** The same picture once more, $L$ times darker if the four shared their colours: a matter of size only, which
#   the learning rate can undo.
#
# So there are really two families: those that divide by the length of each completion, and those that do not.
#
# With a running kernel, make the longest completion longer, and watch what happens to the *others*:


# %%
def longer(longest=6):
    ragged = (np.arange(longest) < np.append(lengths[:-1], longest)[:, None]).astype(float)
    named = {"sequence mean (GRPO)": grpo, "token mean (DAPO)": dapo}
    return token_grids({name: weights(each, ragged) for name, each in named.items()}, ragged, sums=True)


_ = interact(longer, longest=(4, 8, 1))

# %% [markdown]
# Without a kernel: with GRPO nothing happens to the others, with DAPO all of them get less. The next figure shows it for six
# completions of 1 to 12 tokens.

# %%
spread = (np.arange(12) < np.array([1, 2, 3, 5, 8, 12])[:, None]).astype(float)
weights_by_length({"sequence mean": grpo, "token mean": dapo, "constant": dr_grpo}, spread, max_length=16)

# %% [markdown]
# Left: a token's weight falls with the length of its completion only in the sequence mean. Right: a completion's weight
# grows with its length in the two others. You write the three in [`aggregation/sequence_mean`](../exercises/05_aggregation/03_sequence_mean.py),
# [`aggregation/token_mean`](../exercises/05_aggregation/02_token_mean.py) and
# [`aggregation/fixed_length`](../exercises/05_aggregation/04_fixed_length.py);
# [the aggregation](../docs/derivation/09_aggregation.md) derives what each of them pays for.
#
# ## One token mean, two denominators
#
# The pictures above have one group. With several prompts, the trainers and the paper of DAPO part. verl and TRL divide by the
# tokens of the *batch*. The paper (equations 8 and 12) divides by the tokens of each *group*, and then takes the mean over
# the prompts. Take two prompts: the answers to one have 10 tokens, the answers to the other have 1000.

# %%
lengths_of_prompts = np.array([[10, 10], [1000, 1000]])
two_groups = (np.arange(1000) < lengths_of_prompts[..., None]).astype(float)
for name, kernel in {"verl and TRL": token_mean, "DAPO's paper": group_token_mean}.items():
    print(f"{name:13} weight of each prompt:", kernel(two_groups).sum((1, 2)).round(4))

# %% [markdown]
# In the paper every prompt has one vote. In the trainers every token of the batch has one vote, so the prompt with the short
# answers is hardly heard. The papers of CISPO and GPG print the same formula as DAPO. You write it in
# [`aggregation/group_token_mean`](../exercises/05_aggregation/06_group_token_mean.py).
#
# ## What it does to right and wrong answers
#
# The push on a token is $W \cdot A$: up where positive. Take a short and a long right answer ($A = +1$), and a short and a
# long wrong one ($A = -1$).

# %%
rows = ["right, short", "right, long", "wrong, short", "wrong, long"]
ragged = (np.arange(6) < np.array([2, 6, 2, 6])[:, None]).astype(float)
A = np.array([[1.0], [1.0], [-1.0], [-1.0]])
pushes = {
    "sequence mean (GRPO)": A * weights(grpo, ragged),
    "constant (Dr. GRPO)": A * weights(dr_grpo, ragged),
}
token_grids(pushes, ragged, rows=rows)

# %% [markdown]
# With the sequence mean,
#
# * among *right* answers, each token of the short one is pushed up three times as hard: **be brief when right**;
# * among *wrong* answers, each token of the long one is pushed down only a third as hard: **ramble when wrong**.
#
# Nobody asked for that. This is the **length bias** that Dr. GRPO (Liu et al. 2025, arXiv:2503.20783) removes. Where it comes
# from is one line of mathematics. The policy gradient follows
# $\mathbb{E}[A \sum_t \nabla \log\pi_t] = \nabla\, \mathbb{E}[A]$, so with the weight $1/|o|$ it follows
#
# $$ \mathbb{E}\Big[\frac{A}{|o|} \sum_t \nabla\log\pi_t\Big] = \nabla\, \mathbb{E}\Big[\frac{A}{|o|}\Big]
#    \quad\text{(with } A \text{ held constant).} $$
#
# It improves the advantage **per token**. If $A > 0$ that is larger for a short completion; if $A < 0$, $A/|o|$ is *less
# bad* for a long one.
#
# ## Does it happen?
#
# Let us build the smallest language in which it could. The first token is the answer: `R` (right) or `W` (wrong). Then
# comes any number of dots, and the end. **The reward is only for the first token; the dots change nothing.** The policy has
# three states: at the start, after `R`, and after `W`.


# %%
def judge(prompts, tokens, mask):
    right, length = tokens[..., 0] == 0, mask.sum(-1)
    return np.stack([right, right * length, ~right * length], axis=-1).astype(float)


# %%
never = -20.0  # a logit so low that the token is never drawn
chatter = Task(
    name="chatter", vocabulary=("R", "W", ".", ""), max_length=20, prompts=("?",), starts=np.array([0]),
    prompt_probs=np.ones(1),
    transitions=np.array([[1, 2, END, END], [END, END, 1, END], [END, END, 2, END]]),
    ref_logits=np.array([[0, 0, never, never], [never, never, 1.5, 0], [never, never, 1.5, 0]]),
    verify=judge, criteria=("right", "right_tokens", "wrong_tokens"), weights=np.array([1.0, 0, 0]),
)  # fmt: skip

# %% [markdown]
# Three runs that differ in the aggregation only. We watch the mean length of right and of wrong completions; a fair
# aggregation has no reason to change either. At the start all completions have about six tokens.
#
# **Guess:** how many tokens has a *wrong* completion at the end, with the sequence mean?

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

# %%
for label, history in runs.items():
    for name in ("tokens if right", "tokens if wrong"):
        first, last = (history[update][name].mean() for update in (0, -1))
        print(f"{label:21} {name}: {first:.1f} -> {last:4.1f}")
because = "A wrong answer is punished less per token if it has more of them. Nothing else in this task depends on the length."
print(how_far(guess_length, runs["sequence mean (GRPO)"][-1]["tokens if wrong"].mean(), because))

# %% [markdown]
# All three learn the right answer equally fast. But with the sequence mean, right completions become short and wrong ones
# more than twice as long, for no reward at all. In a language model this looks like "it thinks longer and longer about
# what it cannot solve", and is easily taken for a sign of reasoning. The two others keep their lengths, up to chance.
#
# ## Which one, then?
#
# | | sequence mean | token mean | constant |
# |---|---|---|---|
# | one vote for | each completion | each token | each token |
# | length bias | brief when right, long when wrong | hardly (the denominator depends on the sample) | none |
# | long completions | weigh as much as short ones | weigh more | weigh more |
# | sum of the weights | 1 | 1 | small in a batch of short answers |
# | depends on how a batch is cut into parts | no | yes: each part has its own number of tokens | no |
#
# Names differ in the trainers: the sequence mean is TRL's `"grpo"` and verl's `"seq-mean-token-mean"`, the token mean is TRL's
# `"bnpo"` or `"dapo"` and verl's `"token-mean"`, the constant is TRL's `"dr_grpo"` and verl's `"seq-mean-token-sum-norm"`.
#
# ## Try yourself
#
# **a.** Make the longest completion 13 tokens (`lengths = [1, 2, 4, 13]`). What share of all weight do its tokens have in
# each picture? And what else must be changed?
#
# <details><summary>Answer</summary>
#
# Sequence mean: 1/4, as every completion. Token mean: $13/20 = 65\,\%$, and so in the two others. The budget $L$ must go up
# to at least 13: it is the longest length that is allowed.
# </details>
#
# **b.** Let one completion be empty (`lengths = [0, 2, 4, 6]`), and compare `slot(sequence_mean_token_mean,
# count_empty=False)`. What changes?
#
# <details><summary>Answer</summary>
#
# TRL counts the empty one in $n = 4$: each of the others has weight 1/4, and the weights sum to 3/4. verl does not: 1/3
# each. For masked-out completions (DAPO's overlong filter) the difference is real.
# </details>
#
# **c.** In `judge`, let `W` be the right answer (`tokens[..., 0] == 1`). Which completions will shrink with the sequence
# mean, those that begin with `R` or with `W`?
#
# <details><summary>Answer</summary>
#
# Those with `W`, which are rewarded now. The bias knows nothing of right and wrong, only of the sign of $A$.
# </details>
#
# In the course: the four exercises above,
# [`aggregation/completion_mask`](../exercises/05_aggregation/01_completion_mask.py) for what must be masked in the first place, and
# [`aggregation/soft_overlong`](../exercises/05_aggregation/05_soft_overlong.py) for texts that the budget cuts. The laboratory has
# tested the bias on more than this one task: [length_bias](../docs/experiments/README.md#length_bias).
