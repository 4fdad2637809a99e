# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 3. Reading training dynamics
#
# A training run shows you nothing but curves, and the reward alone tells you little. It can rise while everything goes
# wrong, and it can stop rising for half a dozen different reasons.
#
# **The question: what does each curve mean?** We look at a healthy run, break five runs on purpose, and learn to
# recognize each fault. Each run takes less than a second, so try your own faults too.
#
# For a run of your own trainer, `grpo-ref diagnose LOG CONFIG` reads its log, and [What the curves of a run
# mean](../docs/howto/symptoms.md) answers the same questions, with the names of the metrics in TRL, verl and other
# trainers.
#
# Before a run you are asked for a **guess**. The value in the cell is only a placeholder, so that the notebook runs
# without you. Replace it by your own guess. A number within 5 % of the answer counts as right.

# %%
# %matplotlib inline
from dataclasses import replace

import numpy as np

from grpo_ref import DAPO, GRPO, TASKS, config_for, iter_train
from grpo_ref.course.guess import how_far
from grpo_ref.diversity import has_collapsed
from grpo_ref.learning.rollout import sample
from grpo_ref.plots import dynamics_figure, lines_figure

# %% [markdown]
# Everything below uses `run`. It trains, and returns the metrics of each update and the policies at the end.


# %%
def run(task, recipe=GRPO, **settings):
    config, history = config_for(task, **{"seeds": 4, "updates": 60, **settings}), []
    for update in iter_train(task, recipe, config):
        history.append(update.metrics)
    return history, update.state


no_kl, strong_kl = replace(GRPO, kl_coef=0.0), replace(GRPO, kl_coef=0.2)
arithmetic, names = TASKS["arithmetic"](), TASKS["names"]()

# %% [markdown]
# ## A healthy run
#
# The task `arithmetic` has prompts like `7+8=`, answered digit by digit. The reward is 1 for the right answer, plus 0.1
# for any well-formed number.

# %%
healthy, _ = run(arithmetic, prompts=40)
dynamics_figure({"healthy": healthy})
# Figure: curves of a healthy run over 60 updates: the reward rises and levels off, the KL rises and slows
# down, the entropy falls, and the share of groups with equal rewards rises.

# %% [markdown]
# | curve | meaning | in this healthy run | TRL; verl | symptoms |
# |---|---|---|---|---|
# | reward | what the verifier gives, on average | rises, fast at first | `reward`; `critic/score/mean` | [does not rise](../docs/howto/symptoms.md#the-reward-does-not-rise), [falls](../docs/howto/symptoms.md#the-reward-falls) |
# | KL to the reference | distance of the policy from its start | rises and slows down | `kl`; `actor/kl_loss` | [rises, explodes](../docs/howto/symptoms.md#the-kl-is-negative-rises-or-explodes) |
# | entropy | uncertainty about each token | falls, but not to 0 while there is something to learn | `entropy`; `actor/entropy` | [collapses](../docs/howto/symptoms.md#the-entropy-collapses), [rises](../docs/howto/symptoms.md#the-entropy-rises) |
# | gradient norm | size of the gradient | does not vanish until the end | `grad_norm`; `actor/grad_norm` | [is 0](../docs/howto/symptoms.md#grad-norm-is-0), [has spikes](../docs/howto/symptoms.md#grad-norm-has-spikes) |
# | length | tokens per completion | becomes the length of the answers | `completions/mean_length`; `response_length/mean` | [explodes](../docs/howto/symptoms.md#the-length-explodes), [shrinks](../docs/howto/symptoms.md#the-length-shrinks) |
# | groups with equal rewards | their share: all advantages are 0, nothing is learned | rises as answers become right; some prompts settle on a wrong one | `frac_reward_zero_std`; not logged | [reward_std is 0](../docs/howto/symptoms.md#reward_std-is-0) |
# | clipped tokens | share whose gradient the clip sets to 0 | 0: one step per batch, every ratio is 1 | `clip_ratio/region_mean`; `actor/pg_clipfrac` | [is 0](../docs/howto/symptoms.md#the-clip-ratio-is-0), [is high](../docs/howto/symptoms.md#the-clip-ratio-is-high) |
# | distinct bigrams | variety of the completions | no steady fall | not logged | |
# | log-likelihood under the reference | are the completions still likely under the reference? | follows the length only, because the reference is uniform | not logged | |
#
# One rule for all of them: **no curve means anything alone.** Diagnose with pairs of curves.
#
# ## Fault 1: steps too large
#
# Ten times the learning rate.
#
# **Guess:** what share of the groups has equal rewards at the end of this run?

