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
    histories[f"steps a batch: {epochs}"] = [
        update.metrics for update in iter_train(arithmetic, GRPO, config)
    ]
dynamics_figure(histories, ("reward", "entropy", "clip", "approx_kl", "ess", "ratio_max"))

# %% [markdown]
# More steps a batch learn faster, up to a point: watch the clipped share and the largest ratio. The clip is what keeps 16
# steps from running away with a batch that has become history.
#
# ## Which surrogate still points the right way?
#
# We can ask this exactly. In a language of 243 completions every expectation is a sum. Take an old policy that drew the
# completions, and a new one that has moved away from it by a known KL divergence. The **push** of a surrogate is the
# direction in which it moves the logits of the new policy, averaged over everything that the old one may draw. The right
# direction is the gradient of the new policy's expected reward. We compare the two by the cosine of the angle between them:
#
# $$\cos(u, v) = \frac{u \cdot v}{\lVert u \rVert\,\lVert v \rVert} ,$$
#
# 1 for the same direction, 0 for a push that neither helps nor harms, below 0 for a push that makes the reward *worse*. For
# $u = (1, 0)$ and $v = (1, 1)$ it is $1/\sqrt{2} = 0.71$: an angle of 45 degrees.
#
# **Guess first.** At 0.1 nats per completion the two policies still agree on most completions. Which cosine has the hard clip
# of the tokens there, on average? (Within 0.1 counts as right.)

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

# %%
clipped_cosine = directions["hard clip of tokens (DAPO)"][:, distances.index(0.1)].mean()
because = (
    "tokens whose ratio has left the range are dropped, and these are the ones that learning has moved most; what is"
    " left of the push comes from tokens that have moved the wrong way, or not at all."
)
print(how_far(guess_cosine, clipped_cosine, because, within=0.1))
sapo = alignment(expected_push(RECIPES["sapo"], stale), stale)
apart = abs(sapo - directions["CISPO"]).mean(0).max()
print(f"\nOn average SAPO is nowhere further than {apart:.2f} from CISPO, so it is not drawn.")

# %% [markdown]
# Read the figure from the left to the right.
#
# * **Near the sampler the choice does not matter:** up to 0.001 nats all cosines are 1, but GSPO's.
# * **Surrogates that leave tokens out turn away first.** GSPO's ratio is the geometric mean over a completion, and its range,
#   from 0.9997 to 1.0004, is used up after a tiny step. DAPO's range for a token, from 0.8 to 1.28, lasts longer. Once the tokens that
#   moved the right way are dropped, the rest points back, and the cosine falls below 0.
# * **Surrogates that leave nothing out stay close** (no ratio, CISPO, SAPO): their weights differ from the exact ones by a
#   factor that is near one until the policies really disagree.
#
# A high cosine far out is not simply "better". The clip is *meant* to stop a push that has done its work: a surrogate that goes
# on following stale data also goes on leaving the sampler. Whether training profits is another question, and it has been
# tested, each surrogate at its own learning rate, on tasks drawn anew:
# [`soft_clipping`](../docs/experiments/README.md#soft_clipping), [`sequence_ratio`](../docs/experiments/README.md#sequence_ratio)
# and [`staleness`](../docs/experiments/README.md#staleness).
#
# ## The weight of one completion
#
# Now the mismatch. Let the trainer and the sampler disagree by a little on every token of a completion of 50 tokens. A ratio has
# the mean 1 over the tokens of the sampler, $\sum_a \mu(a) \frac{\pi(a)}{\mu(a)} = 1$. A log-ratio $-\sigma z$ with normal noise $z$ would
# have the mean $e^{\sigma^2/2}$ instead, so the noise is shifted by $\sigma^2/2$:

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
# Nine tokens in ten are within 10 %, and nine completions in ten within a factor of two: small
# disagreements multiply. This is why corrections come in two kinds.
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
# The full weight has the mean 1, up to the chance of 1000 completions (0.01). A limit takes something away: half a percent by
# truncation, nearly 4 % by masking.
#
# ## Is the bias real, and is it repaired?
#
# Here a bias is the distance between the *expected* gradient and the exact one, and noise is how far the gradient of a batch
# strays from its expectation. What a trainer feels is both together, the root mean square error
# $\sqrt{\text{bias}^2 + \text{noise}^2}$. In the small language all of this is a sum; the error is in units of the exact
# gradient's length, for a batch of 512 completions.

# %%
drawn = ("no correction", "TIS, sequence", "MIS, sequence", "full weight, sequence")
found = {label: errors(recipe=WEIGHTS[label], seeds=16, seed=1)["error by noise"] for label in drawn}
lines_figure(
    NOISES[:-1],
    {label: values[:, :-1] for label, values in found.items()},
    "mismatch (standard deviation of the logits' differences)",
    "RMS error / |exact gradient|",
    log_x=True,
)

# %% [markdown]
# At the left the four agree: a small mismatch biases little, and there is nothing to repair. At the right the full weight,
# which has no bias at all, is no better than none, because its noise grows without bound (at a mismatch of 1.5, which is
# not drawn, it is worse than anything else); truncating and masking buy calm with bias.
# Which of them is best depends on the size of the mismatch and of the batch: noise shrinks in a larger batch, bias does not.
# **There is no free repair: keep the mismatch small.** The claim in full, with training, is tested in
# [`sampler_mismatch`](../docs/experiments/README.md#sampler_mismatch), and with numbers rounded as bfloat16 rounds them in
# [`sampler_mismatch_network`](../docs/experiments/README.md#sampler_mismatch_network).
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
