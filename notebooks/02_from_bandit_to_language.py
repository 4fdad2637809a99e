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
# Training repeats two steps: compute a gradient, and take a step along it. Trainers of large models get the gradient
# from automatic differentiation. Here every gradient is **written by hand**, and this notebook checks each of them, by
# eye and by finite differences.
#
# **The question: can you trust a few lines of NumPy to train a language model?** We start with one decision (a bandit),
# continue with completions of several tokens, and end with a tiny language model that learns to add.
#
# Some cells ask for a **guess**. The number in such a cell is only a placeholder. Replace it by your own guess before
# you run the next cell. A guess within 5 % of the answer counts as right.

# %%
# %matplotlib inline
import numpy as np
from ipywidgets import interact

from grpo_ref import DR_GRPO, GRPO, RECIPES, RLOO, TASKS, config_for, iter_train, policy_loss
from grpo_ref.course.guess import how_far
from grpo_ref.learning.policies.table import gather, policy_of, pull_back
from grpo_ref.learning.rollout import rollout, sample
from grpo_ref.plots import bandit_gradient, convergence, dynamics_figure, gradient_agreement, next_tokens
from grpo_ref.tasks.bandit import bandit_with, exact_policy_gradient, expected_reward

# %% [markdown]
# ## The tool: finite differences
#
# You can always approximate a derivative by a quotient of small differences. Move each entry of $x$ by $\pm h$ and
# measure how much $f$ changes:
#
# $$ \frac{\partial f}{\partial x_k} \approx \frac{f(x + h e_k) - f(x - h e_k)}{2h} $$
#
# This is slow, and exact to about ten digits. We use it to check every gradient.


# %%
def differences(f, x, h=1e-5):
    steps = h * np.eye(x.size).reshape(-1, *x.shape)
    return np.reshape([(f(x + step) - f(x - step)) / (2 * h) for step in steps], x.shape)


# %% [markdown]
# ## 1. One decision: the bandit
#
# There are five arms. Arm $k$ has the mean reward `means[k]`. The policy has one number per arm, the **logit** $z_k$,
# and pulls arm $k$ with probability $\pi(k) = e^{z_k} / \sum_j e^{z_j}$. We want a high expected reward
#
# $$ J = \sum_k \pi(k)\, r_k \qquad\text{and the gradient is}\qquad
#    \frac{\partial J}{\partial z_k} = \pi(k)\,\Big(r_k - \sum_j \pi(j)\, r_j\Big). $$
#
# In words: an arm is pushed up if its reward is above the average, in proportion to how often it is pulled.
#
# Where the gradient comes from: raising $z_k$ makes arm $k$ more likely and takes probability from all arms in
# proportion, $\partial \pi(j) / \partial z_k = \pi(j)\,(\mathbb 1[j = k] - \pi(k))$. So
#
# $$ \frac{\partial J}{\partial z_k} = \sum_j r_j\, \pi(j)\, (\mathbb 1[j = k] - \pi(k)) = r_k\, \pi(k) - \pi(k) \sum_j \pi(j)\, r_j . $$
#
# **Guess:** arm 1 has the largest mean reward, 0.9, and is pulled with a probability of 0.1. The expected reward of the
# policy is 0.3. What is the gradient for the logit of arm 1?

# %%
guess_push = 0.6

# %%
means = np.array([[0.2, 0.9, 0.5, 0.1, 0.7]])  # one context, five arms
logits = np.array([[0.5, -0.5, 0.0, 1.0, -1.0]])
by_hand = exact_policy_gradient(means, logits)
by_differences = differences(lambda z: expected_reward(means, z), logits)
print("expected reward   ", round(float(expected_reward(means, logits)), 4))
print("by hand           ", by_hand.round(5))
print("by differences    ", by_differences.round(5))
because = "It is 0.1 times (0.9 - 0.3), with more digits. An arm that is rarely pulled is pushed weakly, however good it is."
print(how_far(guess_push, by_hand[0, 1], because))

# %%
bandit_gradient(means[0], logits[0], by_hand[0], by_differences[0])
# Figure: three bar charts over five arms: the probability of each arm, its reward minus the expected reward, and the
# gradient, computed by hand and by differences. Arm 3 has the most negative gradient, arm 1 the largest positive one.

