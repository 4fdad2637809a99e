"""The public names, in the order of the pipeline, each imported when it is first used.

`__init__.py` reads this list, and so do type checkers, for whom `name as name` says that a name is public.
`make docs` writes it, with a line for each name, into the docstring of the package.
"""

from .types import Batch as Batch, Completions as Completions, Term as Term
from .learning.tasks import TASKS as TASKS
from .learning.tasks.task import Examples as Examples, Task as Task
from .learning.policies.transformer import Transformer as Transformer
from .learning.policies.mlp import MLP as MLP
from .learning.policies.neural import NeuralPolicy as NeuralPolicy
from .learning.policies.kinds import network_for as network_for
from .learning.pretraining import PretrainConfig as PretrainConfig, pretrain as pretrain
from .learning.held_out import held_out as held_out, held_out_rates as held_out_rates
from .learning.rollout import rollout as rollout, sample as sample
from .learning.verbalized import verbalized_sample as verbalized_sample
from .kernels.rewards import (
    task_reward as task_reward,
    soft_overlong as soft_overlong,
    soft_overlong_punishment as soft_overlong_punishment,
)
from .kernels.filters import (
    all_groups as all_groups,
    mixed_groups as mixed_groups,
    pass_rate_between as pass_rate_between,
    all_completions as all_completions,
    ended_completions as ended_completions,
    first_of_equals as first_of_equals,
)
from .kernels.advantages import (
    group_normalized as group_normalized,
    group_centered as group_centered,
    group_centred as group_centred,
    leave_one_out as leave_one_out,
    raw_rewards as raw_rewards,
    best_of_group as best_of_group,
    normal_scores as normal_scores,
    ranked as ranked,
    length_weighted as length_weighted,
    batch_normalized as batch_normalized,
    batch_scaled as batch_scaled,
    gpg as gpg,
    normalized_then_summed as normalized_then_summed,
    normalized_then_whitened as normalized_then_whitened,
    whitened as whitened,
    normalized_twice as normalized_twice,
    step_suffix_sums as step_suffix_sums,
    discounted as discounted,
)
from .kernels.levels import (
    token_level as token_level,
    sequence_mean_level as sequence_mean_level,
    sequence_sum_level as sequence_sum_level,
)
from .kernels.surrogates import (
    clipped as clipped,
    dual_clipped as dual_clipped,
    two_sided_clipped as two_sided_clipped,
    geometric_mean_clipped as geometric_mean_clipped,
    importance_weighted as importance_weighted,
    squared_ratio as squared_ratio,
    reinforce as reinforce,
    cispo as cispo,
    gspo_token as gspo_token,
    vespo as vespo,
    sapo as sapo,
    gated_ratio as gated_ratio,
    clip_cov as clip_cov,
    kl_cov as kl_cov,
    clip_cov_eligible as clip_cov_eligible,
    dppo_tv as dppo_tv,
    dppo_kl as dppo_kl,
    dppo_top_tv as dppo_top_tv,
    dppo_top_kl as dppo_top_kl,
    binary_kl as binary_kl,
    symmetric_kl as symmetric_kl,
    symmetric_tv as symmetric_tv,
    top_kl_movers as top_kl_movers,
    top_movers as top_movers,
)
from .kernels.penalties import (
    no_penalty as no_penalty,
    k1 as k1,
    k2 as k2,
    k3 as k3,
    absolute as absolute,
    mse as mse,
    straight_through as straight_through,
    weighted_k1 as weighted_k1,
    weighted_k3 as weighted_k3,
    exact_kl as exact_kl,
)
from .kernels.aggregation import (
    sequence_mean_token_mean as sequence_mean_token_mean,
    sequence_mean_token_sum as sequence_mean_token_sum,
    fixed_length as fixed_length,
    token_mean as token_mean,
    kept_token_mean as kept_token_mean,
    token_sum as token_sum,
    token_sum_over as token_sum_over,
)
from .kernels.corrections import (
    truncated as truncated,
    masked as masked,
    indicator as indicator,
    off_policy_mask as off_policy_mask,
    early_stop as early_stop,
    top_entropy as top_entropy,
    unlikely_under_reference as unlikely_under_reference,
)
from .loss import policy_loss as policy_loss, PolicyLoss as PolicyLoss
from .fast.logits import (
    policy_loss_from_logits as policy_loss_from_logits,
    LogitsLoss as LogitsLoss,
    token_log_probs as token_log_probs,
)
from .objective import grpo_objective as grpo_objective
from .check import check_slope as check_slope
from .recipes import (
    RECIPES as RECIPES,
    Recipe as Recipe,
    Slot as Slot,
    slot as slot,
    GRPO as GRPO,
    DR_GRPO as DR_GRPO,
    DAPO as DAPO,
    RLOO as RLOO,
    REINFORCE as REINFORCE,
)
from .learning.optim import SGD as SGD, Adam as Adam, clip_by_norm as clip_by_norm
from .learning.config import TrainConfig as TrainConfig, config_for as config_for
from .learning.state import TrainState as TrainState, Update as Update, initial_state as initial_state
from .training import train as train
from .learning.runs import RunFolder as RunFolder, RunError as RunError
from .fast.many_seeds import train_many as train_many
from .kernels.diversity import (
    best_of_n as best_of_n,
    rejection_sampled as rejection_sampled,
    has_collapsed as has_collapsed,
)
from . import (
    arrays as arrays,
    types as types,
    kernels as kernels,
    recipes as recipes,
    loss as loss,
    objective as objective,
    learning as learning,
    fast as fast,
    training as training,
    check as check,
    explain as explain,
    lab as lab,
    plots as plots,
    course as course,
)
