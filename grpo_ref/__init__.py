"""grpo_ref: a readable NumPy reference of the GRPO family, with manual gradients.

Public names, in the order of the pipeline: task, rollout, rewards, advantages, level, surrogate, penalty,
aggregation, loss, recipe, policy, optimizer, training.
"""

from grpo_ref.fast.logits import LogitsLoss, policy_loss_from_logits, token_log_probs
from grpo_ref.fast.many_seeds import train_many
from grpo_ref.kernels.advantages import (
    batch_normalized,
    batch_scaled,
    best_of_group,
    discounted,
    gpg,
    group_centered,
    group_centred,
    group_normalized,
    leave_one_out,
    length_weighted,
    normalized_then_summed,
    normalized_then_whitened,
    normalized_twice,
    ranked,
    raw_rewards,
    step_suffix_sums,
    whitened,
)
from grpo_ref.kernels.aggregation import (
    fixed_length,
    kept_token_mean,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
    token_sum,
    token_sum_over,
)
from grpo_ref.kernels.corrections import (
    early_stop,
    indicator,
    masked,
    off_policy_mask,
    top_entropy,
    truncated,
    unlikely_under_reference,
)
from grpo_ref.kernels.diversity import best_of_n, has_collapsed, rejection_sampled
from grpo_ref.kernels.filters import (
    all_completions,
    all_groups,
    ended_completions,
    first_of_equals,
    mixed_groups,
    pass_rate_between,
)
from grpo_ref.kernels.levels import sequence_mean_level, sequence_sum_level, token_level
from grpo_ref.kernels.penalties import (
    absolute,
    exact_kl,
    k1,
    k2,
    k3,
    mse,
    no_penalty,
    straight_through,
    weighted_k1,
    weighted_k3,
)
from grpo_ref.kernels.rewards import soft_overlong, soft_overlong_punishment, task_reward
from grpo_ref.kernels.surrogates import (
    binary_kl,
    cispo,
    clip_cov,
    clip_cov_eligible,
    clipped,
    dppo_kl,
    dppo_top_kl,
    dppo_top_tv,
    dppo_tv,
    dual_clipped,
    gated_ratio,
    geometric_mean_clipped,
    gspo_token,
    importance_weighted,
    kl_cov,
    reinforce,
    sapo,
    squared_ratio,
    symmetric_kl,
    symmetric_tv,
    top_movers,
    two_sided_clipped,
    vespo,
)
from grpo_ref.learning.config import TrainConfig, config_for
from grpo_ref.learning.optim import SGD, Adam, clip_by_norm
from grpo_ref.learning.rollout import rollout, sample
from grpo_ref.learning.state import TrainState, Update, initial_state
from grpo_ref.learning.tasks import TASKS
from grpo_ref.learning.tasks.task import Task
from grpo_ref.learning.verbalized import verbalized_sample
from grpo_ref.loss import PolicyLoss, policy_loss
from grpo_ref.objective import grpo_objective
from grpo_ref.recipes import DAPO, DR_GRPO, GRPO, RECIPES, REINFORCE, RLOO, Recipe, Slot, slot
from grpo_ref.trainers.open_instruct.quirks import open_instruct_kl
from grpo_ref.training import train
from grpo_ref.types import Batch, Completions, Term
