"""Experiments: every claim of the literature about the GRPO family that we test, one small file a claim."""

from grpo_ref.experiments.claims.batch_scaling import BATCH_SCALING
from grpo_ref.experiments.claims.best_of_n import BEST_OF_N
from grpo_ref.experiments.claims.clip_higher import CLIP_HIGHER
from grpo_ref.experiments.claims.collapse import COLLAPSE, COLLAPSE_ALARM, TEMPERATURE
from grpo_ref.experiments.claims.curriculum import CURRICULUM
from grpo_ref.experiments.claims.dead_groups import DEAD_GROUPS
from grpo_ref.experiments.claims.early_stop import EARLY_STOP
from grpo_ref.experiments.claims.group_mean import GROUP_MEAN
from grpo_ref.experiments.claims.group_size import GROUP_SIZE, TWO_GRPO_MATCHES
from grpo_ref.experiments.claims.kl_estimators import KL_ESTIMATORS
from grpo_ref.experiments.claims.kl_optimum import KL_OPTIMUM
from grpo_ref.experiments.claims.leave_one_out import LEAVE_ONE_OUT
from grpo_ref.experiments.claims.length_bias import LENGTH_BIAS
from grpo_ref.experiments.claims.ordinal import ORDINAL
from grpo_ref.experiments.claims.overlong import OVERLONG
from grpo_ref.experiments.claims.rare_gradient import RARE_GRADIENT
from grpo_ref.experiments.claims.rare_tokens import RARE_TOKENS
from grpo_ref.experiments.claims.ref_refresh import REF_REFRESH
from grpo_ref.experiments.claims.reward_hacking import EARLY_STOPPING, HACKED_NAMES, REWARD_HACKING
from grpo_ref.experiments.claims.reward_scales import REWARD_SCALES
from grpo_ref.experiments.claims.sampler_mismatch import SAMPLER_MISMATCH
from grpo_ref.experiments.claims.sequence_ratio import SEQUENCE_RATIO
from grpo_ref.experiments.claims.soft_clipping import SOFT_CLIPPING
from grpo_ref.experiments.claims.std_division import STD_DIVISION
from grpo_ref.experiments.framework.experiment import Experiment

_ALL = (
    # advantages
    GROUP_MEAN,
    GROUP_SIZE,
    TWO_GRPO_MATCHES,
    DEAD_GROUPS,
    STD_DIVISION,
    CURRICULUM,
    BATCH_SCALING,
    # clipping
    CLIP_HIGHER,
    SEQUENCE_RATIO,
    SOFT_CLIPPING,
    RARE_TOKENS,
    RARE_GRADIENT,
    EARLY_STOP,
    # aggregation
    OVERLONG,
    LENGTH_BIAS,
    # mismatch
    SAMPLER_MISMATCH,
    # rewards
    ORDINAL,
    REWARD_SCALES,
    # divergence
    KL_ESTIMATORS,
    LEAVE_ONE_OUT,
    REWARD_HACKING,
    EARLY_STOPPING,
    HACKED_NAMES,
    COLLAPSE,
    COLLAPSE_ALARM,
    TEMPERATURE,
    REF_REFRESH,
    KL_OPTIMUM,
    BEST_OF_N,
)

EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in _ALL}
"""Every experiment by name."""
