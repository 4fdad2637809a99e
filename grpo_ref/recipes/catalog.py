"""The algorithms of the papers, each as its difference from a known one.

A new recipe is one constant here. Its name in lower case is its name in `RECIPES`, and tables show the
recipes in the order of this file. A comment says what a recipe changes.
"""

import math
from dataclasses import replace

from grpo_ref.advantages import (
    batch_scaled,
    best_of_group,
    discounted,
    gigpo,
    gpg,
    greedy_baseline,
    group_centered,
    group_normalized,
    leave_one_out,
    length_weighted,
    mean_scaled,
    mt_grpo,
    normalized_then_summed,
    optimal_token_baseline,
    ranked,
    raw_rewards,
    step_suffix_sums,
    whitened,
    with_teacher,
)
from grpo_ref.aggregation import (
    fixed_length,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
)
from grpo_ref.corrections import future_kl, masked, second_moment_mask, top_entropy, truncated
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
    gvpo,
    importance_weighted,
    kl_cov,
    real,
    reinforce,
    rollout_is,
    sapo,
    squared_ratio,
    topr,
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

# No std in the advantage, no length in the aggregation, no KL penalty.
DR_GRPO = replace(
    GRPO,
    advantage=slot(group_centered),
    aggregate=slot(fixed_length),
    kl_coef=0.0,
    source="Liu et al. 2025, Understanding R1-Zero-like training (arXiv:2503.20783)",
)

# A penalty for overlong completions, no groups with equal rewards, a higher upper bound of the clip
# (clip-higher), the same weight for every token, no KL penalty. The paper's rewards are +1 and -1, and its
# penalty has the weight 1. The tasks here give 1 and 0, so the penalty has the weight 0.5: the advantages are
# the same. The paper divides the loss by the tokens of each group, which is `group_token_mean`; verl and TRL
# divide by the tokens of the batch, as here.
DAPO = replace(
    GRPO,
    reward=slot(soft_overlong, buffer=0.2, weight=0.5),
    keep=slot(mixed_groups),
    surrogate=slot(clipped, clip_low=0.2, clip_high=0.28),
    aggregate=slot(token_mean),
    kl_coef=0.0,
    source="TRL's and verl's form of Yu et al. 2025, DAPO (arXiv:2503.14476); eq. 8 of the paper divides per"
    " group (`group_token_mean`)",
)

# ---- the clip family -----------------------------------------------------------------------------

# The std of the whole batch instead of the group's, the same weight for every token, no KL penalty.
LITE_PPO = replace(
    GRPO,
    advantage=slot(batch_scaled),
    aggregate=slot(token_mean),
    kl_coef=0.0,
    source="Liu et al. 2025, Tricks or traps? Lite PPO (arXiv:2508.08221)",
)

# The population std, for groups of two.
TWO_GRPO = replace(
    GRPO,
    advantage=slot(group_normalized, ddof=0, eps=1e-4),
    source="Wu et al. 2025, It takes two: your GRPO is secretly DPO (arXiv:2510.00977); for groups of two",
)

# A cap on the ratio of tokens with A < 0, and a small KL penalty.
INTELLECT_2 = replace(
    GRPO,
    surrogate=slot(two_sided_clipped, clip_low=0.2, clip_high=0.2, max_ratio=4.0),
    kl_coef=0.001,
    source="Prime Intellect 2025, INTELLECT-2 (arXiv:2505.07291)",
)

# The geometric mean of clipped token ratios, one value per completion; no KL penalty.
GMPO = replace(
    GRPO,
    surrogate=slot(geometric_mean_clipped, clip_low=0.4, clip_high=0.4),
    kl_coef=0.0,
    source="Zhao et al. 2025, Geometric-mean policy optimization (arXiv:2507.20673)",
)

# ---- the ratio of a sequence ---------------------------------------------------------------------

# One ratio per completion, the geometric mean of the token ratios. It is nearer to 1 than these, so the
# bounds of the clip are much narrower. No KL penalty.
GSPO = replace(
    GRPO,
    level=sequence_mean_level,
    surrogate=slot(clipped, clip_low=3e-4, clip_high=4e-4),
    kl_coef=0.0,
    source="Zheng et al. 2025, Group sequence policy optimization (arXiv:2507.18071)",
)

# GSPO with a separate gradient for each token.
GSPO_TOKEN = replace(GSPO, surrogate=slot(gspo_token, clip_low=3e-4, clip_high=4e-4))

