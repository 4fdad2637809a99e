"""The public names, in the order of the pipeline, each imported when it is first used.

`__init__.py` reads this list, and so do type checkers: `name as name` marks a name as public. `make docs`
copies the list, with one line for each name, into the docstring of the package.
"""

from .version import __version__ as __version__
from .loss import policy_loss as policy_loss, policy_loss_from_rewards as policy_loss_from_rewards
from .fast.logits import (
    policy_loss_from_logits as policy_loss_from_logits,
    token_log_probs as token_log_probs,
)
from .objective import grpo_objective as grpo_objective
from .recipes import (
    RECIPES as RECIPES,
    Recipe as Recipe,
    slot as slot,
    GRPO as GRPO,
    DR_GRPO as DR_GRPO,
    DAPO as DAPO,
    RLOO as RLOO,
    REINFORCE as REINFORCE,
)
from .advantages import group_normalized as group_normalized
from .tasks import TASKS as TASKS
from .training import train as train, iter_train as iter_train
from .learning.config import config_for as config_for
from .check.compare import check as check
from .check.slopes import check_slope as check_slope
from .explain.report import explain as explain
from .diagnose.diagnosis import diagnose as diagnose
from . import (
    rewards as rewards,
    filters as filters,
    advantages as advantages,
    levels as levels,
    surrogates as surrogates,
    penalties as penalties,
    aggregation as aggregation,
    corrections as corrections,
    recipes as recipes,
    tasks as tasks,
    learning as learning,
    types as types,
    arrays as arrays,
    fast as fast,
    plots as plots,
    course as course,
    lab as lab,
)
