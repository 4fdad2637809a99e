"""The kill matrix and the near misses, on the exercise that is no part of the course."""

from dataclasses import replace

import numpy as np
from little_exercise import EXERCISE, mean_row

from grpo_ref.course.grading.kill_matrix import kill_matrix, near_misses
from grpo_ref.course.grading.problem import Case


def test_the_matrix_names_the_checks_that_catch_each_wrong_answer():
    # the mean along the second axis of a vector raises, as it has none; the sum along the first one does not
    assert kill_matrix(EXERCISE) == {
        "mean of the columns": ("Two rows", "Random rows"),
        "sum": ("Two rows", "Random rows", "One axis is refused"),
    }


def test_a_third_of_the_tolerance_passes_and_three_times_it_does_not():
    assert near_misses(EXERCISE) == (True, True)


def test_a_check_that_looks_at_nothing_has_no_tolerance():
    case = Case("Anything", ([[0.0], [0.0]],), np.zeros(1), why="the mean of zeros is zero, times any factor")
    assert near_misses(replace(EXERCISE, checks=(case,))) == (True, False)


def test_truth_values_have_no_near_miss():
    case = Case("Is it large?", ([[2.0], [4.0]],), np.array([True]), why="3 is more than 2")
    problem = replace(EXERCISE, reference=lambda rows: mean_row(rows) > 2.0, checks=(case,))
    assert near_misses(problem) == (True, True)
