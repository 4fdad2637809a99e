"""The patterns of rows: each is what its name says."""

import numpy as np
import pytest

from grpo_ref.course.grading.domain import rows
from grpo_ref.course.grading.domain.source import Dealer

VALUES = np.array([[1.5, -2.0, 0.25, 7.0], [3.0, 3.5, -1.0, 0.5]])


def distances(made):
    return np.abs(made - made[:, :1]).max(axis=1)


HOLDS = {
    rows.MIXED: lambda made: np.array_equal(made, VALUES),
    rows.BINARY: lambda made: set(made.ravel()) <= {0.0, 1.0},
    rows.LEVELS: lambda made: set(made.ravel()) <= {1.5, -2.0, 0.25},
    rows.CONSTANT: lambda made: (made == [[1.5], [3.0]]).all(),
    rows.SOME_CONSTANT: lambda made: all(
        (now == before[0]).all() or (now == before).all() for now, before in zip(made, VALUES, strict=True)
    ),
    rows.NEAR_TIES: lambda made: (distances(made) <= 6e-2 * 3.0).all() and (distances(made) > 0).all(),
    rows.SOME_NEAR_TIES: lambda made: all(
        (now == before).all() or (abs(now - before[0]) <= 6e-2 * 3.0).all()
        for now, before in zip(made, VALUES, strict=True)
    ),
    rows.HAIRS_APART: lambda made: (distances(made) <= 1e-12 * 6.1).all(),
    rows.OFFSET_ROWS: lambda made: np.allclose(made - made[:, :1], VALUES - VALUES[:, :1], atol=1e-9),
    rows.SCALED_ROWS: lambda made: np.allclose(made / made[:, :1], VALUES / VALUES[:, :1]),
    rows.ONE_FAR_OUT: lambda made: made[:, -1].tolist() == [700.0, 50.0],
    rows.AROUND_THE_FIRST: lambda made: (
        (made == np.round(made)).all()
        and ((made - made[:, :1]).sum(1) == 0).all()
        and (made[:, 1] != made[:, 0]).any()
    ),
    rows.IN_ORDER: lambda made: (np.diff(made) >= 0).all(),
}


@pytest.mark.parametrize("pattern", HOLDS, ids=lambda pattern: pattern.name)
def test_a_pattern_is_what_its_name_says(pattern):
    for seed in range(20):
        made = pattern.make(Dealer(seed), VALUES.copy())
        assert made.shape == VALUES.shape
        assert HOLDS[pattern](made)


@pytest.mark.parametrize("pattern", HOLDS, ids=lambda pattern: pattern.name)
def test_a_pattern_serves_one_row_without_an_axis_before_it(pattern):
    assert pattern.make(Dealer(0), VALUES[0].copy()).shape == (4,)


def test_a_pattern_can_run_along_the_last_axis_but_one():
    made = rows.one_axis_before(rows.IN_ORDER).make(Dealer(0), VALUES.copy())
    assert made.tolist() == [[1.5, -2.0, -1.0, 0.5], [3.0, 3.5, 0.25, 7.0]]
