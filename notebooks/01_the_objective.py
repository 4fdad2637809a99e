# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 1. The objective in ten minutes
#
# Group Relative Policy Optimization (GRPO) trains a language model like this: answer one prompt several times,
# see which answers are better than their siblings, and make those likelier, but not too fast and not too far
# from where you started. One number, the **objective** $J$, says all of this at once; training makes it larger.
#
# **The question of this notebook: what is inside that one number?** We take three answers (*completions*)
# $o_1, o_2, o_3$, compute every term by hand, and draw it. At the end we look at what the trainers of real
# language models compute instead.

# %%
# %matplotlib inline
from dataclasses import replace

import numpy as np

from grpo_ref import GRPO, clipped, group_normalized, grpo_objective, k3, policy_loss, sequence_sum_level
from grpo_ref.plots import objective_terms, ratio_sweep, token_grids

# %% [markdown]
# ## The whole thing
#
# $$
# J = \underbrace{\frac1G \sum_{i=1}^{G} \min\big(\rho_i A_i,\ \mathrm{clip}(\rho_i, 1-\varepsilon, 1+\varepsilon)\, A_i\big)}_{\text{clipped surrogate}}
#   \;-\; \beta \underbrace{\sum_{i=1}^{G} p_i \log\frac{p_i}{q_i}}_{\text{KL}(p\,\|\,q)}
# $$
#
# | symbol | meaning |
# |---|---|
# | $G$ | number of completions in the group |
# | $\pi_\text{old}(o_i)$, $\pi_\theta(o_i)$ | probability of $o_i$ when it was sampled, and now |
# | $\rho_i = \pi_\theta(o_i) / \pi_\text{old}(o_i)$ | the **ratio**: how much likelier $o_i$ has become since |
# | $A_i$ | the **advantage**: how much better $o_i$ is than its siblings |
# | $\varepsilon$ | how far a ratio may go from 1 before it is clipped |
# | $\pi_\text{ref}$ | the reference: the model that training started from |
# | $p, q$ | $\rho\,\pi_\text{old}$ and $\pi_\text{ref}$, each divided by its sum |
# | $\beta$ | price of moving away from the reference |
#
# Change the numbers in the next cell as you like and run everything again.

# %%
rhos = np.array([1.2, 0.8, 1.1])
A = np.array([1.0, 1.0, 1.0])
old = np.array([0.9, 1.1, 1.0])
ref = np.array([1.0, 0.5, 1.5])
epsilon, beta = 0.2, 0.01
grpo_objective(rhos, A, old, ref, epsilon, beta)

# %% [markdown]
# (`old` and `ref` need not sum to 1: only their proportions matter, because they are normalised below.)
#
# ## Step 1: the surrogate
#
# Multiply ratio and advantage; do the same with the ratio kept inside $[0.8, 1.2]$; take the smaller of the two.

# %%
free = rhos * A
held = np.clip(rhos, 1 - epsilon, 1 + epsilon) * A
surrogate = np.minimum(free, held).mean()
print("ρ A        ", free)
print("clip(ρ) A  ", held)
print("surrogate  ", surrogate)

# %% [markdown]
# Nothing is clipped here: 0.8 and 1.2 stand exactly on the bounds. The surrogate is $3.1/3 = 1.0333$.
#
# ## Step 2: the KL divergence, of normalised distributions
#
# $\rho\,\pi_\text{old}$ gives back $\pi_\theta$. Its three numbers are made to sum to 1, as are the reference's.

# %%
p = rhos * old / (rhos * old).sum()
q = ref / ref.sum()
kl = (p * np.log(p / q + 1e-10)).sum()
print("p   ", p.round(4))
print("q   ", q.round(4))
print("KL  ", round(kl, 6))
print("J = ", round(surrogate - beta * kl, 6))

# %% [markdown]
# So $J = 1.033333 - 0.01 \cdot 0.0584 = 1.032749$. The $10^{-10}$ inside the logarithm is there for
# $p_i = 0$; it changes nothing else.
#
# ## The same as a picture

# %%
objective_terms(rhos, A, old, ref, epsilon, beta)

# %% [markdown]
# What to see:
#
# * **Upper left.** All ratios are inside the grey clip range, two of them on its edge.
# * **Upper right.** With $A = 1$ both bars have the height of the ratio; the black mark is the smaller one.
# * **Lower left.** The policy likes $o_2$ twice as much as the reference does, at the cost of $o_3$.
# * **Lower right.** A single term of the KL can be negative ($o_3$). Their sum never is.
#
# ## What the minimum does
#
# Give the group a bad completion and let the ratios leave the clip range.

# %%
wild, mixed = np.array([1.5, 1.5, 0.5]), np.array([1.0, -1.0, -1.0])
objective_terms(wild, mixed, old, ref, epsilon, beta)

# %% [markdown]
# * $o_1$ is good and has already become 1.5 times likelier: it counts as 1.2 only. There is nothing more to gain.
# * $o_2$ is bad and has become likelier, the wrong way: **no clip**, it counts $-1.5$ in full.
# * $o_3$ is bad and has become rarer, far enough: it counts $-0.8$, and making it rarer still gains nothing.
#
# The minimum is *pessimistic*: it takes away rewards for going too far, never penalties. "Counts no more" means that
# the **slope** is 0. The library writes a value beside its slope, with respect to $\log\pi_\theta$:

# %%
clipped(np.log(wild), mixed, clip_low=epsilon, clip_high=epsilon)

# %% [markdown]
# Now turn only the ratio of $o_2$, first in the original group, where $A_2 = 1$.

# %%
ratio_sweep(rhos, A, old, ref, epsilon, betas=(0.0, 0.01, 1.0), index=1)

