"""The algorithms of the papers, each as its difference from a known one.

A new recipe is one constant here: it is listed under its name in small letters, and its place among the
others is its place in every table.
"""

from dataclasses import replace

from grpo_ref.advantages import (
    batch_scaled,
    best_of_group,
    discounted,
    gpg,
    group_centered,
    group_normalized,
    leave_one_out,
    length_weighted,
    normalized_then_summed,
    ranked,
    raw_rewards,
    step_suffix_sums,
    whitened,
)
from grpo_ref.aggregation import (
    fixed_length,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
)
from grpo_ref.corrections import masked, top_entropy, truncated
from grpo_ref.filters import all_groups, mixed_groups
from grpo_ref.levels import sequence_mean_level, sequence_sum_level, token_level
from grpo_ref.penalties import k3
from grpo_ref.recipes.recipe import Recipe, slot
from grpo_ref.rewards import soft_overlong, task_reward
from grpo_ref.surrogates import (
    cispo,
    clip_cov,
    clipped,
    dppo_kl,
    dppo_top_kl,
    dppo_top_tv,
    dppo_tv,
    geometric_mean_clipped,
    gspo_token,
    kl_cov,
    reinforce,
    sapo,
    squared_ratio,
    two_sided_clipped,
    vespo,
)

GRPO = Recipe(
    reward=slot(task_reward),
    keep=slot(all_groups),
    advantage=slot(group_normalized, ddof=1, eps=1e-4),
    level=token_level,
    surrogate=slot(clipped, clip_low=0.2, clip_high=0.2),
    penalty=slot(k3),
    kl_coef=0.04,
    aggregate=slot(sequence_mean_token_mean),
    source="Shao et al. 2024, DeepSeekMath, eq. 3 (arXiv:2402.03300)",
)

DR_GRPO = replace(
    GRPO,
    advantage=slot(group_centered),
    aggregate=slot(fixed_length),
    kl_coef=0.0,
    source="Liu et al. 2025, Understanding R1-Zero-like training (arXiv:2503.20783)",
)

DAPO = replace(
    GRPO,
    reward=slot(soft_overlong, buffer=0.2),
    keep=slot(mixed_groups),
    surrogate=slot(clipped, clip_low=0.2, clip_high=0.28),
    aggregate=slot(token_mean),
    kl_coef=0.0,
    source="Yu et al. 2025, DAPO, eq. 8 (arXiv:2503.14476)",
)

# ---- the clip family -----------------------------------------------------------------------------

LITE_PPO = replace(
    GRPO,
    advantage=slot(batch_scaled),
    aggregate=slot(token_mean),
    kl_coef=0.0,
    source="Liu et al. 2025, Tricks or traps? Lite PPO (arXiv:2508.08221)",
)

TWO_GRPO = replace(
    GRPO,
    advantage=slot(group_normalized, ddof=0, eps=1e-4),
    source="2025, It takes two: your GRPO is secretly DPO; for groups of two (arXiv:2510.00977)",
)

INTELLECT_2 = replace(
    GRPO,
    surrogate=slot(two_sided_clipped, clip_low=0.2, clip_high=0.2, max_ratio=4.0),
    kl_coef=0.001,
    source="Prime Intellect 2025, INTELLECT-2 (arXiv:2505.07291)",
)

GMPO = replace(
    GRPO,
    surrogate=slot(geometric_mean_clipped, clip_low=0.4, clip_high=0.4),
    kl_coef=0.0,
    source="Zhao et al. 2025, Geometric-mean policy optimization (arXiv:2507.20673)",
)

# ---- the ratio of a sequence ---------------------------------------------------------------------

GSPO = replace(
    GRPO,
    level=sequence_mean_level,
    surrogate=slot(clipped, clip_low=3e-4, clip_high=4e-4),
    kl_coef=0.0,
    source="Zheng et al. 2025, Group sequence policy optimization (arXiv:2507.18071)",
)

GSPO_TOKEN = replace(GSPO, surrogate=slot(gspo_token, clip_low=3e-4, clip_high=4e-4))

LUSPO = replace(
    GSPO,
    surrogate=slot(clipped, clip_low=2e-3, clip_high=2.5e-3),
    aggregate=slot(sequence_mean_token_sum),
    source="Length-unbiased sequence policy optimization (arXiv:2602.05261)",
)

# ---- soft and detached weights -------------------------------------------------------------------

CISPO = replace(
    DAPO,
    reward=slot(task_reward),
    keep=slot(all_groups),
    surrogate=slot(cispo, max_ratio=5.0),
    source="MiniMax 2025, MiniMax-M1 (arXiv:2506.13585)",
)