# %% [markdown]
# The gradient (right) is the product of the two other pictures. Arm 3 is pulled most often and has the smallest reward,
# so it is pushed down hardest. Arm 1 has the largest reward, but it is pulled so rarely that its push is smaller than
# the push on arm 3. The bars sum to 0: if one logit rises, others fall.
#
# With a running kernel you can change the reward of arm 3, and see all bars move. At which reward does the push on arm
# 3 change its sign?


# %%
def turned(arm_3_pays=0.1):
    paid = np.array([[0.2, 0.9, 0.5, arm_3_pays, 0.7]])
    by_now = [exact_policy_gradient(paid, logits), differences(lambda z: expected_reward(paid, z), logits)]
    return bandit_gradient(paid[0], logits[0], *(each[0] for each in by_now))


_ = interact(turned, arm_3_pays=(0.0, 1.0, 0.1))

# %% [markdown]
# In the course you write this gradient: [`training/policy_gradient`](../exercises/07_training/01_policy_gradient.py).
# [The policy gradient](../docs/derivation/01_policy_gradient.md) proves it for completions of many tokens.
#
# ## 2. The same gradient from samples
#
# A language model cannot sum over everything it could say. It **samples** a group of $G$ completions and uses their
# rewards. Each sample contributes its advantage times $\partial \log\pi(k)/\partial z$. How good is this estimate?
#
# `sampled` draws groups for 32 independent seeds at once and follows the library's own path: rollout, advantage,
# `policy_loss`, `pull_back`. The baseline is the mean reward of the group, either of the *other* completions (RLOO, leave one
# out) or of all of them (Dr. GRPO).
#
# **Guess:** with very many groups of 4, how far is Dr. GRPO's estimate from the exact gradient, as a share of the
# length of the exact gradient?

# %%
guess_error = 0.0

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
# Figure: relative error of the gradient against the number of samples, both logarithmic. RLOO and the
# rescaled Dr. GRPO fall along the dotted line of slope one half; Dr. GRPO stops at 1/4.

# %%
shortest = np.median(curves["Dr. GRPO: minus the mean of the group"][:, -1])
because = (
    "The subtracted mean contains a quarter of the completion's own reward, so the gradient is too short."
)
print(how_far(guess_error, shortest, because, within=0.02))
one_group = {name.partition(":")[0]: np.median(curve[:, 0]) for name, curve in curves.items()}
print(
    "median error with one group of 4:", {name: round(float(error), 2) for name, error in one_group.items()}
)

# %% [markdown]
# What to see:
#
# * **RLOO** follows the dotted line: with a hundred times as many samples, the error is a tenth. RLOO is right on
#   average.
# * **Dr. GRPO** stops at $1/4$. Each completion is part of its own baseline, so a quarter of its own reward is
#   subtracted again. On average the gradient is $(G-1)/G$ of the true one: the direction is right, the length is too
#   short.
# * After multiplying by $G/(G-1) = 4/3$, the third line lies on the first: the two estimates are the same.
#
# With one group of 4 the error is about as large as the gradient itself. That is why trainers use many prompts per batch.
# The proof is in [the group](../docs/derivation/05_group.md).
#
# ## 3. From many tokens to one loss
#
# A language model does not pull one arm. It writes a completion token by token, and each token has a probability.
# Training still needs one number to minimize, the **loss**. How do many tokens become one number, and what is the
# gradient for each token?
#
# For every token $t$ there are three numbers.
#
# * The **surrogate** $s_t$ is what the token adds to the objective. GRPO takes the clipped one of [notebook
#   1](01_the_objective.ipynb), $s_t = \min(\rho_t A,\ \mathrm{clip}(\rho_t)\, A)$. Here $\rho_t = \pi_\theta /
#   \pi_\text{old}$ is by how much more likely the token has become, and $A$ is the advantage of its completion.
# * The **penalty** $k_t$ is the price for leaving the reference. GRPO takes k3, $k_t = e^{-v_t} - 1 + v_t$ with
#   $v_t = \log\pi_\theta - \log\pi_\text{ref}$.
# * The **weight** $W_t$ is how much the token counts. With GRPO each completion of a batch has the same weight, which
#   is shared equally by its tokens.
#
# The loss is a sum over all tokens. It has a minus sign, because an optimizer minimizes it:
#
# $$ \text{loss} = -\sum_t W_t\,(s_t - \beta\, k_t) . $$
#
# The gradient for a token is the derivative with respect to its own log-probability. This log-probability occurs in one
# term of the sum only, so
#
# $$ \frac{\partial\, \text{loss}}{\partial \log\pi_\theta(t)} = -W_t\,(s_t' - \beta\, k_t'), \qquad
#    s_t' = \begin{cases} \rho_t A & \text{where it is not clipped} \\ 0 & \text{where it is,} \end{cases} \qquad k_t' = 1 - e^{-v_t} . $$
#
# ($\rho_t' = \rho_t$, because $\rho_t = e^{\log\pi_\theta - \log\pi_\text{old}}$; and the derivative of $e^{-v} - 1 + v$ is
# $-e^{-v} + 1$.)
#
# ### Three tokens, by hand
#
# One prompt has two completions. The first is good, $A = 1$, and has two tokens, which the old policy wrote with
# probability 0.5 each; the new policy gives them 0.55 and 0.45. The second is bad, $A = -1$, and has one token: its
# probability was 0.5 and is now 0.6. The reference gives 0.5 to all three tokens. Each completion has the weight 1/2,
# so the tokens have 1/4, 1/4 and 1/2.
#
# **Guess:** what is the loss? (The KL penalty is small here; ignore it.)

