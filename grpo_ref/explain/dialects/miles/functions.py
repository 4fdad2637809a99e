"""Functions of miles under the names of slime, which has them in other modules."""

from collections.abc import Mapping
from typing import Any

from grpo_ref.explain.dialect import one_of
from grpo_ref.explain.dialects.slime.refusals import FILTERS, LOSS, MISMATCH
from grpo_ref.explain.settings import Settings

OF_MILES = "miles.backends.training_utils.loss_hub.corrections"
SAME: Mapping[str, Mapping[str | None, str | None]] = {
    "custom_tis_function_path": {
        None: None,
        f"{OF_MILES}.vanilla_tis_function": f"{LOSS}.vanilla_tis_function",
        f"{OF_MILES}.icepop_function": f"{LOSS}.icepop_function",
        f"examples.infra_features.{MISMATCH.removeprefix('examples.')}": MISMATCH,
    },
    "dynamic_sampling_filter_path": {
        None: None,
        f"{FILTERS.replace('slime', 'miles', 1)}.check_reward_nonzero_std": f"{FILTERS}.check_reward_nonzero_std",
    },
}
"""For each key, the functions of miles that can be explained, each with the one of slime that computes the same."""


def as_in_slime(s: Settings) -> Settings:
    """Return the settings with slime's name of each function, and with fully_async as a rollout function.

    Args:
      s: every key of miles with its value.

    Raises:
      ValueError: if a function is unknown.
    """
    named: dict[str, Any] = {key: one_of(key, s[key], names) for key, names in SAME.items()}
    if s.fully_async:
        named["rollout_function_path"] = "miles.rollout.fully_async_rollout.FullyAsyncRolloutFn"
    return s.replaced(named)


def as_in_miles(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration of slime with miles's name of each function.

    >>> as_in_miles({"custom_tis_function_path": "slime.backends.megatron_utils.loss.icepop_function"})
    {'custom_tis_function_path': 'miles.backends.training_utils.loss_hub.corrections.icepop_function'}
    """
    names = {key: {theirs: ours for ours, theirs in same.items()} for key, same in SAME.items()}
    return {key: names[key][value] if key in names else value for key, value in config.items()}