SAPO = replace(GRPO, surrogate=slot(sapo), kl_coef=0.0, source="Gao et al. 2025, SAPO (arXiv:2511.20347)")

VESPO = replace(
    CISPO,
    level=sequence_sum_level,
    surrogate=slot(vespo),
    source="Variational sequence-level soft policy optimization (arXiv:2602.10693)",
)

# ---- a divergence for a trust region -------------------------------------------------------------

DPPO_TV = replace(
    CISPO, surrogate=slot(dppo_tv), source="Divergence proximal policy optimization (arXiv:2602.04879)"
)
DPPO_KL = replace(DPPO_TV, surrogate=slot(dppo_kl))
DPPO_TOP_TV = replace(DPPO_TV, surrogate=slot(dppo_top_tv))
DPPO_TOP_KL = replace(DPPO_TV, surrogate=slot(dppo_top_kl))

# ---- entropy -------------------------------------------------------------------------------------

CLIP_COV = replace(
    LITE_PPO,
    advantage=GRPO.advantage,
    surrogate=slot(clip_cov),
    source="Cui et al. 2025, The entropy mechanism (arXiv:2505.22617)",
)
KL_COV = replace(CLIP_COV, surrogate=slot(kl_cov))
HIGH_ENTROPY = replace(
    DAPO,
    corrections=(slot(top_entropy, share=0.2),),
    source="Wang et al. 2025, Beyond the 80/20 rule (arXiv:2506.01939)",
)

# ---- plain policy gradients ----------------------------------------------------------------------

REINFORCE = replace(
    GRPO,
    advantage=slot(raw_rewards),
    surrogate=slot(reinforce),
    aggregate=slot(sequence_mean_token_sum),
    kl_coef=0.0,
    source="Williams 1992, Simple statistical gradient-following algorithms",
)

RLOO = replace(
    REINFORCE,
    advantage=slot(leave_one_out),
    source="Ahmadian et al. 2024, Back to basics (arXiv:2402.14740)",
)

REINFORCE_PP = replace(
    GRPO,
    advantage=slot(discounted, gamma=1.0),
    aggregate=slot(token_mean),
    kl_coef=0.0,
    source="Hu 2025, REINFORCE++ (arXiv:2501.03262)",
)
REINFORCE_PP_BASELINE = replace(REINFORCE_PP, advantage=slot(whitened))
GPG = replace(
    REINFORCE,
    advantage=slot(gpg),
    aggregate=slot(token_mean),
    source="Chu et al. 2025, GPG (arXiv:2504.02546)",
)
OPO = replace(REINFORCE, advantage=slot(length_weighted), source="Hao et al. 2025, OPO (arXiv:2505.23585)")
DRO = replace(
    REINFORCE,
    advantage=slot(group_centered),
    surrogate=slot(squared_ratio, beta=0.1),
    aggregate=slot(token_mean),
    source="Richemond et al. 2024, DRO (arXiv:2405.19107)",
)

# ---- advantages ----------------------------------------------------------------------------------

PROCESS_GRPO = replace(
    GRPO,
    advantage=slot(step_suffix_sums),
    source="Shao et al. 2024, DeepSeekMath, sec. 4.1.3, process supervision (arXiv:2402.03300)",
)
GDPO = replace(GRPO, advantage=slot(normalized_then_summed), kl_coef=0.0, source="GDPO (arXiv:2601.05242)")
GOPO = replace(
    GRPO,
    advantage=slot(ranked),
    source="Choi et al. 2026, GOPO: Policy optimization using ranked rewards (arXiv:2602.03876)",
)
PASS_AT_K = replace(GRPO, advantage=slot(best_of_group), source="Tang et al. 2025, pass@k (arXiv:2503.19595)")

# ---- a sampler that is not quite the learner -----------------------------------------------------

TIS = replace(
    DAPO,
    reward=slot(task_reward),
    keep=slot(all_groups),
    corrections=(slot(truncated, max_ratio=2.0),),
    source="Yao et al. 2025, truncated importance sampling",
)
MIS = replace(
    TIS,
    corrections=(slot(masked, level=sequence_sum_level, max_ratio=3.0),),
    source='TRL 1.16.0, vllm_importance_sampling_mode="sequence_mask"',
)
ICEPOP = replace(
    TIS, corrections=(slot(masked, min_ratio=0.5, max_ratio=5.0),), source="Ling team 2025, IcePop"
)
DECOUPLED_PPO = replace(
    TIS,
    corrections=(slot(truncated, max_ratio=5.0),),
    source="Hilton et al. 2022, decoupled PPO (arXiv:2110.00641): old is proximal, rollout the behaviour",
)