# %%
guess_dead = 0.2

# %%
hasty, _ = run(arithmetic, prompts=40, learning_rate=3.0)
because = "The first steps made the policy sure of answers that it has hardly tried; the completions of a group are copies, so there is nothing to compare."
print(f"healthy, share of groups with equal rewards at the end: {healthy[-1]['dead_groups'].mean():.2f}")
print(how_far(guess_dead, hasty[-1]["dead_groups"].mean(), because))
dynamics_figure({"healthy": healthy, "learning rate x 10": hasty}, ("reward", "entropy", "dead_groups"))
# Figure: reward, entropy and share of groups with equal rewards of the healthy run and of a run with ten times the
# learning rate. In the second run the reward stops at a low value, the entropy falls quickly to about 0.25, and soon
# all groups have equal rewards.

# %% [markdown]
# **What the curves show:** the reward rises steeply, stops at a low value, and never changes again. The entropy falls
# at once: the policy is sure of answers that it has hardly tried. Then all completions of a group are equal, and so are
# their rewards. The gradient is 0. The run has not converged; it is stuck.
#
# **Pair:** equal rewards in the groups *and* a low reward. (Equal rewards at the highest possible reward mean success.)
#
# **In a log,** `grpo-ref diagnose` says "the entropy collapsed, and the reward does not rise any more": see
# [the entropy collapses](../docs/howto/symptoms.md#the-entropy-collapses).
#
# ## Fault 2: no KL penalty
#
# The task `names` starts from a letter model of real first names. The reward is 1 for names of eight to ten letters.
# The verifier does not check whether the text is still a name.
#
# **Guess:** one run has a KL penalty, and one has none. Which one has the higher reward after 100 updates, `"with"` or `"without"`?

# %%
guess_reward = "with"

# %%
settings = {"updates": 100, "prompts": 8, "learning_rate": 0.2}
kept, kept_state = run(names, strong_kl, **settings)
free, free_state = run(names, no_kl, **settings)
panels = ("reward", "kl", "entropy", "ref_log_prob", "distinct_bigrams", "dead_groups")
rewards = {"with": kept[-1]["reward"].mean(), "without": free[-1]["reward"].mean()}
because = f"Rewards of {rewards['without']:.2f} and {rewards['with']:.2f}. The penalty slows learning; the reward does not measure what the penalty protects."
print(how_far(guess_reward, max(rewards, key=rewards.get), because))
dynamics_figure({"KL penalty 0.2": kept, "no KL penalty": free}, panels)
# Figure: six panels that compare a run with a KL penalty and one without. Without the penalty the reward is
# higher, the KL is larger, the entropy is nearly 0 and there are fewer distinct bigrams.

# %% [markdown]
# **What the curves show:** judged by its reward, the run without a penalty is much better. The other curves show why:
# the KL is larger, the entropy is nearly 0, and the variety of bigrams is a third. The policy has found a few strings
# with a high reward. They are not unlikely under the reference (the log-likelihood has come back up), but they are
# always the same. No curve replaces looking at samples:


# %%
def said(state):
    batch = sample(names, state.params[:1], prompts=6, group_size=5, seed=3)
    groups = zip(batch.prompts[0], batch.tokens[0], batch.mask[0], strict=True)
    return [[names.render(prompt, *one) for one in zip(*group, strict=True)] for prompt, *group in groups]


