"""Wrong implementations flip the verdict on what is claimed of networks."""

import pytest
from mutant_experiments import flips
from mutant_networks import NETWORK_MUTANTS

from grpo_ref.lab import EXPERIMENTS


@pytest.mark.parametrize("name", NETWORK_MUTANTS)
def test_a_mutant_flips_the_verdict(name):
    assert flips(EXPERIMENTS[name], NETWORK_MUTANTS[name])
