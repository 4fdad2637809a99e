# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 13. From PPO to GRPO: what becomes of the critic
#
# GRPO is a shortened PPO (proximal policy optimization). PPO trains two things at once: the **policy**, which writes, and
# the **critic**, which predicts how much reward a half-written text will still earn. A text that earns more than the critic
# predicted is pushed up. GRPO throws the critic away. It writes several completions of the same prompt and lets their mean
# reward say what was to be expected.
#
# **The question: what did the critic do for PPO, and what does one lose, or win, when the mean of a group takes its
# place?** We go from PPO to GRPO in six steps. Each step changes one thing only. All runs learn the same task from the
# same number of completions, and every difference has an interval. Before each result you are asked for a guess.
#
# Three pages say more: [the baseline](../docs/derivation/02_baseline.md), [the clip](../docs/derivation/04_clip.md) and
# [the group](../docs/derivation/05_group.md).

# %%
# %matplotlib inline
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np

from grpo_ref import GRPO, TASKS, Adam, policy_loss, rollout
from grpo_ref.course.guess import how_far
from grpo_ref.experiments.framework.statistics import student_quantile
from grpo_ref.learning.policies.table import gather, gather_states, policy_of, pull_back, scatter_add
from grpo_ref.plots import intervals_figure, lines_figure, token_grids

# %% [markdown]
# ## 1. The task and the budget
#
# The task `arithmetic` has 100 prompts, from `0+0=` to `9+9=`. A completion has at most three tokens, each a digit or the
# end. The right sum with an end after it earns 1.1; any other number that is well formed earns 0.1; all else earns 0.
#
# The policy is a table of logits with one row for each prompt and position, so $100 \cdot 3 \cdot 11 = 3300$ numbers are
# learned. The policy knows the prompt and the position, and not what it has written. In every update of every run 128
# completions are written, and then the policy takes four steps of Adam on them.

# %%
task = TASKS["arithmetic"](max_length=3)
SEEDS, UPDATES, STEPS = 32, 120, 4
LENGTH, TEXTS = task.max_length, 1 + 11 + 11**2
print("prompts:", len(task.prompts), "  logits of the policy:", task.ref_logits.size)
print("texts that can stand before a token, for each prompt:", TEXTS)

# %% [markdown]
# ## 2. The critic
#
# The critic is a function $V$ of the text so far, $o_{<t}$. It should be the reward that is to be expected from there:
#
# $$ V(o_{<t}) = \mathbb{E}[R \mid o_{<t}] . $$
#
# Here it is a table too. After a prompt there can stand nothing, one of 11 tokens, or two of them, so it has
# $1 + 11 + 121 = 133$ numbers for each prompt, and all begin at 0. (Texts with an end in them never come up.) To learn, it makes
# half the squared error $\tfrac12 (V - R)^2$ smaller. The derivative with respect to $V$ is $V - R$, so one step of gradient
# descent is
#
# $$ V \leftarrow V + \alpha\,(R - V): $$
#
# move a share $\alpha$ of the way to what came out. We take $\alpha = 0.3$, and the mean over all completions of the batch
# that have passed there.
#
# **What it is used for.** The critic's errors from token to token are
#
# $$ \delta_t = V(o_{\le t}) - V(o_{<t}) \quad\text{before the last token}, \qquad \delta_T = R - V(o_{<T}) \quad\text{at it.} $$
#
# A token that makes the prospects better has a positive $\delta_t$. **Generalized advantage estimation** (GAE) gives a
# token its own error and a share $\lambda$ of the advantage of the next token:
#
# $$ A_t = \delta_t + \lambda\, A_{t+1} = \sum_{s \ge t} \lambda^{s-t}\, \delta_s . $$
#
# For $\lambda = 1$ the sum telescopes, because every $V$ but the first is added once and subtracted once:
#
# $$ A_t = \big(V(o_{\le t}) - V(o_{<t})\big) + \big(V(o_{\le t+1}) - V(o_{\le t})\big) + \dots + \big(R - V(o_{<T})\big)
#    = R - V(o_{<t}) . $$
#
# For $\lambda = 0$ only the token's own error is left, and the critic is believed in everything. PPO mostly takes 0.95.
#
# **Guess:** before the three tokens of a completion the critic says 0.4, 0.7 and 0.9; the reward is 1. What is the
# advantage of the *first* token, with $\lambda = 1$? (The value that stands there is somebody's first thought. Put in yours.)