# %%
guess_loss = 0.0


# %%
def surrogate(log_ratio, A):
    free, held = np.exp(log_ratio) * A, np.clip(np.exp(log_ratio), 0.8, 1.2) * A
    return np.minimum(free, held), np.where(free <= held, free, 0.0)  # the value, and its slope


def penalty(v):
    return np.exp(-v) - 1 + v, 1 - np.exp(-v)  # the value, and its slope


# %%
probs, A, W, beta = np.array([0.55, 0.45, 0.6]), np.array([1.0, 1.0, -1.0]), np.array([0.25, 0.25, 0.5]), 0.04
s, s_slope = surrogate(np.log(probs / 0.5), A)
k, k_slope = penalty(np.log(probs / 0.5))
loss = -(W * (s - beta * k)).sum()
gradient = -W * (s_slope - beta * k_slope)
print("token       ρ     A      W       s       k     gradient")
for t in range(3):
    print(
        f"{t + 1} {probs[t] / 0.5:11.2f} {A[t]:5.0f} {W[t]:6.2f} {s[t]:7.2f} {k[t]:7.4f} {gradient[t]:12.4f}"
    )
print("loss", loss.round(4))
because = "-(1.1/4 + 0.9/4 - 1.2/2) = 0.1. The bad completion has become more likely, and its only token has its whole weight."
print(how_far(guess_loss, loss, because))

# %% [markdown]
# Read the last column. Where it is negative, the loss falls when the token becomes more likely. So the two tokens of
# the good completion are pushed up. The third token is pushed down, harder than both together. The KL penalty changes
# only the fourth digit of the loss.
#
# ### The loss of a whole batch
#
# The library does this for any number of prompts, completions and tokens at once, with arrays of three axes. Shorter
# rows are padded to the length of the longest, and a **mask** marks which places are tokens (1) and which are padding
# (0). Here are two prompts with three completions of one to four tokens. All numbers are random. We compute the loss
# with the two functions above, and compare it with the library's `policy_loss`.

# %%
rng = np.random.default_rng(1)
shape = (2, 3, 4)  # (prompts, completions, tokens)
mask = (np.arange(4) < rng.integers(1, 5, (2, 3, 1))).astype(float)
new, old, ref = np.log(rng.uniform(0.2, 0.9, (3, *shape)))  # of each token, under three policies
advantages = rng.normal(size=(2, 3, 1)) * np.ones(shape)  # one per completion, the same for all its tokens
print("tokens of each completion:", mask.sum(-1).astype(int).tolist())

# %%
W = mask / mask.sum(-1, keepdims=True) / 6  # six completions, each shares its sixth among its tokens
(s, s_slope), (k, k_slope) = surrogate(new - old, advantages), penalty(new - ref)
loss = -(W * (s - beta * k)).sum()
gradient = -W * (s_slope - beta * k_slope)

