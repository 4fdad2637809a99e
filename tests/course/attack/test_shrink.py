"""Shrinking: what is left is smaller and rounder, lies in the domain, and still does its work."""

import numpy as np

from grpo_ref.course.attack.shrink import shrunk, steps
from grpo_ref.course.grading.domain.arguments import Real, Whole
from grpo_ref.course.grading.domain.domain import Domain, Draw
from grpo_ref.course.grading.input_checks import Rights

DRAW = Draw(
    {"values": [1.23456, -7.654321, 55.5], "mask": np.array([1, 0, 1]), "by": 3.14159}, 2, {"shape": "0"}
)


def shrink(problem, styles, works):
    rights = Rights(problem, styles)
    start = rights.candidate(DRAW)
    return shrunk(start, rights, lambda all_of_them: [works(each.input) for each in all_of_them]).input


def test_nothing_but_what_is_needed_is_left(problem, styles):
    found = shrink(problem, styles, lambda given: True)
    assert np.size(found.arguments[0]) == 1
    assert found.keywords == {}


def test_what_is_needed_stays(problem, styles):
    found = shrink(problem, styles, lambda given: 0 in given.arguments[1] and "by" in given.keywords)
    assert found.arguments[1].tolist() == [0]
    assert found.keywords == {"by": 3.0}
    assert isinstance(found.arguments[0], list)


def test_the_axis_is_shortened_in_all_arguments_and_never_below_the_domain(problem):
    for draw in steps(DRAW, problem.domain):
        lengths = {np.size(draw.values["values"]), np.size(draw.values["mask"])}
        assert len(lengths) == 1
        assert lengths <= {1, 2, 3}


ROWS = Domain({"rows": Real("N D", (-1, 1)), "place": Whole((0, "D - 1"))}, sizes={"N": (0, 2), "D": (1, 3)})


def test_a_list_that_becomes_empty_keeps_its_other_axes():
    shapes = {
        np.shape(draw.values["rows"]) for draw in steps(Draw({"rows": [[0.5, 0.5]], "place": 0}, 2), ROWS)
    }
    assert shapes == {(0, 2), (1, 1)}


def test_no_whole_number_is_left_beyond_an_axis():
    draw = Draw({"rows": [[0.5, 0.5, 0.5]], "place": 1}, 2)
    assert {np.shape(draw.values["rows"]) for draw in steps(draw, ROWS)} == {(0, 3), (1, 2)}


def test_rounding_stays_in_the_range(problem):
    low = Draw({"values": [99.96], "mask": [1], "by": 0.5001}, 2, {"shape": "0"})
    for draw in steps(low, problem.domain):
        assert max(draw.values["values"]) <= 100
        assert draw.values.get("by", 2.0) >= 0.5


def test_a_refused_input_is_left_alone(problem, styles):
    rights = Rights(problem, styles)
    refused = rights.candidate(Draw({"values": [1.5], "mask": [1], "by": 0}, 2, {}, "ValueError"))
    assert shrunk(refused, rights, lambda all_of_them: [True] * len(all_of_them)) is refused
