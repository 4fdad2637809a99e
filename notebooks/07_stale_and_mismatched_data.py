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
# The policy gradient wants completions drawn by the policy that is being improved. In practice they are not:
#
# * **stale:** a batch is expensive, so it is used for several steps; from the second step on, it was drawn by an older
#   policy;
# * **mismatched:** the engine that samples (vLLM, SGLang) computes slightly other probabilities than the trainer, so even
#   the first step is not on-policy.
#
# The remedy is always a ratio of two probabilities. **Which ratio, of which two policies, and what is done with it when it
# is far from one?** That is what most members of the GRPO family differ in.

# %%
# %matplotlib inline

import numpy as np

from grpo_ref import GRPO, RECIPES, TASKS, config_for, slot, train
from grpo_ref.experiments import EXPERIMENTS
from grpo_ref.experiments.framework.stale_data import alignment, expected_push, stale_policies
from grpo_ref.experiments.framework.sweep import run_experiment
from grpo_ref.kernels.corrections import masked, truncated
from grpo_ref.kernels.levels import sequence_sum_level
from grpo_ref.plots import dynamics_figure, experiment_figure, lines_figure

# %% [markdown]
# ## One batch, several steps
#
# The same number of batches, each used for 1, 4 or 16 optimizer steps. `ess` is the share of the tokens that still count if
# each is weighted by its ratio; `approx_kl` how far the policy has moved from the one that drew the batch, both as means
# over the steps.

# %%
arithmetic = TASKS["arithmetic"](largest=3)
histories = {}
for epochs in (1, 4, 16):
    config = config_for(
        arithmetic, seeds=8, updates=40, prompts=16, group_size=8, epochs=epochs, learning_rate=0.1
    )
    histories[f"steps a batch: {epochs}"] = [update.metrics for update in train(arithmetic, GRPO, config)]
dynamics_figure(histories, ("reward", "entropy", "clip", "approx_kl", "ess", "ratio_max"))

# %% [markdown]
# More steps a batch learn faster, up to a point: watch the clipped share and the largest ratio. The clip is what keeps 16
# steps from running away with a batch that has become history.
#
# ## Which surrogate still points the right way?
#
# We can ask this exactly. In a language of 243 completions every expectation is a sum. We move a policy away from the one
# that drew the data, by a known divergence, compute the *expected* push of each surrogate, and compare its direction with
# the exact gradient of the expected reward: a cosine of 1 is perfect, 0 is a push sideways.

# %%
distances = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0)
stale = stale_policies(distances, seeds=16, seed=0)
shown = {
    "hard clip": "lite_ppo",
    "GSPO": "gspo",
    "CISPO": "cispo",
    "SAPO": "sapo",
    "VESPO": "vespo",
    "no ratio": "reinforce",
}
directions = {label: alignment(expected_push(RECIPES[name], stale), stale) for label, name in shown.items()}
lines_figure(
    distances,
    directions,
    "KL from the sampler (nats per completion)",
    "cosine with the exact gradient",
    log_x=True,
)

# %% [markdown]
# Near the sampler they all agree: **while the data is fresh, the choice does not matter.** Further out they part. GSPO stops
# first: its ratio is a geometric mean over the completion, and its range, 0.0003 below and 0.0004 above one, is used up after
# a tiny step. Then comes the hard clip. What is left of a push when the tokens that moved the right way are clipped points
# *back*: hence the cosines below zero. CISPO, SAPO and no ratio at all leave no token out: their weights differ from the
# exact ones by a factor that is near one until the policies really disagree, so up to a KL of about 1 all three point the
# same way. A high cosine far out is not simply "better": a surrogate that goes on following
# stale data also goes on leaving the sampler, and a trust region exists to stop that. The experiments test both sides: `soft_clipping` and `sequence_ratio`
# (`grpo-ref experiment run soft_clipping sequence_ratio`).
#
# ## The weight of one completion
#
# Now the mismatch. Let the trainer and the sampler disagree by a little on every token of a completion of 50 tokens:

# %%
rng = np.random.default_rng(0)
learner = np.log(rng.uniform(0.2, 0.9, size=(1, 1000, 50)))
sampler = learner + 0.05 * rng.normal(size=learner.shape)
token_ratio = np.exp(learner - sampler)
completion_ratio = token_ratio.prod(-1)
print(
    "ratio of a token:     ",
    np.percentile(token_ratio, [5, 50, 95]).round(2),
    " (5th, 50th, 95th percentile)",
)
print("ratio of a completion:", np.percentile(completion_ratio, [5, 50, 95]).round(2))

# %% [markdown]
# Nine tokens in ten are within 10 %, and nine completions in ten within a factor of two: small
# disagreements multiply. This is why corrections come in two kinds.
#
# | | truncated (TIS): $\min(C, r)$ | masked (MIS): $r$ if $r \le C$, else 0 |
# |---|---|---|
# | $r$ of each token | biased, little noise | biased, little noise |
# | $r$ of the completion | less biased, noisier | drops whole completions |

# %%
parts = {
    "TIS, token": slot(truncated, max_ratio=2.0),
    "TIS, completion": slot(truncated, level=sequence_sum_level, max_ratio=2.0),
    "MIS, completion": slot(masked, level=sequence_sum_level, max_ratio=2.0),
}
for name, part in parts.items():
    weights = part.kernel(learner, sampler, np.ones_like(learner), **part.settings)
    print(f"{name:16} mean weight {weights.mean():.2f}, share of tokens dropped {(weights == 0).mean():.2f}")

# %% [markdown]
# ## Is the bias real, and is it repaired?
#
# The experiment `sampler_mismatch` enumerates a small language again, so bias and noise are exact. At the left, how far
# the *expected* gradient is from the true one; in the middle, the root mean square error of a batch of 512.

# %%
mismatch = EXPERIMENTS["sampler_mismatch"]
experiment_figure(mismatch, run_experiment(mismatch, seeds=8))

# %% [markdown]
# Eight seeds are too few for some of the comparisons at the right, which say so ("not shown");
# `grpo-ref experiment run sampler_mismatch` takes 128. Read the middle from the right: with a large mismatch the full weight has no bias and is useless all the same, because its noise
# grows without bound. Truncating and masking buy calm with bias. **There is no free repair: keep the mismatch small.**
#
# ## Try yourself
#
# 1. In the first cell of runs, replace `GRPO` by `replace(GRPO, surrogate=REINFORCE.surrogate)`: no ratio and no clip
#    (`from dataclasses import replace`, `from grpo_ref import REINFORCE`). At how many steps a batch does it break?
#
# <details><summary>Answer</summary>
#
# With one step nothing changes at all. With 16 the policy commits to whatever the batch happened to show: the entropy
# falls much faster, and the reward ends lower or varies more between the seeds.
# </details>
#
# 2. DAPO's clip-higher is `slot(clipped, clip_low=0.2, clip_high=0.28)`. Which of the curves of the first figure should it
#    change, and which not?
#
# <details><summary>Answer</summary>
#
# `clip` falls when a batch is used for several steps; with one step nothing changes, because every ratio is 1. What the
# entropy does depends on the task: where the reward has no luck in it, a wider bound mostly learns faster.
# </details>
#
# Exercises that practise this: `ratios/token_ratio`, `ratios/sequence_ratio`, `ratios/clipped`, `ratios/cispo`,
# `ratios/sapo`.
