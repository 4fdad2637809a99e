"""A claim: the experiments that test it, one with a table and one with a network, or only one of them.

The files of a claim are in one folder, which has the name of the claim.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from grpo_ref.lab.framework.experiment import Experiment

Policy = Literal["table", "network"]
"""Kind of the policy that an experiment trains."""
POLICIES: tuple[Policy, ...] = ("table", "network")
"""The policies, in the order of a page."""


class Claim(NamedTuple):
    """A claim and the experiments that test it.

    Attributes:
      name: name of the claim, and of its folder.
      experiments: policy -> experiment, the table first.
    """

    name: str
    experiments: Mapping[Policy, Experiment]

    @property
    def first(self) -> Experiment:
        """The experiment with a table, or the one with a network if there is no table."""
        return next(iter(self.experiments.values()))


def claims_of(experiments: Mapping[str, Experiment]) -> dict[str, Claim]:
    """Return the claims of some experiments by name, in the order of the experiments."""
    grouped: dict[str, dict[Policy, Experiment]] = {}
    for experiment in experiments.values():
        grouped.setdefault(claim_name(experiment), {})[experiment.policy] = experiment
    return {
        name: Claim(name, {policy: tested[policy] for policy in POLICIES if policy in tested})
        for name, tested in grouped.items()
    }


def claim_name(experiment: Experiment) -> str:
    """Return the name of the claim that an experiment tests."""
    return experiment.beside or experiment.name
