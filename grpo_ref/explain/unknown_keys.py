"""Guess from the name of a key that a trainer does not have which parts of the objective a fork's key changes."""

import re
from typing import Any

from grpo_ref.explain.dialect import COMPLETIONS

HINTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"n_traj(s|ectories)?\b|num_samples|samples_per_(prompt|question)|group_size|n_agent", (COMPLETIONS,)),
    (r"num_generations|n(um)?_rollouts|rollouts_per|rollout[_.]n\b|grpo\.n\b|actor\.n\b", (COMPLETIONS,)),
    (r"\bn_samples\b", (COMPLETIONS,)),
    (r"\bkld?\b", ("kl_coef",)),
    (r"entropy|\bent coef", ("bonus",)),
    (r"mask_trunc|truncated_(samples|completions)|overlong_filter|filter_(overlong|truncated)", ("admit",)),
    (r"overlong|length_penalty|length_reward|\blen_reward", ("reward",)),
    (r"\b[tm]is\b|truncated_importance|icepop|imp_weight_cap", ("corrections",)),
    (
        r"off_policy|importance|\bseq_is\b|\bis_(weight|cap|clip)|imp_(weight|ratio)",
        ("surrogate", "corrections"),
    ),
    (r"\bagg\b|average_loss|loss_scale|token_mean|length_norm|\blen_norm", ("aggregate",)),
    (r"\bloss\b|objective", ("surrogate", "aggregate")),
    (r"clip|gspo|gmpo|cispo|sapo|simko|topr|dppo|vespo|flowrl", ("surrogate",)),
    (r"dr_?grpo", ("advantage", "aggregate")),
    (r"\badv(antages?)?\b|estimator|baseline|whiten|grpo", ("advantage",)),
    (r"filter_groups|dynamic_sampl|rejection_sampl|accuracy_(lower|upper)|accuracy_filter", ("keep",)),
    (r"filter_(accuracy|mode|std|reward)|(std|reward|online)_filter|oversampl", ("keep",)),
)
"""Patterns of names, each with the parts that such a key may change. The first match counts.

"\\b" also matches at an underscore.
"""
SILENT = re.compile(
    r"chunk|logging|dtype|\beval\b|\bval\b|\btest\b|wandb|swanlab|device|offload|\bgrad\b|\baux\b|critic"
    r"|\bpath\b|\bdir\b|\bsize\b(?<!group size)|\bmicro\b"
)
"""Patterns of names that never concern the objective, whatever else is in them."""
SAMPLING = {"rollout", "generator", "generation", "env", "tools"}
OF_SAMPLING = ((COMPLETIONS,), ("keep",))
"""`SAMPLING` are groups in which only the number of completions and the filter of groups affect the objective."""
OFF = {"", "none", "null", "off", "no", "false", "vanilla", "default", "standard", "ppo"}
SWITCHES = ("enable", "enabled", "use")
SWITCHED_OFF = re.compile(
    r"(use|with|enable|do|apply)_(adv|std|norm|whiten)|(norm|divide|scale)\w*_by_std|_use_adv"
)
"""Names of switches of forks that change the advantage when they are off, as what they switch is part of GRPO."""
OTHER_FAMILY = re.compile(r"(^|[_-])(gae|ppo|dpo|kto|sft|critic|gkd|opd|distill\w*)([_-]|$)")
"""Estimators of other families: with a critic, from preferences, or from a teacher."""
OTHER_LOSS = re.compile(r"\b(tb_(type|loss|coef)|trajectory_balance|flowrl|gflownet|dpo|kto)\b")
"""Patterns of keys of forks with a loss without a surrogate, such as trajectory balance or preferences."""


def touched(key: str, value: Any, keys: dict[str, Any]) -> tuple[str, ...]:
    """Return the parts of the objective that a fork's key may change, by its name; none if the key is off.

    Args:
      key: a dotted key that the trainer does not have.
      value: value of the key.
      keys: all given keys. They may switch the key's group off.

    >>> touched("actor.loss_mode", "kl_cov", {}), touched("actor.loss_mode", "vanilla", {})
    (('surrogate', 'aggregate'), ())
    """
    *groups, last = key.split(".")
    path = re.sub("_", " ", key.lower())
    if value is False and SWITCHED_OFF.search(last.lower()):
        return ("advantage",)
    if is_off(value) or SILENT.search(path) or _is_switched_off(key, keys):
        return ()
    parts = next((parts for hint, parts in HINTS if re.search(_spaced(hint), path)), ())
    return parts if parts in OF_SAMPLING or not SAMPLING & set(groups) else ()


def _spaced(hint: str) -> str:
    """Return the pattern for a name whose words are separated by blanks."""
    return hint.replace("_", " ")


def is_off(value: Any) -> bool:
    """Return true if a value switches its key off.

    >>> is_off("vanilla"), is_off(0.0), is_off("kl_cov")
    (True, True, False)
    """
    return value in (None, False, 0, [], {}) or (isinstance(value, str) and value.lower() in OFF)


def _is_switched_off(key: str, keys: dict[str, Any]) -> bool:
    """Return true if the group of a key has a switch that is off."""
    group = key.rpartition(".")[0]
    return any(keys.get(f"{group}.{switch}", True) is False for switch in SWITCHES)