for with_kl, without in zip(said(kept_state), said(free_state), strict=True):
    print(f"{'  '.join(with_kl):60} |  {'  '.join(without)}")

# %% [markdown]
# **Pair:** the reward rises *and* the entropy is near 0 (or the KL rises without end): the policy is hacking the
# reward. The penalty has a price, too: a lower reward. And with the penalty the KL still rises slowly. [The KL in the
# loss](../docs/derivation/08_kl_in_the_loss.md) derives the penalty. [Notebook 6](06_kl_and_reward_hacking.ipynb) looks
# at reward hacking in detail, and an experiment has tested what the penalty prevents:
# [hacked_names](../docs/experiments/hacked_names/README.md).
#
# **In a log** there are no samples, so no command can decide this: see
# [the reward rises, the accuracy does not](../docs/howto/symptoms.md#the-reward-rises-the-accuracy-does-not).
#
# ## Fault 3: collapse
#
# When a policy has only one answer left, three curves fall together: entropy, distinct bigrams, and the width of the
# rewards (their spread over the batch). If only one of them falls, this can be normal learning. `has_collapsed` warns
# when all three are below half of their first values. An entropy bonus is one remedy. Is it a good one?
#
# **Guess:** how many of the four seeds without a penalty have collapsed, and how many of those with an entropy bonus?

# %%
guess_free, guess_bonus = 4, 4

# %%
bonus, bonus_state = run(names, no_kl, entropy_coef=0.05, **settings)
three = ("entropy", "distinct_bigrams", "reward_width")
runs = {"KL penalty 0.2": kept, "no KL penalty": free, "none, but an entropy bonus": bonus}
collapsed = {}
for label, history in runs.items():
    collapsed[label] = has_collapsed(*(np.stack([m[name] for m in history]) for name in three))
    print(f"{label:27}", collapsed[label])
because = "Nothing rewards a second answer, so it disappears."
print(how_far(guess_free, collapsed["no KL penalty"].sum(), because))
because = "The bonus rewards uncertainty, of any kind."
print(how_far(guess_bonus, collapsed["none, but an entropy bonus"].sum(), because))
dynamics_figure(runs, (*three, "reward", "kl", "ref_log_prob"))
# Figure: six panels that compare a KL penalty, no penalty and an entropy bonus. With the bonus, entropy, bigrams and
# reward width are higher than without a penalty, but the log-likelihood under the reference keeps falling.

# %% [markdown]
# **What the curves show:** the bonus prevents the collapse in all four seeds, and keeps most of the reward. But look at
# the lower right: the names become less and less likely under the reference. The bonus rewards *any* variety; the KL
# penalty rewards the variety of the reference. **Pair:** the entropy stays high *and* the log-likelihood falls: the
# variety is noise. **In a log:** [the entropy collapses](../docs/howto/symptoms.md#the-entropy-collapses) and
# [rises](../docs/howto/symptoms.md#the-entropy-rises).
#
# ## Fault 4: nearly all groups have equal rewards
#
# Now only right answers have a reward. There are eight prompts with two completions each. At first one answer in two
# hundred is right.
#
# How likely is it that a group has equal rewards? If each of $G$ completions is right with probability $p$, independently, they are
# all right with probability $p^G$ and all wrong with probability $(1-p)^G$, so
#
# $$ P(\text{equal rewards}) = p^G + (1 - p)^G . $$
#
# **Guess:** what is this probability for groups of 16 at the start, with $p = 1/200$?

# %%
guess_no_contrast = 0.5

