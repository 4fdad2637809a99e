"""The patterns of distributions: every row sums to 1, and each is what its name says."""

import numpy as np
import pytest

from grpo_ref.course.grading.domain import distributions
from grpo_ref.course.grading.domain.source import Dealer

VALUES = np.array([[0.5, -0.25, 0.25, 0.0], [0.0, 0.0, 0.0, 0.0]])
HOLDS = {
    distributions.PROPORTIONAL: lambda made: made.tolist() == [[0.5, 0.25, 0.25, 0.0], [1.0, 0.0, 0.0, 0.0]],
    distributions.CERTAIN: lambda made: ((made == 1.0).sum(-1) == 1).all(),
    distributions.NEARLY_CERTAIN: lambda made: (made.max(-1) >= 0.99).all(),
    distributions.QUARTERS: lambda made: (4.0 * made == np.floor(4.0 * made)).all(),
    distributions.ALIKE_THEN_ZEROS: lambda made: all(set(row) <= {0.0, row[0]} for row in made),
    distributions.SOME_TINY: lambda made: ((made == 0.0) | (made < 3e-12) | (made > 0.2)).all(),
}


@pytest.mark.parametrize("pattern", distributions.DISTRIBUTIONS, ids=lambda pattern: pattern.name)
def test_every_row_is_a_distribution_of_its_kind(pattern):
    for seed in range(20):
        made = pattern.make(Dealer(seed), VALUES.copy())
        assert made.shape == VALUES.shape
        assert (made >= 0.0).all()
        np.testing.assert_allclose(made.sum(-1), 1.0, rtol=1e-15)
        assert HOLDS[pattern](made)


@pytest.mark.parametrize("pattern", distributions.DISTRIBUTIONS, ids=lambda pattern: pattern.name)
def test_a_pattern_serves_a_single_distribution(pattern):
    assert pattern.make(Dealer(0), VALUES[0].copy()).shape == (4,)