# GSPO with a sum over the tokens of a completion instead of their mean (the ratio stays length-normalized),
# and with wider bounds.
LUSPO = replace(
    GSPO,
    surrogate=slot(clipped, clip_low=2e-3, clip_high=2.5e-3),
    aggregate=slot(sequence_mean_token_sum),
    source="Length-unbiased sequence policy optimization (arXiv:2602.05261)",
)

# ---- soft and detached weights -------------------------------------------------------------------

# DAPO without its reward shaping and its filter. No gradient flows through the ratio (stop-gradient), so
# clipped tokens keep a gradient. As in DAPO, the paper divides by the tokens of each group.
CISPO = replace(
    DAPO,
    reward=slot(task_reward),
    keep=slot(all_groups),
    surrogate=slot(cispo, max_ratio=5.0),
    source="MiniMax 2025, MiniMax-M1 (arXiv:2506.13585)",
)

# A soft gate instead of the clip, no KL penalty.
SAPO = replace(GRPO, surrogate=slot(sapo), kl_coef=0.0, source="Gao et al. 2025, SAPO (arXiv:2511.20347)")

# CISPO with another constant weight: a smooth function of the ratio of the whole completion.
VESPO = replace(
    CISPO,
    level=sequence_sum_level,
    surrogate=slot(vespo),
    source="Variational sequence-level soft policy optimization (arXiv:2602.10693)",
)

# DAPO without its reward shaping and its filter. Each token has a weight of 1 to 1.2, which grows if the
# tokens after it have become more likely.
FIPO = replace(
    DAPO,
    reward=slot(task_reward),
    keep=slot(all_groups),
    corrections=(slot(future_kl, half_life=32.0, width=0.2),),
    source="FIPO, Future-KL influenced policy optimization (arXiv:2603.19835)",
)

# ---- surrogates of a group -----------------------------------------------------------------------

# The completions of a group are classified. Their scores are length-normalized log-ratios, and only the signs
# of the advantages count. No KL penalty.
REAL = replace(
    GRPO,
    level=sequence_mean_level,
    surrogate=slot(real, tau=0.5),
    kl_coef=0.0,
    source="Rewards as labels (arXiv:2602.05630)",
)

# A square: the log-ratios of a group are fitted to its rewards. No KL penalty: the square has one in it.
GVPO = replace(
    GRPO,
    advantage=slot(group_centered),
    level=sequence_sum_level,
    surrogate=slot(gvpo, beta=0.1),
    kl_coef=0.0,
    source="Zhang et al. 2025, Group variance policy optimization (arXiv:2504.19599)",
)

# ---- a divergence for a trust region -------------------------------------------------------------

# CISPO, but tokens are dropped if a divergence from the sampler is too large: these recipes compare with
# `rollout_log_probs`, not with `old_log_probs`. The divergence is the total variation (TV) or the KL. It is
# taken either over two outcomes, this token or not this token, or over the top K tokens.
DPPO_TV = replace(
    CISPO,
    surrogate=slot(dppo_tv),
    source="Qi et al. 2026, Rethinking the trust region in LLM reinforcement learning (arXiv:2602.04879)",
)
DPPO_KL = replace(DPPO_TV, surrogate=slot(dppo_kl))
DPPO_TOP_TV = replace(DPPO_TV, surrogate=slot(dppo_top_tv))
DPPO_TOP_KL = replace(DPPO_TV, surrogate=slot(dppo_top_kl))

# ---- entropy -------------------------------------------------------------------------------------

# Lite PPO with GRPO's advantage. A few random tokens with a large covariance of advantage and log-probability
# get no gradient.
CLIP_COV = replace(
    LITE_PPO,
    advantage=GRPO.advantage,
    surrogate=slot(clip_cov),
    source="Cui et al. 2025, The entropy mechanism (arXiv:2505.22617)",
)
# The tokens with the largest covariance get a penalty instead, and there is no clip. The weight and the share
# are verl's defaults.
KL_COV = replace(CLIP_COV, surrogate=slot(kl_cov))
# DAPO on the 20 % of the tokens with the highest entropy.
HIGH_ENTROPY = replace(
    DAPO,
    corrections=(slot(top_entropy, share=0.2),),
    source="Wang et al. 2025, Beyond the 80/20 rule (arXiv:2506.01939)",
)

# ---- plain policy gradients ----------------------------------------------------------------------

