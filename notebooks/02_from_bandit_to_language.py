# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 2. From a bandit to a language: gradients by hand
#
# Training is: compute a gradient, take a step, repeat. Trainers of large models get the gradient from automatic
# differentiation. Here every gradient is **written by hand**, and this notebook checks each of them, by eye and by
# finite differences.
#
# **The question: can a few lines of NumPy be trusted to train a language?** We start with one decision (a bandit),
# go on to completions of several tokens, and end with a little language that learns to add.

# %%
# %matplotlib inline
from types import SimpleNamespace

import numpy as np

from grpo_ref import DR_GRPO, GRPO, RECIPES, RLOO, TASKS, config_for, policy_loss, rollout, sample, train
from grpo_ref.learning.policies.table import gather, policy_of, pull_back
from grpo_ref.learning.tasks.bandit import bandit_with, exact_policy_gradient, expected_reward
from grpo_ref.plots import bandit_gradient, convergence, dynamics_figure, gradient_agreement, next_tokens

# %% [markdown]
# ## The tool: finite differences
#
# If nothing else, a derivative is a quotient of small differences. Move each entry of $x$ by $\pm h$ and see how much
# $f$ changes:
#
# $$ \frac{\partial f}{\partial x_k} \approx \frac{f(x + h e_k) - f(x - h e_k)}{2h} $$
#
# It is slow, and exact to about ten digits. We use it as the judge.


# %%
def differences(f, x, h=1e-5):
    steps = h * np.eye(x.size).reshape(-1, *x.shape)
    return np.reshape([(f(x + step) - f(x - step)) / (2 * h) for step in steps], x.shape)


# %% [markdown]
# ## 1. One decision: the bandit
#
# There are five arms. Arm $k$ pays `means[k]`. The policy has one number an arm, its **logit** $z_k$, and pulls arm $k$
# with probability $\pi(k) = e^{z_k} / \sum_j e^{z_j}$. It wants a large expected reward
#
# $$ J = \sum_k \pi(k)\, r_k \qquad\text{and the gradient is}\qquad
#    \frac{\partial J}{\partial z_k} = \pi(k)\,\Big(r_k - \sum_j \pi(j)\, r_j\Big). $$
#
# In words: push up what pays more than you expect on average, in proportion to how often you do it.

# %%
means = np.array([[0.2, 0.9, 0.5, 0.1, 0.7]])  # one context, five arms
logits = np.array([[0.5, -0.5, 0.0, 1.0, -1.0]])
by_hand = exact_policy_gradient(means, logits)
by_differences = differences(lambda z: expected_reward(means, z), logits)
print("expected reward   ", round(float(expected_reward(means, logits)), 4))
print("by hand           ", by_hand.round(5))
print("by differences    ", by_differences.round(5))

# %%
bandit_gradient(means[0], logits[0], by_hand[0], by_differences[0])

# %% [markdown]
# What to see: the gradient (right) is the product of the two other pictures. Arm 3 is pulled most often and pays least,
# so it is pushed down hardest. Arm 1 pays best, but is tried so rarely that its push is smaller than one would like.
# The bars sum to 0: what one logit gains, others lose.
#
# ## 2. The same gradient from samples
#
# A language model cannot sum over everything it could say. It **samples** a group of $G$ completions, and uses their
# rewards. Each sample contributes its advantage times $\partial \log\pi(k)/\partial z$. How good is that?
#
# `sampled` draws groups for 32 independent seeds at once and follows the library's own path: rollout, advantage,
# `policy_loss`, `pull_back`.

# %%
bandit, seeds, G = bandit_with(means), 32, 4
policy = policy_of(np.repeat(logits[None], seeds, axis=0))
uniforms = np.random.default_rng(0).random((seeds, 4096, G, 1))


def sampled(recipe, groups):
    batch = rollout(bandit, policy.probs, np.zeros((seeds, groups), dtype=int), uniforms[:, :groups])
    log_probs = gather(policy.log_probs, batch.states, batch.tokens)
    loss = policy_loss(log_probs, recipe.advantage(batch), batch.mask, recipe=recipe)
    return -pull_back(loss.gradient, batch.states, batch.tokens, policy.probs)


# %%
def errors(recipe, scale=1.0):
    gradients = [scale * sampled(recipe, groups) for groups in sizes]
    distances = [np.linalg.norm(gradient - by_hand, axis=(1, 2)) for gradient in gradients]
    return np.stack(distances, axis=1) / np.linalg.norm(by_hand)