theirs = policy_loss(new, advantages, mask, recipe=GRPO, old_log_probs=old, ref_log_probs=ref)
print("loss, these four lines:", round(float(loss), 12), "  policy_loss:", round(float(theirs.loss), 12))
print("gradients agree to twelve digits:", bool(abs(gradient - theirs.gradient).max() < 1e-12))

# %% [markdown]
# Every other algorithm of the family chooses other parts: another $s_t$ ([notebook 4](04_gallery_of_surrogates.ipynb)),
# another $W_t$ ([notebook 5](05_three_pictures_of_W.ipynb)), another $k_t$ ([notebook
# 6](06_kl_and_reward_hacking.ipynb)). Such a choice is called a *recipe*. You write these lines in
# [`objective/grpo_loss`](../exercises/06_objective/02_grpo_loss.py) and
# [`objective/grpo_gradient`](../exercises/06_objective/03_grpo_gradient.py).
#
# ### Checking the gradient
#
# Is the derivative right? There are 24 places. We move each log-probability up and down a little and compute the loss
# again.


# %%
def loss_of(recipe):
    given = {"recipe": recipe, "old_log_probs": old, "ref_log_probs": ref}
    return lambda x: policy_loss(x, advantages, mask, **given).loss


gradient_agreement(gradient, differences(loss_of(GRPO), new), "∂loss/∂log π")
# Figure: left, the gradient by hand against the gradient by differences for 24 places: all points lie on the
# diagonal. Right, their differences, all below a billionth of the largest gradient.

# %% [markdown]
# Each point of the left picture is one place. Its height is the derivative by hand, and its horizontal position is the
# derivative by differences. All points lie on the line; those at 0 are padding. The right picture shows how far the two
# derivatives are apart: less than a billionth of the largest derivative. These differences are rounding errors. (The
# points at $10^{-17}$ are differences of exactly 0.)
#
# The check works for other recipes, too. You need not know their names yet; [notebook
# 4](04_gallery_of_surrogates.ipynb) explains the last four. For seven recipes the next cell prints the loss, and how
# far the gradient of the library is from the finite differences. **Guess:** for which recipe is the gradient *not* the
# derivative of the loss: grpo, dr_grpo, dapo, gspo, sapo, gmpo or cispo? One of them multiplies the log-probability by
# a ratio that is treated as a constant.

# %%
guess_recipe = "gspo"

# %%
apart = {}
for name in ("grpo", "dr_grpo", "dapo", "gspo", "sapo", "gmpo", "cispo"):
    result = policy_loss(new, advantages, mask, recipe=RECIPES[name], old_log_probs=old, ref_log_probs=ref)
    apart[name] = abs(result.gradient - differences(loss_of(RECIPES[name]), new)).max()
    verdict = "the derivative" if apart[name] < 1e-8 else f"apart by {apart[name]:.2f}"
    print(f"{name:8} loss {result.loss:8.4f}   gradient: {verdict}")
because = (
    "In CISPO the ratio is a constant weight (a stop-gradient), and a finite difference cannot know that."
)
print(how_far(guess_recipe, max(apart, key=apart.get), because))

# %% [markdown]
# A disagreement is not always an error. But somebody must have chosen it on purpose.
#
# ## 4. Back to the logits
#
# The policy's parameters are logits, one row for each state. Many tokens are chosen in the same state. `pull_back` adds
# up the gradients of these tokens for each logit. Let $g_{s,a}$ be the sum of the gradients of all tokens $a$ that were
# chosen in state $s$. Then:
#
# $$ \frac{\partial\,\text{loss}}{\partial z_{s,a}} = g_{s,a} - \pi(a\,|\,s) \sum_b g_{s,b} $$
#
# Raising one logit lowers the probabilities of all other tokens in the same state. This is the second term. The formula
# is the derivative $\partial \log\pi(b\,|\,s) / \partial z_{s,a} = \mathbb 1[a = b] - \pi(a\,|\,s)$, summed over the
# tokens $b$ with the weights $g_{s,b}$. In the course:
# [`training/scatter_add`](../exercises/07_training/02_scatter_add.py).
#
# The next cell makes a random table of three states and five tokens, assigns a random state and token to each of the 24
# places of part 3, and computes the gradient for the 15 logits.

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
# Figure: left, the gradient by hand against the gradient by differences for 15 logits: all points lie on the
# diagonal. Right, their differences, which are rounding errors.