# No baseline, no ratio, a sum over the tokens of a completion, no KL penalty.
REINFORCE = replace(
    GRPO,
    advantage=slot(raw_rewards),
    surrogate=slot(reinforce),
    aggregate=slot(sequence_mean_token_sum),
    kl_coef=0.0,
    source="Williams 1992, Simple statistical gradient-following algorithms",
)

# The baseline is the mean of the other completions of the group. This is verl's form; in the paper, a KL
# penalty is a part of the reward.
RLOO = replace(
    REINFORCE,
    advantage=slot(leave_one_out),
    source="verl's form of Ahmadian et al. 2024, Back to basics (arXiv:2402.14740)",
)

# The baseline is the reward of a greedy completion. No group is needed.
REMAX = replace(
    REINFORCE,
    advantage=slot(greedy_baseline),
    source="Li et al. 2023, ReMax (arXiv:2310.10505)",
)
# A baseline for each position: the group's mean, weighted by the squared norms of the scores up to there.
OTB = replace(
    REINFORCE,
    advantage=slot(optimal_token_baseline),
    source="Optimal token baseline (arXiv:2602.07078)",
)
# Bad completions are weighted by the ratio of the whole completion, at most 1. Good ones have weight 1. The
# paper subtracts a constant from rewards of 1 and -1; here the baseline is the group's mean.
TOPR = replace(
    REINFORCE,
    advantage=slot(group_centered),
    level=sequence_sum_level,
    surrogate=slot(topr),
    source="Le Roux et al. 2025, Tapered off-policy REINFORCE (arXiv:2503.14286)",
)
# No group: `discounted` also standardizes over all tokens of the batch. The same weight for every token, no
# KL penalty in the loss. This is verl's form; in the paper, each token's KL is subtracted from its reward.
REINFORCE_PP = replace(
    GRPO,
    advantage=slot(discounted, gamma=1.0),
    aggregate=slot(token_mean),
    kl_coef=0.0,
    source="verl's form of Hu 2025, REINFORCE++ (arXiv:2501.03262)",
)
# The group's mean is subtracted before the advantages are standardized. This is verl's form; the paper adds
# k2 to the loss.
REINFORCE_PP_BASELINE = replace(REINFORCE_PP, advantage=slot(whitened))
# The baseline is the group's mean, and a factor makes up for groups with equal rewards. The same weight for
# every token; as in DAPO, the paper divides by the tokens of each group.
GPG = replace(
    REINFORCE,
    advantage=slot(gpg),
    aggregate=slot(token_mean),
    source="Chu et al. 2025, GPG (arXiv:2504.02546)",
)
# The baseline is the group's mean weighted by length.
OPO = replace(REINFORCE, advantage=slot(length_weighted), source="Hao et al. 2025, OPO (arXiv:2505.23585)")
# The baseline is the group's mean, and a penalty on the squared log-ratio keeps the policy near the old one.
# The same weight for every token. This is verl's form; in the paper, the squared log-ratio is that to the
# reference policy, and a learned value is the baseline.
DRO = replace(
    REINFORCE,
    advantage=slot(group_centered),
    surrogate=slot(squared_ratio, beta=0.1),
    aggregate=slot(token_mean),
    source="verl's form of Richemond et al. 2024, DRO (arXiv:2405.19107)",
)

# ---- advantages ----------------------------------------------------------------------------------

# A reward for each step instead of one for the completion.
PROCESS_GRPO = replace(
    GRPO,
    advantage=slot(step_suffix_sums),
    source="Shao et al. 2024, DeepSeekMath, sec. 4.1.3, process supervision (arXiv:2402.03300)",
)
# Each criterion is normalized before the sum; no KL penalty.
GDPO = replace(GRPO, advantage=slot(normalized_then_summed), kl_coef=0.0, source="GDPO (arXiv:2601.05242)")
# Ranks instead of rewards.
GOPO = replace(
    GRPO,
    advantage=slot(ranked),
    source="Choi et al. 2026, GOPO: Policy optimization using ranked rewards (arXiv:2602.03876)",
)
# The divisor is the group's mean, so rare successes count more. The same weight for every token, no KL
# penalty. The parts other than the advantage are those of the authors' training runs.
MAXRL = replace(
    LITE_PPO,
    advantage=slot(mean_scaled),
    source="Tajwar et al. 2026, Maximum likelihood reinforcement learning (arXiv:2602.02710)",
)
# Only the best completion of a group has an advantage.
PASS_AT_K = replace(GRPO, advantage=slot(best_of_group), source="Tang et al. 2025, pass@k (arXiv:2503.19595)")