# %%
p, sizes = 1 / 200, (2, 8, 16, 64)
because = "0.995 to the power of 16: all sixteen are wrong in nine groups of ten. For groups of 2 the probability is 0.99."
print(how_far(guess_no_contrast, p**16 + (1 - p) ** 16, because))
passes = np.linspace(0, 1, 21)
lines = {f"groups of {G}": (passes**G + (1 - passes) ** G)[None] for G in sizes}
lines_figure(passes, lines, "probability that a completion is right", "groups with equal rewards (share)")
# Figure: probability of equal rewards in a group against the probability of a right answer, for groups of 2,
# 8, 16 and 64. Each curve is 1 at both ends and low in the middle; larger groups have a wider low range.

# %% [markdown]
# The larger the group, the wider the range of $p$ in which it teaches something. But near 0 and near 1 no group does.
# Now the runs:

# %%
hard = TASKS["arithmetic"](format_weight=0.0)
runs = {
    "groups of 2": run(hard, prompts=8, group_size=2)[0],
    "groups of 16": run(hard, prompts=8, group_size=16)[0],
    "groups of 2, resampled": run(hard, replace(GRPO, keep=DAPO.keep), prompts=8, group_size=2, resamples=10)[
        0
    ],
}
dynamics_figure(runs, ("reward", "dead_groups", "entropy"))
# Figure: reward, share of groups with equal rewards, and entropy of three runs. With groups of 2 the reward
# stays near 0 and nearly all groups have equal rewards; with groups of 16 and with resampling the reward
# rises.

# %% [markdown]
# **What the curves show:** with groups of 2, nearly every group has equal rewards. So most updates have no gradient at
# all, and the reward stays near 0. Nothing is broken; there is just nothing to compare. Larger groups contain a right
# answer more often. So does resampling the groups with equal rewards, up to ten times here (DAPO's dynamic sampling).
# Both cost more completions. **In a log,** `grpo-ref diagnose` prints the share of groups with equal rewards at the end
# of the run: see [most completions give no gradient](../docs/howto/symptoms.md#most-completions-give-no-gradient),
# which also lists the costs of the remedies. In the course:
# [`advantages/mixed_groups`](../exercises/02_advantages/04_mixed_groups.py); the experiment:
# [dead_groups](../docs/experiments/dead_groups/README.md).
#
# **Pair:** equal rewards *and* a reward near 0 *and* an entropy as high as at the start: the task is too hard for so
# few completions. In fault 1 the rewards were equal too, but the entropy was low.
#
# ## Fault 5: much clipping
#
# Each batch is used for four steps instead of one. From the second step on, the policy is no longer the one that
# sampled the batch: ratios differ from 1, and the clip begins to act.

# %%
runs = {
    "1 step per batch": run(arithmetic, prompts=40)[0],
    "4 steps": run(arithmetic, prompts=40, epochs=4)[0],
    "4 steps, learning rate 1.0": run(arithmetic, prompts=40, epochs=4, learning_rate=1.0)[0],
}
dynamics_figure(runs, ("correct", "clip", "approx_kl", "ess", "entropy", "dead_groups"))
# Figure: six panels that compare one step per batch, four steps, and four steps with a large learning rate.
# The last run stops learning; its KL from old to new is about ten times larger and its effective sample size
# falls below 0.8.

# %% [markdown]
# **What the curves show:** at first half of the tokens are clipped in both runs with four steps. With a moderate
# learning rate this is fine: the policy learns *more* from the same completions. With a large learning rate the policy
# gets stuck, as in fault 1. The share of clipped tokens does not show the difference; at the end the faulty run clips
# less, because tokens with A = 0 are never clipped. The difference is how far the policy moves within one batch. In the
# faulty run the KL from old to new is ten times larger, and the effective sample size (the share of the tokens that
# still count when they are weighted by their ratios) falls below 0.8. The clip sets the slope of a token to 0; it does
# not hold the policy in place.
#
# **Pair:** clipping *and* a large KL from old to new (`actor/ppo_kl` in verl). Remedy: fewer or smaller steps. **In a
# log:** [the clip ratio is high](../docs/howto/symptoms.md#the-clip-ratio-is-high).
#
# ## Name the fault
#
# Here is one more faulty run, beside the healthy one. Its reward is flat, as in fault 4. What is wrong? Write your
# suspicion as one of these words: `"rate"` (steps too large), `"penalty"` (too strong a KL penalty), `"hard"` (nearly
# all groups have equal rewards), `"collapse"`. (To see the curves first, run the cell once, and then again with your
# guess.)