# %% [markdown]
# ## 5. A language
#
# The task `arithmetic` has prompts like `7+8=` and eleven tokens: ten digits and "end". A completion has at most four
# tokens. A well-formed number (digits without a leading zero, then "end") has the reward 0.1. The right answer has the
# reward 1.1. The policy is a table: one row of logits for each prompt and position. At first all tokens are equally
# likely, and the answers are random. (If there is nothing after the `=`, the answer is empty: the first token was
# "end".)

# %%
task = TASKS["arithmetic"]()
config = config_for(task, updates=150, prompts=50, seeds=4)


def said(logits, seed=0):
    batch = sample(task, logits[:1], prompts=8, seed=seed)
    pairs = zip(batch.prompts[0], batch.tokens[0, :, 0], batch.mask[0, :, 0], strict=True)
    return "   ".join(task.render(*pair) for pair in pairs)


print(said(task.ref_logits[None]))

# %% [markdown]
# Now 150 updates of 50 prompts with 16 completions each, four seeds, with exactly the gradient that we have just checked.
#
# **Guess:** what share of the answers is right at the end?

# %%
guess_right = 1.0

# %%
updates = list(iter_train(task, GRPO, config))
print(said(updates[-1].state.params))
print("right:", [round(float(share), 2) for share in updates[-1].metrics["correct"]])
because = (
    "For some prompts the policy writes numbers of the wrong length, or never writes the right digits: the completions "
    "differ, but all have the reward 0.1, and equal rewards teach nothing."
)
print(how_far(guess_right, updates[-1].metrics["correct"].mean(), because))
dynamics_figure({"GRPO on arithmetic": [u.metrics for u in updates]}, ("correct", "entropy", "kl"))
# Figure: the share of right answers rises from 0 to about 0.8 in 150 updates, the entropy falls, and the KL
# to the reference rises and slows down.

# %% [markdown]
# (The eight answers are samples of the final policy of the first seed. The shares are from the last update, one for
# each of the four seeds.)
#
# What does it say after `7+8=`, token by token? Each row continues with the most likely token. If several are equally
# likely, it takes the first of them; so "before" continues with `0` each time.

# %%
prompt = task.prompts.index("7+8=")
after = policy_of(updates[-1].state.params[0]).probs
next_tokens(task, {"before": policy_of(task.ref_logits).probs, "after": after}, prompt)
# Figure: two heat maps of the next-token probabilities after 7+8=, before and after training. Before, all
# cells are equally light; after, each row has one dark cell: 1, 5 and end.

# %% [markdown]
# Before training, all tokens are equally likely. After training, each row has one dark cell. The policy learned this
# from sampling, from comparing the completions of a group, and from a gradient of a few lines.
#
# ## Try yourself
#
# **a.** In part 1, make arm 3 the best one (`means[0, 3] = 1.0`). Which bars change sign?
#
# <details><summary>Answer</summary>
#
# The bars of arms 3 and 2. Arm 3 is now far above the average. And the average has risen from 0.30 to 0.69, so arm 2 is
# now below it, although its reward is still 0.5.
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
# No: in the mean of the last ten updates 0.61 of the answers are right instead of 0.81. (The 0.86 above is the last
# update alone.) The reference is the uniform policy here, so the KL penalty keeps the policy trying things. Without it,
# 40 % of the prompts end with less than 0.1 of their answers right, instead of 16 %. Most of these prompts have settled
# on a wrong length: for four of five of them the right length has a probability below 0.1. Their completions differ
# (only 8 % of these prompts have one text with a probability above 0.9), but all have the reward 0.1, and equal rewards
# teach nothing (notebook 3).
# </details>
#
# In the course: [`training/policy_gradient`](../exercises/07_training/01_policy_gradient.py) and
# [`training/scatter_add`](../exercises/07_training/02_scatter_add.py) cover parts 1 and 4,
# [`objective/grpo_gradient`](../exercises/06_objective/03_grpo_gradient.py) covers part 3,
# [`training/train_bandit`](../exercises/07_training/04_train_bandit.py) and
# [`training/train_language`](../exercises/07_training/05_train_language.py) put it all together.
