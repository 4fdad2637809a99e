# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 7. Stale and mismatched data
#
# The policy gradient needs completions sampled by the policy that is being improved. In practice they are not:
#
# * **stale:** a batch is expensive, so it is used for several steps; from the second step on, it comes from an older
#   policy;
# * **mismatched:** the engine that samples (vLLM, SGLang) computes slightly different probabilities from the trainer,
#   so even the first step is not on-policy.
#
# The remedy is always a ratio of two probabilities. **Which ratio, of which two policies, and what do we do if it is
# far from 1?** Most members of the GRPO family differ in the answers.

# %%
# %matplotlib inline

import numpy as np

from grpo_ref import GRPO, RECIPES, TASKS, config_for, iter_train, slot
from grpo_ref.corrections import masked, truncated
from grpo_ref.course.guess import how_far
from grpo_ref.lab.claims.sampler_mismatch import NOISES, WEIGHTS, errors
from grpo_ref.lab.framework.stale_data import alignment, expected_push, stale_policies
from grpo_ref.levels import sequence_sum_level
from grpo_ref.plots import dynamics_figure, lines_figure

# %% [markdown]
# ## One batch, several steps
#
# We train on the same number of batches, each used for 1, 4 or 16 optimizer steps. `ess` is the share of the tokens
# that still count if each is weighted by its ratio. `approx_kl` measures how far the policy has moved from the one that
# sampled the batch. Both are means over the steps.

# %%
arithmetic = TASKS["arithmetic"](largest=3)
histories = {}
for epochs in (1, 4, 16):
    config = config_for(
        arithmetic, seeds=8, updates=40, prompts=16, group_size=8, epochs=epochs, learning_rate=0.1
    )
    histories[f"steps a batch: {epochs}"] = [
        update.metrics for update in iter_train(arithmetic, GRPO, config)
    ]
dynamics_figure(histories, ("reward", "entropy", "clip", "approx_kl", "ess", "ratio_max"))
# Figure: six panels for 1, 4 and 16 steps per batch. With more steps the reward rises faster and the entropy
# falls faster, and the clipped share, the KL within a batch and the largest ratio grow.

# %% [markdown]
# With more steps per batch the policy learns faster, up to a point: watch the clipped share and the largest ratio. With
# 16 steps, the clip keeps the policy from following an old batch too far.
#
# ## Which surrogate still points in the right direction?
#
# This question has an exact answer. In a language of 243 completions every expectation is a sum. Take an old policy
# that sampled the completions, and a new policy at a known KL divergence from it. The **push** of a surrogate is the
# direction in which it moves the logits of the new policy, averaged over all samples of the old policy. The right
# direction is the gradient of the new policy's expected reward. We compare the two by the cosine of the angle between
# them:
#
# $$\cos(u, v) = \frac{u \cdot v}{\lVert u \rVert\,\lVert v \rVert} ,$$
#
# The cosine is 1 for the same direction, 0 for a push that neither helps nor harms, and below 0 for a push that makes
# the reward *worse*. For $u = (1, 0)$ and $v = (1, 1)$ it is $1/\sqrt{2} = 0.71$: an angle of 45 degrees.
#
# **Guess first.** At 0.1 nats per completion the two policies still agree on most completions. What is the cosine of
# the hard clip of tokens there, on average? (Within 0.1 counts as right.)

# %%
guess_cosine = 0.9

# %%
distances = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0)
stale = stale_policies(distances, seeds=16, seed=0)
shown = {
    "no ratio (REINFORCE)": "reinforce",
    "CISPO": "cispo",
    "hard clip of tokens (DAPO)": "dapo",
    "hard clip of completions (GSPO)": "gspo",
}
directions = {label: alignment(expected_push(RECIPES[name], stale), stale) for label, name in shown.items()}
lines_figure(
    distances,
    directions,
    "KL from the sampler (nats per completion)",
    "cosine with the exact gradient",
    log_x=True,
)
# Figure: cosine with the exact gradient against the distance from the sampler. GSPO is at 0.4 for the smallest distance
# and below 0 from there on; DAPO falls from 1 to about 0 at 0.1 nats; CISPO and no ratio stay near 1 up to 0.1 nats.

# %%
clipped_cosine = directions["hard clip of tokens (DAPO)"][:, distances.index(0.1)].mean()
because = (
    "tokens whose ratio is outside of the range are dropped, and these are the tokens that learning has moved most; the"
    " rest of the push comes from tokens that have moved the wrong way, or not at all."
)
print(how_far(guess_cosine, clipped_cosine, because, within=0.1))
sapo = alignment(expected_push(RECIPES["sapo"], stale), stale)
apart = abs(sapo - directions["CISPO"]).mean(0).max()
print(f"\nOn average SAPO differs from CISPO by at most {apart:.2f}, so it is not drawn.")