# %%
guess_fault = "hard"

# %%
mystery, _ = run(arithmetic, replace(GRPO, kl_coef=5.0), prompts=40)
panels = ("reward", "kl", "entropy", "dead_groups", "grad_norm", "ref_log_prob")
because = "Rewards differ and the gradient is large, so there is something to learn; but the KL stays near 0."
print(how_far(guess_fault, "penalty", because))
dynamics_figure({"healthy": healthy, "faulty": mystery}, panels)
# Figure: six panels that compare the healthy run with the unknown one. In the unknown run the reward is flat,
# the KL stays near 0, the entropy stays high and the gradient is large.

# %% [markdown]
# <details><summary>Answer</summary>
#
# Rewards differ in every group and the gradient is large, so there is something to learn. But the KL stays near 0 and the
# entropy near its highest value, log 11 = 2.40 nats: the policy is not allowed to move. `kl_coef` is 5, as you saw in
# the cell.
# </details>
#
# | reward | other curves | suspect | in a log |
# |---|---|---|---|
# | low, flat | equal rewards in the groups, entropy low | steps too large | [the entropy collapses](../docs/howto/symptoms.md#the-entropy-collapses) |
# | low, flat | equal rewards in the groups, entropy high | too hard, groups too small | [reward_std is 0](../docs/howto/symptoms.md#reward_std-is-0) |
# | low, flat | different rewards, gradient, KL near 0 | penalty too strong | [the reward does not rise](../docs/howto/symptoms.md#the-reward-does-not-rise) |
# | high | entropy near 0, KL large | reward hacking, collapse | [the reward rises, the accuracy does not](../docs/howto/symptoms.md#the-reward-rises-the-accuracy-does-not) |
# | any | KL from old to new large | too many or too large steps per batch | [the clip ratio is high](../docs/howto/symptoms.md#the-clip-ratio-is-high) |
# | falling | everything else as usual | a sign is wrong: see [chapter 8](../exercises/08_clinic/README.md) | [the reward falls](../docs/howto/symptoms.md#the-reward-falls) |
#
# ## Try yourself
#
# **a.** Try to repair fault 1: is there a `kl_coef` with which a learning rate of 3.0 learns again?
#
# <details><summary>Answer</summary>
#
# No. About 0.15 of the answers are right, whether it is 0, 0.1 or 1. The first ten steps make the policy sure of its
# answers. The gradient for the logits of a token of probability $\pi \approx 1$ has the factor $\pi(1-\pi) \approx 0$,
# so not even the penalty can pull it back. The remedy is a smaller learning rate.
# </details>
#
# **b.** In fault 3, raise the entropy bonus to 0.2. Predict the six curves first.
#
# <details><summary>Answer</summary>
#
# The entropy *rises* above its first value, the reward falls again, and the log-likelihood under the reference falls
# without end: the bonus rewards noise.
# </details>
#
# **c.** Which run above would you stop first if you could see only the reward?
#
# <details><summary>Answer</summary>
#
# Probably the run with the KL penalty on `names`, which is the healthiest of the three. By the reward alone, the
# collapsed run looks best.
# </details>
#
# In the course: [`clinic/read_the_curve`](../exercises/08_clinic/01_read_the_curve.py) asks you to write a program that
# diagnoses runs, and the rest of [the chapter](../exercises/08_clinic/README.md) has broken trainers to repair, such as
# [`clinic/falling_reward`](../exercises/08_clinic/02_falling_reward.py) and
# [`clinic/idle_clip`](../exercises/08_clinic/05_idle_clip.py). [Notebook 9](09_the_clinic.ipynb) has six broken runs.
