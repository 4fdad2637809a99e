"""Surrogates: what each token contributes to the objective, and how it pushes the policy.

Every kernel returns a `Term`, to be maximized. In the formulas, [condition] is 1 if the condition is true and
0 otherwise. sg[x] is x, treated as a constant in the gradient (stop-gradient).
"""

from grpo_ref.surrogates.clip import clipped, dual_clipped, geometric_mean_clipped, two_sided_clipped
from grpo_ref.surrogates.covariance import clip_cov, clip_cov_eligible, kl_cov
from grpo_ref.surrogates.detached import cispo, gspo_token, rollout_is, topr, vespo
from grpo_ref.surrogates.divergence import (
    binary_kl,
    dppo_kl,
    dppo_top_kl,
    dppo_top_tv,
    dppo_tv,
)
from grpo_ref.surrogates.grouped import gvpo, real
from grpo_ref.surrogates.plain import importance_weighted, reinforce, squared_ratio
from grpo_ref.surrogates.soft import sapo
from grpo_ref.surrogates.textbook import (
    gated_ratio,
    symmetric_kl,
    symmetric_tv,
    top_kl_movers,
    top_movers,
)
