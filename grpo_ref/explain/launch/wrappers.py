"""Programs that pass their keys on to a trainer that has a dialect, with the names that the keys have there."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from grpo_ref.explain.launch.detection import pinned

NO_PINS: Mapping[str, str] = MappingProxyType({})
AXOLOTL_PINS: Mapping[str, str] = MappingProxyType(
    {
        **{"0.8.0": "0.16.0", "0.8.1": "0.16.1", "0.9.0": "0.17.0", "0.9.1": "0.17.0", "0.9.2": "0.17.0"},
        **{
            "0.10.0": "0.18.1",
            "0.10.1": "0.18.2",
            "0.11.0": "0.18.2",
            "0.12.0": "0.21.0",
            "0.12.1": "0.21.0",
        },
        **{
            "0.12.2": "0.21.0",
            "0.13.0": "0.25.0",
            "0.13.1": "0.25.1",
            "0.13.2": "0.27.0",
            "0.14.0": "0.27.1",
        },
        **{"0.15.0": "0.29.0", "0.16.0": "0.29.0", "0.16.1": "0.29.0", "0.17.0": "1.5.1", "0.18.0": "1.8.0"},
    }
)
"""The TRL release that each release of axolotl requires, from its requirements.txt or pyproject.toml at the tag."""


class Relay(NamedTuple):
    """A program that passes its keys on and is not a trainer of its own.

    Attributes:
      title: name and version of the program, for display.
      package: name under which the program is installed.
      trainer: the dialect that receives the keys.
      signs: keys that all files of the program have, each with its possible values there.
      groups: each group whose keys are passed on, with the group that receives them.
      renamed: keys that are passed on under another name, or from outside the groups.
      defaults: values that the program passes on where a file sets nothing, and that differ from the trainer's own.
      pins: the release of the trainer that each release of the program requires.
    """

    title: str
    package: str
    trainer: str
    signs: Mapping[str, tuple[Any, ...]]
    groups: Mapping[str, str]
    renamed: Mapping[str, str]
    defaults: Mapping[str, Any]
    pins: Mapping[str, str] = NO_PINS

    def version(self, text: str) -> str:
        """Return the release of the trainer that a text requests, itself or through a release of the program; else "".

        >>> RELAYS[0].version("pip install axolotl==0.9.2"), RELAYS[0].version("rl: grpo")
        ('0.17.0', '')
        """
        return self.pins.get(pinned(text, self.package), "")

    @property
    def caution(self) -> str:
        """A sentence on the release of the trainer, for a file that states none."""
        return (
            f"{self.package} chooses the release of {self.trainer}, and the file does not state a release of"
            f" {self.package}. Name the installed one with --version."
        )


AXOLOTL = Relay(
    title="axolotl 067b021c (July 2026)",
    package="axolotl",
    trainer="trl",
    signs={"rl": ("grpo",)},
    groups={"trl.": ""},
    renamed={
        "rl_beta": "beta",
        "gradient_accumulation_steps": "gradient_accumulation_steps",
        "trl.use_liger_loss": "use_liger_kernel",
    },
    defaults={},
    pins=AXOLOTL_PINS,
)
OUMI_GROUPS = {"training.grpo.": "", "training.trainer_kwargs.": ""}
RELAYS = (
    AXOLOTL,
    AXOLOTL._replace(signs={"rl": ("gdpo",)}, defaults={"multi_objective_aggregation": "normalize_then_sum"}),
    Relay(
        title="oumi d8ed0777 (August 2026)",
        package="oumi",
        trainer="trl",
        signs={"training.trainer_type": ("TRL_GRPO", "trl_grpo")},
        groups=OUMI_GROUPS,
        renamed={"training.gradient_accumulation_steps": "gradient_accumulation_steps"},
        defaults={},
    ),
    Relay(
        title="oumi d8ed0777 (August 2026)",
        package="oumi",
        trainer="verl",
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

    >>> handed_on(RELAYS[1], {"rl": "gdpo", "trl.beta": 0.1, "trl.num_generations": 4, "learning_rate": 1e-6})
    {'multi_objective_aggregation': 'normalize_then_sum', 'beta': 0.1, 'num_generations': 4}
    """
    handed = dict(relay.defaults)
    for key, value in keys.items():
        group = next((group for group in relay.groups if key.startswith(group)), None)
        if key in relay.renamed:
            handed[relay.renamed[key]] = value
        elif group is not None:
            handed[relay.groups[group] + key.removeprefix(group)] = value
    return handed


class Launcher(NamedTuple):
    """A program that is not part of a trainer and reads the keys of that trainer.

    Attributes:
      pattern: pattern of its module or of the path of its script.
      trainer: the dialect of the keys.
      caution: a sentence on the difference from the trainer's own program.
    """

    pattern: str
    trainer: str
    caution: str


LAUNCHERS = (
    Launcher(
        r"examples\.(train\.)?(fully_)?async\.\S+",
        "skyrl",
        "It is SkyRL's asynchronous program: completions come from a policy that is at least one step older than the one"
        " that is trained.",
    ),
    Launcher(
        r"rllm\.\S+",
        "verl",
        "It is rLLM, which computes the advantages of trajectories and steps in its own code. Its groups rllm.* and agent.*"
        " may change the advantages, the groups and the filter.",
    ),
)
"""Programs whose name identifies the trainer, checked only if the keys fit the trainer."""


def launcher_of(program: str, trainer: str) -> Launcher | None:
    """Return the known launcher that a program is, if it reads the keys of the trainer; otherwise None.

    Args:
      program: the module or path of a script that is started.
      trainer: the dialect that the keys identify.

    >>> launcher_of("examples.train.async.main_async", "skyrl").trainer
    'skyrl'
    """
    fitting = (each for each in LAUNCHERS if each.trainer == trainer and re.fullmatch(each.pattern, program))
    return next(fitting, None)
