"""Experiments: every claim of the literature about the GRPO family that we test, one small file a claim."""

from grpo_ref.experiments.batch_scaling import BATCH_SCALING
from grpo_ref.experiments.best_of_n import BEST_OF_N
from grpo_ref.experiments.clip_higher import CLIP_HIGHER
from grpo_ref.experiments.collapse import COLLAPSE, COLLAPSE_ALARM, TEMPERATURE
from grpo_ref.experiments.curriculum import CURRICULUM
from grpo_ref.experiments.dead_groups import DEAD_GROUPS
from grpo_ref.experiments.early_stop import EARLY_STOP
from grpo_ref.experiments.experiment import Experiment
from grpo_ref.experiments.group_mean import GROUP_MEAN
from grpo_ref.experiments.group_size import GROUP_SIZE, TWO_GRPO_MATCHES
from grpo_ref.experiments.kl_estimators import KL_ESTIMATORS
from grpo_ref.experiments.kl_optimum import KL_OPTIMUM
from grpo_ref.experiments.leave_one_out import LEAVE_ONE_OUT
from grpo_ref.experiments.length_bias import LENGTH_BIAS
from grpo_ref.experiments.ordinal import ORDINAL
from grpo_ref.experiments.overlong import OVERLONG
from grpo_ref.experiments.rare_gradient import RARE_GRADIENT
from grpo_ref.experiments.rare_tokens import RARE_TOKENS
from grpo_ref.experiments.ref_refresh import REF_REFRESH
from grpo_ref.experiments.reward_hacking import EARLY_STOPPING, HACKED_NAMES, REWARD_HACKING
from grpo_ref.experiments.reward_scales import REWARD_SCALES
from grpo_ref.experiments.sampler_mismatch import SAMPLER_MISMATCH
from grpo_ref.experiments.sequence_ratio import SEQUENCE_RATIO
from grpo_ref.experiments.soft_clipping import SOFT_CLIPPING
from grpo_ref.experiments.std_division import STD_DIVISION

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