# %%
def gae(rewards, values, mask, lam):
    following = np.append((values * mask)[..., 1:], 0.0 * values[..., :1], axis=-1)
    advantages = mask * (rewards + following - values)  # the errors δ; rewards are 0 before the last token
    for t in reversed(range(values.shape[-1] - 1)):
        advantages[..., t] += lam * advantages[..., t + 1]
    return advantages * mask


# %%
guess_advantage = 1.0

# %%
one = np.array([0.0, 0.0, 1.0]), np.array([0.4, 0.7, 0.9]), np.ones(3)
for lam in (0.0, 0.95, 1.0):
    print(f"λ = {lam:4}: advantages {gae(*one, lam).round(3)}")
because = "With λ = 1 the errors 0.3, 0.2 and 0.1 are added up: R - V = 1 - 0.4. The 0.4 was expected anyway."
print(how_far(guess_advantage, gae(*one, 1.0)[0], because))

# %% [markdown]
# ## 3. The update
#
# PPO divides all advantages of a batch by one number, so that they are about 1 in size; most implementations subtract the
# mean of the batch as well. Then it makes the clipped surrogate $\min(\rho A,\ \mathrm{clip}(\rho, 0.8, 1.2)\, A)$ larger
# ([notebook 4](04_gallery_of_surrogates.ipynb) draws it). GRPO has the same surrogate. So we take the library's loss for all
# runs and switch off its KL penalty; runs differ only in where the advantages come from, in how they are scaled, and in how
# the 128 completions are spread over prompts.

# %%
recipe = replace(GRPO, kl_coef=0.0)


def step(now, batch, advantages, old):
    policy, places = policy_of(now.logits), (batch.states, batch.tokens)
    log_probs = gather(policy.log_probs, *places)
    loss = policy_loss(log_probs, advantages, batch.mask, recipe=recipe, old_log_probs=old, metrics=())
    gradient = pull_back(loss.gradient, *places, policy.probs)
    now.logits, now.moments = now.adam.step(now.logits, gradient, now.moments)


def scaled(advantages, mask, how):
    count, over = mask.sum((1, 2, 3), keepdims=True), {"axis": (1, 2, 3), "keepdims": True}
    if how == "centre and scale":
        advantages = mask * (advantages - advantages.sum(**over) / count)
    size = np.sqrt((advantages**2).sum(**over) / count) if "scale" in how else 1.0
    return advantages / np.maximum(size, 1e-8)


# %% [markdown]
# The next cell holds the baselines: what is subtracted from the reward. `critic` reads its table, gives the advantages by
# GAE, and learns. It can read the whole text so far, or be allowed to see the prompt alone, or nothing at all. `group` takes
# the mean of the siblings, and can divide by their standard deviation. `nothing` leaves the reward as it is. Each of them
# writes down its baseline, so that we can look at it later.


# %%
def places_of(batch, sees):
    first, second, prompt = batch.tokens[..., 0], batch.tokens[..., 1], batch.prompts[..., None, None]
    text = np.stack([0 * first, 1 + first, 12 + 11 * first + second], axis=-1)
    seen = {"text": TEXTS * prompt + text, "prompt": TEXTS * prompt + 0 * text, "nothing": 0 * text}
    return seen[sees]


def critic(now, batch, arm):
    places, ends = places_of(batch, arm.sees), np.arange(LENGTH) == batch.lengths[..., None] - 1
    values = gather_states(now.critic, places)
    now.baseline = values[..., 0]
    learn(now, places, batch.mask * (batch.rewards[..., None] - values), batch.mask)
    return gae(ends * batch.rewards[..., None], values, batch.mask, arm.lam)