# %%
sizes = [4**power for power in range(7)]
curves = {
    "RLOO: minus the mean of the others": errors(RLOO),
    "Dr. GRPO: minus the mean of the group": errors(DR_GRPO),
    "Dr. GRPO times G/(G - 1)": errors(DR_GRPO, G / (G - 1)),
}
samples = [G * size for size in sizes]
convergence(samples, curves, "N, number of samples (groups of 4)", "|error| / |exact gradient|")

# %% [markdown]
# What to see:
#
# * **RLOO** follows the dotted line: with a hundred times the samples, a tenth of the error. It is right on average.
# * **Dr. GRPO** stops at $1/4$. Each completion is part of its own baseline, so a quarter of its own reward is
#   subtracted again: on average the gradient is $(G-1)/G$ of the true one. Right direction, too short.
# * Multiply by $G/(G-1) = 4/3$, and the third line lies on the first: the two are the same.
#
# With one group of 4 the error is as large as the gradient itself. That is why trainers use many prompts per batch.
#
# ## 3. The four lines of the loss
#
# A completion has several tokens. Every recipe of this library (GRPO, DAPO, GSPO, ...) is a choice of parts, and its
# loss and gradient are always the same four lines. $W$ says how much each token counts; the surrogate and the KL penalty
# each come as a *value* and its *slope*:
#
# $$ \text{loss} = -\sum W\,(\text{surrogate} - \beta\,\text{penalty}), \qquad
#    \frac{\partial\,\text{loss}}{\partial \log\pi_\theta(t)} = -W_t\,(\text{surrogate}' - \beta\,\text{penalty}'). $$
#
# Here they are for GRPO, on two prompts with three completions of up to four tokens:

# %%
rng = np.random.default_rng(1)
shape = (2, 3, 4)  # (prompts P, completions G, tokens T)
mask = (np.arange(4) < rng.integers(1, 5, (2, 3, 1))).astype(float)
new, old, ref = np.log(rng.uniform(0.2, 0.9, (3, *shape)))
advantages = rng.normal(size=(2, 3, 1)) * np.ones(shape)
arrays = {"log_probs": new, "ref_log_probs": ref, "advantages": advantages, "mask": mask}
batch = SimpleNamespace(log_ratio=new - old, **arrays)

# %%
gain, penalty, W = GRPO.surrogate(batch), GRPO.penalty(batch), GRPO.aggregate(batch)
value = gain.value - GRPO.kl_coef * penalty.value
loss = -(W * value).sum()
gradient = -W * (gain.slope - GRPO.kl_coef * penalty.direct)

theirs = policy_loss(new, advantages, mask, recipe=GRPO, old_log_probs=old, ref_log_probs=ref)
print("loss", loss, "policy_loss", theirs.loss)
print("largest difference of the gradients", abs(gradient - theirs.gradient).max())

# %% [markdown]
# (`slope` is a derivative that goes through the ratio, `direct` one that does not; for a token ratio both are simply
# added. `policy_loss` also checks shapes, spreads sequence ratios over their tokens and collects metrics.)
#
# Now the judge: 24 entries, each moved up and down.


# %%
def loss_of(recipe):
    given = {"recipe": recipe, "old_log_probs": old, "ref_log_probs": ref}
    return lambda x: policy_loss(x, advantages, mask, **given).loss


gradient_agreement(gradient, differences(loss_of(GRPO), new), "∂loss/∂log π")

# %% [markdown]
# On the left, all points lie on the line; those at 0 are padding. On the right, the differences are more than a billion
# times smaller than the largest entry: what is left is rounding. (The points at $10^{-17}$ are differences of exactly 0.)
#
# The same for other recipes. Which of them is *not* the derivative of its own loss?

# %%
for name in ("grpo", "dr_grpo", "dapo", "gspo", "sapo", "gmpo", "cispo"):
    result = policy_loss(new, advantages, mask, recipe=RECIPES[name], old_log_probs=old, ref_log_probs=ref)
    apart = abs(result.gradient - differences(loss_of(RECIPES[name]), new)).max()
    print(f"{name:8} loss {result.loss:8.4f}   gradient apart by {apart:.1e}")