# %% [markdown]
# * $\beta = 0$: the objective rises up to $\rho_2 = 1.2$ and then stays flat. An optimizer has no reason to go on.
# * $\beta = 0.01$, the default: nearly the same line.
# * $\beta = 1$: now the reference matters. It gives $o_2$ little probability, so every step up is worth less, and
#   beyond the clip range, where there is nothing more to gain, the objective falls.
#
# The clip holds back one *update*. The KL holds back the *whole training*: it is measured from the reference, which
# does not move.
#
# ## What trainers compute instead
#
# TRL, verl and the others start from the same idea, and differ from this formula in four ways.
#
# **1. Advantages come from rewards.** $A = (1, 1, 1)$ cannot happen: an advantage is the reward minus the mean of
# the group, divided by its standard deviation, so a group sums to 0. Three equal rewards teach nothing:

# %%
print(group_normalized(np.array([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]])).round(3))

# %% [markdown]
# **2. They minimise a loss**, which is $-J$, and they need its gradient. `policy_loss` gives both. With one token a
# completion and no KL it is our surrogate with a minus sign:

# %%
one_token = np.ones((1, 3, 1))  # (prompts, completions, tokens)
no_kl = replace(GRPO, kl_coef=0.0)
old_log_probs = np.log(old / old.sum()).reshape(1, 3, 1)
new_log_probs = old_log_probs + np.log(rhos).reshape(1, 3, 1)
result = policy_loss(new_log_probs, A[None], one_token, recipe=no_kl, old_log_probs=old_log_probs)
print("loss      ", float(result.loss))
print("gradient  ", result.gradient.ravel().round(4))

# %% [markdown]
# **3. The ratio is that of a token, not of a completion.** A completion has many tokens, each with a ratio of its own;
# the completion's ratio is their product. Here are three completions of 2, 1 and 3 tokens whose products are again
# 1.2, 0.8 and 1.1:

# %%
ratios = np.array([[1.5, 0.8, 1.0], [0.8, 1.0, 1.0], [1.1, 1.0, 1.0]])
mask = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1]])
old_tokens = np.log(np.full((1, 3, 3), 0.5))
tokens = policy_loss(old_tokens + np.log(ratios), A[None], mask[None], recipe=no_kl, old_log_probs=old_tokens)
print("loss, token by token", round(float(tokens.loss), 6))
token_grids({"ratio of each token": ratios, "gradient of the loss": tokens.gradient[0]}, mask)

# %% [markdown]
# The loss is another one, $-0.944444$. The first token of $o_1$ is clipped, although its completion is not: its
# gradient is 0. Every completion weighs $1/3$, shared by its tokens, so the lone token of $o_2$ has the largest say.
# (White is padding: completions of one batch have different lengths, and the mask keeps the padding out.)
#
# Take the product of the ratios first, and `grpo_objective`'s surrogate is back:

# %%
by_sequence = replace(no_kl, level=sequence_sum_level)
whole = policy_loss(
    old_tokens + np.log(ratios), A[None], mask[None], recipe=by_sequence, old_log_probs=old_tokens
)
print("loss, by completion ", round(float(whole.loss), 6))

# %% [markdown]
# **4. The KL is estimated**, because no trainer can sum over all possible completions. `grpo_objective` treats the
# three completions as if they were all that the model can say, and weights them by $p$. A trainer has drawn them
# *from* the policy, so each counts the same, and every token adds
# $\text{k3} = e^{-v} - 1 + v$ with $v = \log\pi_\theta - \log\pi_\text{ref}$, which is never negative:

# %%
v = np.log(p / q)
print("p log(p/q)", (p * v).round(4), "  sum ", (p * v).sum().round(4))
estimate = k3(np.log(p), np.log(q)).value
print("k3        ", estimate.round(4), "  mean", estimate.mean().round(4))

# %% [markdown]
# The estimate is right on average over many samples, not for these three.
#
# | | `grpo_objective` | trainers (`policy_loss`) |
# |---|---|---|
# | returns | $J$, to be maximised | loss $= -J$, its gradient, and metrics |
# | advantage | given | from the rewards of the group |
# | ratio | one per completion | one per token |
# | clip | completions | tokens |
# | KL | exact, between the $G$ completions | estimated token by token (k3) |
# | mean | over completions | over the tokens of a completion, then over completions (or otherwise: notebook 5) |
#
# ## Try yourself
#
# **a.** Set `A = [1.0, -1.0, 0.0]` in the original example. Predict the surrogate before you run it.
#
# <details><summary>Answer</summary>
#
# The terms are $1.2$, $-0.8$ and $0$, none of them clipped. Their mean is $0.4/3 = 0.1333$.
# </details>
#
# **b.** For which `ref` is the KL 0, and what is $J$ then?
#
# <details><summary>Answer</summary>
#
# For any multiple of `rhos * old` $= (1.08, 0.88, 1.1)$: only proportions matter. Then $J$ is the surrogate,
# $1.033333$ (and $10^{-10}\beta$ less, because of the $10^{-10}$ inside the logarithm).
# </details>
#
# **c.** With $A = -1$ everywhere, is there a ratio at which the surrogate stops falling as the ratio grows?
#
# <details><summary>Answer</summary>
#
# No. A bad completion that becomes likelier is never clipped: $-\rho$ falls without bound. That is why some trainers
# add a *dual clip*; see `dual_clipped` and notebook 4.
# </details>
#
# In the course: `objective/grpo_objective` is this function, `kl/normalized_kl` its KL, `ratios/clipped` its minimum,
# and `objective/grpo_loss` the trainers' version.