def learn(now, places, errors, mask, rate=0.3):
    shape = (*now.critic.shape, 1)
    sums, visits = (scatter_add(1.0 * each, places, 0 * places, shape)[..., 0] for each in (errors, mask))
    now.critic = now.critic + rate * sums / np.maximum(visits, 1.0)


def group(now, batch, arm):
    now.baseline = batch.rewards.mean(-1, keepdims=True) + 0.0 * batch.rewards
    spread = batch.rewards.std(-1, keepdims=True) + 1e-4 if arm.divides else 1.0
    return ((batch.rewards - now.baseline) / spread)[..., None] * batch.mask


def nothing(now, batch, arm):
    now.baseline = 0.0 * batch.rewards
    return batch.rewards[..., None] * batch.mask


# %% [markdown]
# One update draws the completions, asks the baseline for advantages, scales them, and takes four steps. `now` holds what
# changes: logits, Adam's moments, the critic, and the random numbers. `run` trains 32 seeds side by side and returns, for
# each update, the share of right answers and how far the baseline was off (part 6).
#
# What the baseline should have been is known here, because the policy is a table: the expected reward of a prompt is the
# probability of the right answer plus 0.1 times that of a well-formed number, and both are sums of products of
# probabilities.


# %%
def begin(seed, rate, seeds):
    now = SimpleNamespace(adam=Adam(rate), generator=np.random.default_rng(seed))
    now.logits = np.repeat(task.ref_logits[None], seeds, axis=0)
    now.moments = now.adam.init(now.logits)
    now.critic = np.zeros((seeds, len(task.prompts) * TEXTS))
    return now