# %% [markdown]
# CISPO: its ratio is a *constant* weight (a stop-gradient), which a finite difference cannot know. A disagreement is
# not always an error; it must be one that somebody decided on. Notebook 4 shows all surrogates.
#
# ## 4. Back to the logits
#
# The policy's parameters are logits, a row for each state, and the same state is visited by many tokens. `pull_back`
# adds up what the tokens say about each logit. With $g_{s,a}$ the sum of the gradients of all tokens $a$ chosen in
# state $s$:
#
# $$ \frac{\partial\,\text{loss}}{\partial z_{s,a}} = g_{s,a} - \pi(a\,|\,s) \sum_b g_{s,b} $$
#
# Raising one logit lowers the probabilities of all others in the same state; the second term is that.

# %%
table = rng.normal(size=(3, 5))  # 3 states, 5 tokens
states, tokens = rng.integers(0, 3, shape), rng.integers(0, 5, shape)


def loss_of_logits(z):
    return loss_of(GRPO)(gather(policy_of(z).log_probs, states, tokens))


log_probs = gather(policy_of(table).log_probs, states, tokens)
result = policy_loss(log_probs, advantages, mask, recipe=GRPO, old_log_probs=old, ref_log_probs=ref)
pulled = pull_back(result.gradient, states, tokens, policy_of(table).probs)
print("rows sum to", abs(pulled.sum(-1)).max().round(12))
gradient_agreement(pulled, differences(loss_of_logits, table), "∂loss/∂logit")

# %% [markdown]
# ## 5. A language
#
# The task `arithmetic` has prompts like `7+8=` and eleven tokens: ten digits and "end". A completion of the right
# digits and an end gets reward 1, and any well-formed number 0.1. The policy is a table: one row of logits for each
# prompt and position. At first it knows nothing and babbles:

# %%
task = TASKS["arithmetic"]()
config = config_for(task, updates=150, prompts=50, seeds=4)


def said(logits, seed=0):
    batch = sample(task, logits[:1], prompts=8, seed=seed)
    pairs = zip(batch.prompts[0], batch.tokens[0, :, 0], batch.mask[0, :, 0], strict=True)
    return "   ".join(task.render(*pair) for pair in pairs)


print(said(task.ref_logits[None]))

# %% [markdown]
# 150 updates of 50 prompts with 16 completions each, four seeds, with exactly the gradient that we have just checked:

# %%
updates = list(train(task, GRPO, config))
print(said(updates[-1].state.params))
print("right:", [round(float(share), 2) for share in updates[-1].metrics["correct"]])
dynamics_figure({"GRPO on arithmetic": [u.metrics for u in updates]}, ("correct", "entropy", "kl"))

# %% [markdown]
# What does it say after `7+8=`, token by token?

# %%
prompt = task.prompts.index("7+8=")
after = policy_of(updates[-1].state.params[0]).probs
next_tokens(task, {"before": policy_of(task.ref_logits).probs, "after": after}, prompt)

# %% [markdown]
# Everything equally likely before, one dark cell in each row after. All of it came from sampling, comparing siblings,
# and a gradient of a few lines.
#
# ## Try yourself
#
# **a.** In part 1, make arm 3 the best one (`means[0, 3] = 1.0`). Which bars change sign?
#
# <details><summary>Answer</summary>
#
# Those of arms 3 and 2. Arm 3 is now far above the average. And the average has risen from 0.30 to 0.69, so that arm 2,
# which pays 0.5 as before, has become a bad choice.
# </details>
#
# **b.** In part 2, use groups of 2 (`G = 2`). Where does Dr. GRPO's error stop?
#
# <details><summary>Answer</summary>
#
# At $1 - (G-1)/G = 1/2$.
# </details>
#
# **c.** Train with `replace(GRPO, kl_coef=0.0)`. Is it better?
#
# <details><summary>Answer</summary>
#
# No: in the last updates about 0.6 of the answers are right instead of 0.8. The reference is the uniform policy here, so
# the KL penalty keeps the policy trying things. Without it, a prompt whose right answer was not drawn early settles on
# something else, all its completions become equal, and equal rewards teach nothing (notebook 3).
# </details>
#
# In the course: `training/policy_gradient` and `training/scatter_add` are parts 1 and 4, `objective/grpo_gradient` is
# part 3, `training/train_bandit` and `training/train_language` put it all together.
