"""Programs that pass their keys on to a trainer that has a dialect, with the names that the keys have there."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Relay(NamedTuple):
    """A program that passes its keys on and is not a trainer of its own.

    Attributes:
      title: name and version of the program, for display.
      trainer: the dialect that receives the keys.
      version: version of that trainer that the program requires, or "".
      signs: keys that all files of the program have, each with its possible values there.
      groups: each group whose keys are passed on, with the group that receives them.
      renamed: keys that are passed on under another name, or from outside the groups.
      defaults: values that the program passes on where a file sets nothing.
    """

    title: str
    trainer: str
    version: str
    signs: Mapping[str, tuple[Any, ...]]
    groups: Mapping[str, str]
    renamed: Mapping[str, str]
    defaults: Mapping[str, Any]


RELAYS = (
    Relay(
        title="axolotl 067b021c (July 2026)",
        trainer="trl",
        version="1.8.0",
        signs={"rl": ("grpo",)},
        groups={"trl.": ""},
        renamed={
            "rl_beta": "beta",
            "gradient_accumulation_steps": "gradient_accumulation_steps",
            "trl.use_liger_loss": "use_liger_kernel",
        },
        defaults={"scale_rewards": True, "mask_truncated_completions": False},
    ),
    Relay(
        title="oumi d8ed0777 (August 2026)",
        trainer="trl",
        version="",
        signs={"training.trainer_type": ("TRL_GRPO", "trl_grpo")},
        groups={"training.grpo.": "", "training.trainer_kwargs.": ""},
        renamed={"training.gradient_accumulation_steps": "gradient_accumulation_steps"},
        defaults={"epsilon": 0.2},
    ),
    Relay(
        title="oumi d8ed0777 (August 2026)",
        trainer="verl",
        version="",
        signs={"training.trainer_type": ("VERL_GRPO", "verl_grpo")},
        groups={"training.verl_config_overrides.": ""},
        renamed={"training.grpo.num_generations": "actor_rollout_ref.rollout.n"},
        defaults={"algorithm.adv_estimator": "grpo"},
    ),
)


def relay_of(keys: Mapping[str, Any]) -> Relay | None:
    """Return the program whose keys these are, if it passes its keys on to a trainer; otherwise None."""
    fitting = (
        relay for relay in RELAYS if all(keys.get(key) in values for key, values in relay.signs.items())
    )
    return next(fitting, None)


def handed_on(relay: Relay, keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys that the trainer receives. All other keys are for the program alone.

    >>> handed_on(RELAYS[0], {"rl": "grpo", "trl.beta": 0.1, "trl.num_generations": 4, "learning_rate": 1e-6})
    {'scale_rewards': True, 'mask_truncated_completions': False, 'beta': 0.1, 'num_generations': 4}
    """
    handed = dict(relay.defaults)
    for key, value in keys.items():
        group = next((group for group in relay.groups if key.startswith(group)), None)
        if key in relay.renamed:
            handed[relay.renamed[key]] = value
        elif group is not None:
            handed[relay.groups[group] + key.removeprefix(group)] = value
    return handed