def drawn(now, arm):
    policy, seeds = policy_of(now.logits), len(now.logits)
    prompts = now.generator.integers(len(task.prompts), size=(seeds, arm.prompts))
    numbers = now.generator.random((seeds, arm.prompts, 128 // arm.prompts, LENGTH))
    return rollout(task, policy.probs, prompts, numbers), policy


def update(now, arm):
    batch, policy = drawn(now, arm)
    advantages = scaled(arm.judge(now, batch, arm), batch.mask, arm.scaling)
    for _ in range(STEPS):
        step(now, batch, advantages, gather(policy.log_probs, batch.states, batch.tokens))
    return {"right": batch.components[..., 1].mean((1, 2))} | errors(now.baseline, batch, policy)


def run(seed, rate=0.05, seeds=SEEDS, **arm):
    now = begin(seed, rate, seeds)
    return [update(now, SimpleNamespace(**arm)) for _ in range(UPDATES)], now


# %%
spelled = [[int(digit) for digit in str(a + b)] + [10] for a in range(10) for b in range(10)]
answers = np.array([tokens + [-1] * (LENGTH - len(tokens)) for tokens in spelled])


def chances(policy):
    first, second, third = np.moveaxis(policy.probs.reshape(-1, 100, LENGTH, 11), 2, 0)
    chosen = policy.probs.reshape(-1, 300, 11)[:, np.arange(300), answers.ravel()].reshape(-1, 100, LENGTH)
    formed = first[..., :10].sum(-1) * second[..., 10]
    formed = formed + first[..., 1:10].sum(-1) * second[..., :10].sum(-1) * third[..., 10]
    return np.where(answers >= 0, chosen, 1.0).prod(-1), formed


def errors(baseline, batch, policy):
    right, formed = chances(policy)
    error = baseline - np.take_along_axis(right + 0.1 * formed, batch.prompts, axis=1)[..., None]
    return {"off": np.sqrt((error**2).mean((1, 2))), "bias": error.mean((1, 2))}


# %% [markdown]
# ## 4. What a critic is worth
#
# First PPO itself, and beside it the same without any baseline: 128 completions of 128 prompts, $A = R$.
#
# **Guess:** with PPO, what share of the answers is right in the last ten of 120 updates? At the start one answer in 121 is
# right if the sum has one digit, and one in 1331 if it has two.

# %%
guess_ppo = 0.9

# %%
arms = {
    "no baseline": {"judge": nothing, "prompts": 128, "scaling": "scale"},
    "PPO": {"judge": critic, "prompts": 128, "scaling": "centre and scale", "sees": "text", "lam": 0.95},
}
history, last = {}, {}
for seed, (name, arm) in enumerate(arms.items()):
    history[name], last[name] = run(seed, **arm)


def curves(names, what="right"):
    found = {name: np.array([each[what] for each in history[name]]).T for name in names}
    return {name: curve.reshape(len(curve), -1, 10).mean(-1) for name, curve in found.items()}  # means of ten


def at_the_end(name):
    return curves([name])[name][:, -1]


right, _ = chances(policy_of(last["PPO"].logits))
print(f"prompts answered right nearly always (above 0.9): {(right > 0.9).mean():.2f}")
print(f"prompts answered right hardly ever (below 0.1):   {(right < 0.1).mean():.2f}")
because = "128 times 120 completions for 100 prompts are 154 for each. Every prompt is learned by itself, and many are not yet."
print(how_far(guess_ppo, at_the_end("PPO").mean(), because))

# %%
tens = np.arange(10, UPDATES + 1, 10)
lines_figure(tens, curves(["no baseline", "PPO"]), "update (128 completions each)", "right answers (share)")

# %% [markdown]
# What to see: both learn, and the critic is worth a lot. With the reward itself as the advantage, every sampled token is
# pushed up, a well-formed wrong answer too, for its 0.1. The critic soon predicts that 0.1, and it counts no more.
#
# ## 5. Step by step to GRPO
#
# | run | what is new in it |
# |---|---|
# | PPO | 128 prompts with one completion each; the critic reads the text; $\lambda = 0.95$; the batch is centred and scaled |
# | λ = 1 | $A_t = R - V(o_{<t})$: the critic is a baseline and nothing else |
# | critic sees the prompt only | one number for each prompt, so all tokens of a completion have the same advantage |
# | not centred | the mean of the batch is no longer subtracted from the advantages |
# | in groups | 16 prompts with 8 completions each, in place of 128 with one |
# | group mean | the critic is gone; the mean reward of the 8 siblings is the baseline |
# | GRPO | divided by the standard deviation of the group, in place of the batch's size |
#
# **Guess:** by how much does the share of right answers change in the step "group mean", in which the critic leaves? (0.1
# would be ten answers in a hundred more.)

# %%
guess_change = -0.1

# %%
plain = {"judge": critic, "prompts": 128, "sees": "prompt", "lam": 1.0, "scaling": "scale"}
ppo = arms["PPO"]
arms = {
    "λ = 1": plain | {"sees": "text", "scaling": "centre and scale"},
    "critic sees the prompt only": plain | {"scaling": "centre and scale"},
    "not centred": plain,
    "in groups": plain | {"prompts": 16},
    "group mean": {"judge": group, "prompts": 16, "divides": False, "scaling": "scale"},
    "GRPO": {"judge": group, "prompts": 16, "divides": True, "scaling": "as it is"},
}
for seed, (name, arm) in enumerate(arms.items(), start=2):
    history[name], last[name] = run(seed, **arm)
grpo = arms["GRPO"]

# %% [markdown]
# The next cell subtracts from the right answers of each run those of the run before it. There are 32 seeds in either, so
# the interval is the difference plus or minus $q\sqrt{s_1^2/32 + s_2^2/32}$, where $s_1$ and $s_2$ are the standard
# deviations of the seeds and $q$ is a quantile of Student's t. It is chosen so that all seven intervals hold *together* with a
# probability of at least 95 %.


# %%
def difference(name, before):
    one, other = at_the_end(name), at_the_end(before)
    quantile = student_quantile(1 - 0.05 / 7 / 2, SEEDS - 1)
    return one.mean() - other.mean(), quantile * np.sqrt((one.var(ddof=1) + other.var(ddof=1)) / SEEDS)


names = list(history)
steps = {name: difference(name, before) for before, name in pairwise(names)}
for name, (middle, reach) in steps.items():
    print(f"{name:28} right {at_the_end(name).mean():.2f}   changed by {middle:+.3f} ± {reach:.3f}")
total, reach = difference("GRPO", "PPO")
print(f"{'from PPO to GRPO':28}              changed by {total:+.3f} ± {reach:.3f}")

# %%
middle, reach = steps["group mean"]
because = f"The interval, from {middle - reach:+.2f} to {middle + reach:+.2f}, holds 0: no difference was found. Part 6 says why."
print(how_far(guess_change, middle, because, within=reach))

# %%
intervals_figure(
    steps, "change of the right answers at the end (share);\nintervals that hold together with 95 %"
)

# %%
chosen = ["PPO", "not centred", "in groups", "group mean", "GRPO"]
lines_figure(tens, curves(chosen), "update (128 completions each)", "right answers (share)")

# %%
for name in ("not centred", "in groups", "group mean"):
    print(f"{name:12} mean error of the baseline: {curves([name], 'bias')[name].mean():+.3f}")
for prompts in (128, 16):
    print(
        f"{prompts:3} prompts an update: a given prompt is among them in {1 - 0.99**prompts:.0%} of the updates"
    )

# %% [markdown]
# What to see, from the top of the first figure to its bottom. (A full point has an interval that does not reach 0.)
#
# * **The critic** brings 19 answers in a hundred, far more than any other step. But that is against *no* baseline at all.
# * **λ = 1** and **a critic that sees the prompt only** change nothing that could be found. To know more in the middle of a
#   text has not helped, in texts of three tokens.
# * **Not centred** costs five answers in a hundred. A likely reason: the critic follows the policy with a delay. While the policy
#   gets better, the critic's predictions are too low, by 0.02 on average, and the advantages too high. The mean of the batch
#   takes some of that off again.
# * **In groups** costs five more. Now an update hears of 16 prompts instead of 128, so that a given prompt comes up in 15 % of
#   the updates and not in 72 %. The critic suffers, too: it is further behind, by 0.09.
# * **Group mean**: the critic leaves, and no difference is found. If there is one, it is smaller than four answers in a hundred.
# * **GRPO**: the division by the standard deviation of the group costs about six. It makes the advantages of a group large
#   in which one completion of eight is right, but just as large where one of eight has the 0.1 for its form. Whether that is
#   the reason we have not tested.
#
# All runs had Adam's learning rate 0.05. Does GRPO just want another one? Here are the two ends of the way once more, with 16
# seeds at other rates:

# %%
trials = {"PPO": (ppo, (0.025, 0.1)), "GRPO": (grpo, (0.1, 0.2))}
for name, (arm, rates) in trials.items():
    ends = {0.05: at_the_end(name).mean()}
    for rate in rates:
        tried, _ = run(10, rate=rate, seeds=16, **arm)
        ends[rate] = np.mean([each["right"] for each in tried[-10:]])
    print(f"{name:5}", "   ".join(f"rate {rate:5}: right {ends[rate]:.2f}" for rate in sorted(ends)))

# %% [markdown]
# It does not: of these rates 0.05 suits both best. So with the same 15,360 completions PPO is ahead of GRPO here, by 16 or 17
# answers in a hundred. But not because GRPO's baseline is worse. The steps that cost something are the other three: the batch is
# no longer centred, the completions come in groups, and the group is divided by its standard deviation.
#
# ## 6. How good must a baseline be?
#
# Why does it make no difference whether a learned critic or the mean of eight siblings is the baseline? Let us see how far each
# is from the true expected reward. And to have something that is surely worse, here is one more run: a critic that sees
# *nothing*. It is a single number for all prompts, the running mean of all rewards.
#
# **Guess:** the critic with one number per prompt ("not centred") is replaced by this single number. By how much does the
# share of right answers change? (The interval is made as above, though it is not one of the seven.)

# %%
guess_one_number = -0.15

# %%
history["one number"], last["one number"] = run(8, **plain | {"sees": "nothing"})
shown = {
    "one number": "one number for all",
    "not centred": "critic, one per prompt",
    "in groups": "critic, in groups",
}
shown["group mean"] = "mean of the 8 siblings"
lines = {label: curves([name], "off")[name] for name, label in shown.items()}
lines_figure(tens, lines, "update (128 completions each)", "error of the baseline (root mean square, reward)")

# %%
for name, label in shown.items():
    error = curves([name], "off")[name][:, -1].mean()
    print(f"{label:24} off by {error:.2f} at the end,   right {at_the_end(name).mean():.2f}")
middle, reach = difference("one number", "not centred")
print(f"one number, against one per prompt: changed by {middle:+.3f} ± {reach:.3f}")
because = "No difference was found. Any number may be subtracted: on average the gradient stays the same."
print(how_far(guess_one_number, middle, because, within=reach))

# %% [markdown]
# * The **mean of the siblings** is as near to the truth as the critic: both are off by 0.06 at the end. The mean is noisy, but
#   of the policy as it is now; the critic is less noisy, but of a policy that was. In groups, where a prompt comes up seldom,
#   the critic is the worse one of the two.
# * The **single number** is off by 0.5, since most prompts are worth either about 0.1 or about 1.1 and it lies in between. And
#   yet it does as well as the critic. It has the one thing that "no baseline" lacks: it is not 0, so that 0.1 for a wrong but
#   well-formed answer counts as less than expected. On this task the precision of the baseline hardly matters.
#
# That any baseline will do *on average* is proved in [the baseline](../docs/derivation/02_baseline.md). That its noise does so
# little here is a finding about this task, and no law: where a single update decides much, noise costs more.
#
# ## 7. What the critic knows and a group does not
#
# A group gives all tokens of a completion the same advantage. A critic that reads the text can tell the good tokens from the
# bad one. Here is that of the run "λ = 1", after the training of its second seed: what it predicts after each text, and what
# advantage follows for the completions `15` (right) and `14` (wrong) of `7+8=`.

# %%
table = last["λ = 1"].critic.reshape(SEEDS, 100, TEXTS)[1, task.prompts.index("7+8=")]
before, one, right, wrong = table[[0, 1 + 1, 12 + 11 * 1 + 5, 12 + 11 * 1 + 4]]
print(
    f"predicted after 7+8= {before:.2f}, after 7+8=1 {one:.2f}, after 7+8=15 {right:.2f}, after 7+8=14 {wrong:.2f}"
)
values, all_three = np.array([[before, one, right], [before, one, wrong]]), np.ones((2, 3))
rewards = np.array([[0.0, 0.0, 1.1], [0.0, 0.0, 0.1]])
pictures = {f"λ = {lam}": gae(rewards, values, all_three, lam) for lam in (0.0, 0.95, 1.0)}
pictures["one advantage for all tokens"] = (rewards.sum(-1, keepdims=True) - before) * all_three
token_grids(pictures, all_three, rows=["1 5 end", "1 4 end"], digits=2)

# %% [markdown]
# After `7+8=1` the critic predicts 1.01, after `7+8=14` only 0.02: it knows that the 4 was the mistake. With $\lambda = 0$ this
# is what the tokens are told. The 1, which was right, gets 0.08, and the 4 gets $-0.99$. With $\lambda = 0.95$ most of the
# blame goes to the 1 as well, $-0.79$, and with one advantage for all tokens, as in GRPO, the end is blamed too.
#
# **Guess:** so let us take PPO with $\lambda = 0$. With $\lambda = 0.95$, 0.54 of the answers were right. What share is it now?

# %%
guess_lambda = 0.65

# %%
history["λ = 0"], last["λ = 0"] = run(9, **ppo | {"lam": 0.0})
middle, reach = difference("λ = 0", "PPO")
print(f"λ = 0, against λ = 0.95: changed by {middle:+.3f} ± {reach:.3f}")
because = (
    "A critic must learn first. Where it has not been it says 0, and with λ = 0 nothing but its word counts."
)
print(how_far(guess_lambda, at_the_end("λ = 0").mean(), because))

# %% [markdown]
# The credit is there only after the critic has learned the text in question, and by then the policy has mostly learned it, too.
# With $\lambda$ near 1 the reward itself speaks, and errors of the critic matter little.
#
# ## 8. What it costs, and what follows
#
# The critic has $100 \cdot 133 = 13{,}300$ numbers here, four times as many as the policy. In a language model it is mostly a
# second network of the policy's size. Training with Adam takes about 16 bytes for each weight: 2 for the weight and 2 for its
# gradient in half precision, and 4 each for a precise copy and for Adam's two moments.

# %%
print("numbers of the critic:", last["PPO"].critic[0].size, "  of the policy:", last["PPO"].logits[0].size)
print(f"a critic of 7 billion weights: {7e9 * 16 / 1e9:.0f} GB to train it")

# %% [markdown]
# What we have found, in this laboratory:
#
# 1. A baseline matters a lot, and how precise it is hardly at all. This is the reason why one can do without the critic.
# 2. The group has a price, and it is not that its mean is noisy. It is that the same completions cover fewer prompts.
# 3. The credit within a text, which only a critic can give, brought nothing.
#
# What we have *not* found, because it cannot be seen here:
#
# * Our critic is a table and meets each prompt about 150 times. A prompt of a language model comes up once or a few times.
#   There a critic must predict a prompt that it has never seen, as a network may or may not do; a group needs no
#   memory at all.
# * Our texts have three tokens. In a text of thousands of tokens there is more credit to give, and there are more places at
#   which a critic can be wrong.
# * A policy that is a table learns each prompt by itself. In a network the prompts share their weights, and to hear of
#   fewer prompts in an update may cost less.
#
# ## Try yourself
#
# **a.** The mean of a batch was subtracted in PPO. Do it in the run "group mean", too:
# `run(3, **arms["group mean"] | {"scaling": "centre and scale"})`. The advantages of a group sum to 0 already. What can change?
#
# <details><summary>Answer</summary>
#
# Over the completions the mean is 0, but the batch is centred over *tokens*, and longer completions have more of them. So all
# tokens are moved a little, those of groups without contrast too, whose advantages should be 0.
# </details>
#
# **b.** Take groups of 4 or 2: `"prompts": 32` or `64` in "group mean". The same completions cover more prompts, but the mean is
# noisier. What do you expect?
#
# <details><summary>Answer</summary>
#
# In a trial run with 16 seeds, groups of 4 did about as well as groups of 8, and groups of 2 no better: 0.45, 0.44 and 0.43 of
# the answers were right. More prompts and a noisier mean, with more groups without contrast, about cancel.
# </details>
#
# **c.** What does the critic do with a prompt that it meets for the first time?
#
# <details><summary>Answer</summary>
#
# It predicts 0, so that the first completions of every prompt have advantages that are too high. A network would predict
# something from similar prompts.
# </details>
#
# In the course: [`advantages/centered`](../exercises/02_advantages/02_centered.py) and
# [`advantages/leave_one_out`](../exercises/02_advantages/03_leave_one_out.py) are the group's baseline,
# [`advantages/group_normalized`](../exercises/02_advantages/01_group_normalized.py) is GRPO's,
# [`ratios/clipped`](../exercises/03_ratios/03_clipped.py) the surrogate of all runs, and
# [`training/update`](../exercises/07_training/03_update.py) an update. The laboratory has tested claims about groups:
# [group_mean](../docs/experiments/README.md#group_mean), [group_size](../docs/experiments/README.md#group_size) and
# [std_division](../docs/experiments/README.md#std_division).
