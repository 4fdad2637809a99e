"""The search: which inputs are fit to judge by, and which few of them are kept."""

import numpy as np
import pytest

from grpo_ref.course.attack.search import cover, pool
from grpo_ref.course.grading.domain.domain import Draw
from grpo_ref.course.grading.input_checks import SALTS, Candidate, Rights, function_of, nudged

SUM = "import numpy as np\ndef f(x):\n    return np.asarray(x, dtype=float).sum()"


def of(problem, text, **styles):
    """Rights of a function of x alone, with other right answers."""
    texts = {"the model answer": text, **styles}
    from dataclasses import replace

    changed = replace(problem, function="f", reference=function_of(text, "f"))
    return Rights(changed, texts)


def draw(*values):
    return Draw({"x": np.array(values)}, 1)


@pytest.fixture
def rights(problem):
    return lambda text, **styles: of(problem, text, **styles)


def test_an_input_on_which_all_agree_is_fit(rights):
    found = rights(SUM).candidate(draw(1.0, 2.5))
    assert isinstance(found, Candidate)
    assert found.input.expected == 3.5
    assert found.size == 2


SQUARES = "import numpy as np\ndef f(x):\n    x = np.asarray(x, dtype=float)\n    return x[0]**2 - x[1]**2"
UNFIT = {
    "another right answer differs": (
        SUM,
        {"other": "def f(x):\n    return x[0]"},
        "other differs",
    ),
    "the value is rounding error": (SQUARES, {}, "extended precision differs"),
    "the reference raises": ("def f(x):\n    return x.nothing", {}, "the reference raises AttributeError"),
    "the value is not finite": ("import numpy as np\ndef f(x):\n    return np.log(0 * x)", {}, "not finite"),
    "a jump": ("def f(x):\n    return float(x[0] < 0.3)", {}, "an ulp changes the value"),
}


@pytest.mark.parametrize(("text", "others", "reason"), UNFIT.values(), ids=UNFIT)
def test_an_input_is_unfit_for_a_reason(rights, text, others, reason):
    values = (0.3 - 2**-54, 0.7) if reason.startswith("an ulp") else (0.1 + 1e-12, 0.1)
    assert reason in rights(text, **others).candidate(draw(*values))


def test_what_must_be_refused_is_fit_if_all_refuse_it(problem, styles):
    refused = Draw({"values": [1.0], "mask": [1], "by": 0}, 2, {}, "ValueError")
    found = Rights(problem, styles).candidate(refused)
    assert found.input.raises == "ValueError"
    lenient = {**styles, "lenient": "def shares(values, mask, by=2.0):\n    return values"}
    assert "lenient does not refuse" in Rights(problem, lenient).candidate(refused)


def test_numbers_move_by_up_to_three_ulps_and_equal_ones_equally():
    before = np.array([0.3, 0.3, 0.7, 1.0, 0.25, np.nan])
    moved = [nudged(draw(*before), frozenset({0.25}), salt).values["x"] for salt in SALTS]
    assert {after[0] for after in moved} != {0.3}
    assert {after[2] for after in moved} != {0.7}
    for after in moved:
        assert after[0] == after[1]
        np.testing.assert_array_equal(after[3:], before[3:])
        assert np.abs(after[:3] - before[:3]).max() <= 3 * np.spacing(0.7)


def test_numbers_that_nearly_agree_move_apart():
    before = 1.0 + 1e-10 * np.arange(1, 50)
    steps = (nudged(draw(*before), frozenset()).values["x"] - before) / np.spacing(1.0)
    assert set(np.rint(steps)) == {-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0}


def test_the_pool_is_sorted_by_size_and_says_why_others_are_out(problem, styles):
    candidates, unfit = pool(Rights(problem, styles), 0, 200)
    sizes = [each.size for each in candidates]
    assert sizes == sorted(sizes)
    assert len(candidates) + sum(map(len, unfit.values())) == 200
    assert sum(bool(each.input.raises) for each in candidates) == 10


COVERS = {
    "one input for all": ({"a": [0, 2], "b": [1, 2]}, [1, 1, 1], 1, [2]),
    "a small one rather than a large one": ({"a": [0, 1]}, [100, 2], 1, [1]),
    "three times each": ({"a": [0, 1, 2, 3]}, [1, 1, 1, 1], 3, [0, 1, 2]),
    "as often as it can be": ({"a": [3]}, [1, 1, 1, 1], 3, [3]),
    "nothing to tell apart": ({}, [1], 3, []),
}


@pytest.mark.parametrize(("kills", "sizes", "times", "chosen"), COVERS.values(), ids=COVERS)
def test_a_cover(kills, sizes, times, chosen):
    assert cover(kills, sizes, times) == chosen
