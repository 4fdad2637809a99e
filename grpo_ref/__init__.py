"""grpo_ref: a readable NumPy reference of the GRPO family, with manual gradients.

Public names, in the order of the pipeline: task, rollout, rewards, advantages, level, surrogate, penalty,
aggregation, loss, recipe, policy, optimizer, training.
"""

from grpo_ref.advantages import (
    batch_scaled,
    best_of_group,
    group_centred,
    group_normalized,
    leave_one_out,
    normalized_then_summed,
    ranked,
    raw_rewards,
)
from grpo_ref.aggregation import (
    fixed_length,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
    token_sum,
)
from grpo_ref.filters import all_groups, mixed_groups
from grpo_ref.levels import sequence_mean_level, sequence_sum_level, token_level
from grpo_ref.loss import PolicyLoss, policy_loss
from grpo_ref.objective import grpo_objective
from grpo_ref.optim import SGD, Adam, clip_by_norm
from grpo_ref.penalties import (
    absolute,
    exact_kl,
    k1,
    k2,
    k3,
    mse,
    no_penalty,
    open_instruct_kl,
    straight_through,
    weighted_k1,
    weighted_k3,
)
from grpo_ref.recipes import DAPO, DR_GRPO, GRPO, RECIPES, REINFORCE, RLOO, Recipe, Slot, slot
from grpo_ref.rewards import soft_overlong, soft_overlong_punishment, task_reward
from grpo_ref.rollout import rollout, sample
from grpo_ref.surrogates import cispo, clipped, dual_clipped, importance_weighted, kl_cov, reinforce, sapo
from grpo_ref.tasks import TASKS
from grpo_ref.tasks.task import Task
from grpo_ref.train import TrainConfig, TrainState, Update, config_for, initial_state, train
from grpo_ref.types import Batch, Completions, Term