# ---- the turns of an agent -----------------------------------------------------------------------

# The advantage of the episode plus that of the turn among turns that began in the same state. The same weight
# for every token, and a small KL penalty, as in the scripts of verl-agent.
GIGPO = replace(
    GRPO,
    advantage=slot(gigpo, step_weight=1.0, gamma=0.95),
    kl_coef=0.01,
    aggregate=slot(token_mean),
    source="Feng et al. 2025, GiGPO, eq. 8 (arXiv:2505.10978)",
)
# The advantage of the outcome plus that of the turn's own reward. The same weight for every token, no KL
# penalty.
MT_GRPO = replace(
    GRPO,
    advantage=slot(mt_grpo),
    aggregate=slot(token_mean),
    kl_coef=0.0,
    source="Zeng et al. 2025, MT-GRPO (arXiv:2505.11821)",
)

# ---- a sampler that is not quite the learner -----------------------------------------------------

# DAPO without its reward shaping and its filter. Each token is weighted by the ratio of learner to sampler,
# at most 2 (truncated importance sampling).
TIS = replace(
    DAPO,
    reward=slot(task_reward),
    keep=slot(all_groups),
    corrections=(slot(truncated, max_ratio=2.0),),
    source="Yao et al. 2025, truncated importance sampling",
)
# The weight is the ratio of the whole completion; above 3 it is 0 (masked importance sampling).
MIS = replace(
    TIS,
    corrections=(slot(masked, level=sequence_sum_level, max_ratio=3.0),),
    source='TRL 1.16.0, vllm_importance_sampling_mode="sequence_mask"',
)
# The weight is the ratio of the token; outside 0.5 to 5 it is 0.
ICEPOP = replace(
    TIS, corrections=(slot(masked, min_ratio=0.5, max_ratio=5.0),), source="Ling team 2025, IcePop"
)
# No clip. The ratio of learner to sampler has two factors: πθ / πold in the surrogate, and πold / πrollout as
# its weight. Tokens whose second factor is far from 1 are dropped until the mean of its squared logarithm is
# small. The paper decides by πθ / πrollout, which is the same in the first step.
M2PO = replace(
    TIS,
    surrogate=slot(importance_weighted),
    corrections=(slot(truncated, max_ratio=math.inf), slot(second_moment_mask, threshold=0.04)),
    source="Zheng et al. 2025, M2PO, Prosperity before collapse (arXiv:2510.01161)",
)
# One ratio for the sampler's mismatch and the update: the current policy against the sampler. Outside the
# bounds the weight is 0.
GLM_5 = replace(
    TIS,
    surrogate=slot(rollout_is, clip_low=0.2, clip_high=0.2),
    corrections=(),
    source="GLM-5 team 2026, sec. 4.1.2 (arXiv:2602.15763); the bounds are SkyRL's defaults",
)
# Decoupled PPO has two policies besides the current one. The clip compares the current policy with the
# proximal policy, whose log-probabilities are `old_log_probs`. The behaviour policy sampled the tokens:
# `rollout_log_probs`. The correction is the ratio of the proximal to the behaviour policy, here at most 5.
DECOUPLED_PPO = replace(
    TIS,
    corrections=(slot(truncated, max_ratio=5.0),),
    source="Hilton et al. 2022, decoupled PPO (arXiv:2110.00641); the old policy is the proximal policy, the"
    " sampler is the behaviour policy",
)

# ---- a teacher -----------------------------------------------------------------------------------

# On-policy distillation. The advantage of a token is the log-ratio of the teacher to the student, so rewards
# are not needed. The ratio is not clipped. The same weight for every token, no KL penalty.
OPD = replace(
    GRPO,
    advantage=slot(raw_rewards),
    surrogate=slot(importance_weighted),
    aggregate=slot(token_mean),
    kl_coef=0.0,
    distill=slot(with_teacher, reward_coef=0.0),
    source="Lu and Thinking Machines Lab 2025, On-policy distillation; Tinker's cookbook, `train_on_policy`",
)
# The log-ratio is added to GRPO's advantage, which has the same value for all tokens of a completion.
OPD_RL = replace(
    GRPO,
    kl_coef=0.0,
    distill=slot(with_teacher),
    source="slime `apply_opd_kl_to_advantages`; ms-swift, OPD-RL",
)