# %% [markdown]
# Read the figure from left to right.
#
# * **Near the sampler the choice does not matter:** up to 0.001 nats all cosines are 1, except GSPO's.
# * **Surrogates that drop tokens change direction first.** GSPO's ratio is the geometric mean over a completion, and
#   after a tiny step it leaves its range, 0.9997 to 1.0004. DAPO's range for a token, 0.8 to 1.28, is wider. Once the
#   tokens that moved the right way are dropped, the rest points back, and the cosine falls below 0.
# * **Surrogates that drop nothing keep the direction** (no ratio, CISPO, SAPO): their weights differ from the exact
#   weights by a factor near 1, until the two policies are very different.
#
# A high cosine at a large distance is not simply "better". The clip is *meant* to stop a token that has moved far
# enough. A surrogate that continues to follow stale data also continues to move away from the sampler. Whether this
# helps training is another question. Experiments have tested it, with the best learning rate for each surrogate, on
# many sampled tasks: [`soft_clipping`](../docs/experiments/soft_clipping/README.md),
# [`sequence_ratio`](../docs/experiments/sequence_ratio/README.md) and
# [`staleness`](../docs/experiments/staleness/README.md).
#
# ## The weight of one completion
#
# Now we look at the mismatch. Let the trainer and the sampler differ slightly on every token of a completion of 50
# tokens. A ratio has the mean 1 over the tokens of the sampler, $\sum_a \mu(a) \frac{\pi(a)}{\mu(a)} = 1$. A log-ratio
# $-\sigma z$ with normal noise $z$ would have the mean $e^{\sigma^2/2}$ instead, so the noise is shifted by
# $\sigma^2/2$:

# %%
rng = np.random.default_rng(0)
learner = np.log(rng.uniform(0.2, 0.9, size=(1, 1000, 50)))
sigma = 0.05
sampler = learner + sigma * rng.normal(size=learner.shape) + sigma**2 / 2
token_ratio = np.exp(learner - sampler)
completion_ratio = token_ratio.prod(-1)
print(
    "ratio of a token:     ",
    np.percentile(token_ratio, [5, 50, 95]).round(2),
    " (5th, 50th, 95th percentile)",
)
print("ratio of a completion:", np.percentile(completion_ratio, [5, 50, 95]).round(2))

# %% [markdown]
# Nine of ten tokens have a ratio within 10 % of 1, but for completions the same share needs a factor of two: small
# differences multiply. So corrections work either on tokens or on completions, and they either truncate or mask.
#
# | | truncated (TIS): $\min(C, r)$ | masked (MIS): $r$ if $r \le C$, else 0 |
# |---|---|---|
# | $r$ of each token | biased, little noise | biased, little noise |
# | $r$ of the completion | less biased, noisier | drops whole completions |

# %%
parts = {
    "full, completion": slot(truncated, level=sequence_sum_level, max_ratio=np.inf),
    "TIS, token": slot(truncated, max_ratio=2.0),
    "TIS, completion": slot(truncated, level=sequence_sum_level, max_ratio=2.0),
    "MIS, completion": slot(masked, level=sequence_sum_level, max_ratio=2.0),
}
for name, part in parts.items():
    weights = part.kernel(learner, sampler, np.ones_like(learner), **part.settings)
    print(f"{name:16} mean weight {weights.mean():.3f}, share of tokens dropped {(weights == 0).mean():.2f}")

# %% [markdown]
# The full weight has the mean 1, up to the sampling error of 1000 completions (0.01). A limit reduces the mean:
# truncation by half a percent, masking by nearly 4 %.
#
# ## Is there a bias, and do the corrections remove it?
#
# The bias is the distance between the *expected* gradient and the exact gradient. The noise is how far the gradient of
# a batch is from its expectation. Both together are the root mean square error $\sqrt{\text{bias}^2 + \text{noise}^2}$.
# In the small language all of these are exact sums. The error is in units of the exact gradient's length, for a batch
# of 512 completions.

# %%
kinds = ("no correction", "TIS, sequence", "MIS, sequence", "full weight, sequence")
curves = {label: errors(recipe=WEIGHTS[label], seeds=16, seed=1)["error by noise"] for label in kinds}
lines_figure(
    NOISES[:-1],
    {label: values[:, :-1] for label, values in curves.items()},
    "mismatch (standard deviation of the logits' differences)",
    "RMS error / |exact gradient|",
    log_x=True,
)
# Figure: error of the gradient against the size of the mismatch, for no correction, truncation, masking and
# full weights. All agree for a small mismatch; for a large one the full weight is no better than no
# correction.

# %% [markdown]
# At the left the four lines agree: a small mismatch causes little bias, and there is nothing to correct. At the right
# the full weight has no bias at all, but is no better than no correction, because its noise grows without bound (at a
# mismatch of 1.5, which is not drawn, it is the worst of the four). Truncating and masking reduce the noise and add a
# bias. Which of them is best depends on the mismatch and on the size of the batch: a larger batch reduces the noise,
# but not the bias. **No correction is free: keep the mismatch small.** An experiment that includes training tests the
# whole claim: [`sampler_mismatch`](../docs/experiments/sampler_mismatch/README.md). Another one uses a sampler that
# rounds numbers as bfloat16 does: [with a network](../docs/experiments/sampler_mismatch/README.md#with-a-network).
#
# ## Try yourself
#
# 1. In the first cell of runs, replace `GRPO` by `replace(GRPO, surrogate=REINFORCE.surrogate)`: no ratio and no clip
#    (`from dataclasses import replace`, `from grpo_ref import REINFORCE`). With how many steps per batch does training
#    break?
#
# <details><summary>Answer</summary>
#
# With one step nothing changes at all. With 16 steps the policy overfits to the completions in the batch: the entropy
# falls much faster, and the reward ends lower or varies more between the seeds.
# </details>
#
# 2. DAPO's clip-higher is `slot(clipped, clip_low=0.2, clip_high=0.28)`. Which curves of the first figure does it
#    change, and which not?
#
# <details><summary>Answer</summary>
#
# `clip` falls when a batch is used for several steps; with one step nothing changes, because every ratio is 1. The
# effect on the entropy depends on the task. If the rewards have no noise, training with a wider bound mostly learns
# faster.
# </details>
#
# Exercises that practise this: `ratios/token_ratio`, `ratios/sequence_ratio`, `ratios/clipped`, `ratios/cispo`,
# `ratios/sapo`.
