"""The course is proved from both sides: starters fail, solutions pass, every wrong answer is caught."""

import numpy as np
import pytest
from student import ROOT

from grpo_ref.course.exercises import PROBLEMS, hints_of
from grpo_ref.course.grading.diagnosis import MISTAKES, mistakes
from grpo_ref.course.grading.domain.arguments import Real
from grpo_ref.course.grading.found_cases import FoundCases, compared_inputs
from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.kill_matrix import near_misses
from grpo_ref.course.grading.problem import AS_GIVEN
from grpo_ref.course.grading.sampled_check import own_checks
from grpo_ref.course.layout import exercise_folder, file_of
from grpo_ref.course.marking import mark
from grpo_ref.course.starters import starter_of
from grpo_ref.course.workbook import Workbook

EACH = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)


@EACH
def test_the_reference_passes(problem):
    report = grade(problem, problem.reference)
    assert report.status == "passed", [result for result in report.results if not result.passed]


@EACH
def test_a_known_mistake_has_a_symbol_for_every_call_with_a_known_value(problem):
    """Otherwise run `grpo-ref dev attack` for the exercise: its cases have changed since."""
    calls = sum(len(compared_inputs(check)) for check in problem.checks)
    assert {len(each.symbols) for each in mistakes(exercise_folder(problem.id) / MISTAKES)} == {calls}


@EACH
def test_every_wrong_answer_is_caught_and_reads_its_own_sentence(problem):
    """The first of several sentences for the same values wins. Errors and changed inputs have no value.

    Every check of the problem itself catches one of the answers.
    """
    sentences = [mutant.tell for mutant in problem.mutants]
    assert len(sentences) >= 6
    idle = {check.name for check in own_checks(problem)}
    for mutant in problem.mutants:
        report = grade(problem, mutant.function)
        failed = [each for each in report.results if not each.passed]
        assert failed, mutant.name
        if any(not each.raised and "an input was" not in each.wrong for each in failed):
            assert report.diagnosis in sentences[: sentences.index(mutant.tell) + 1], mutant.name
        idle -= {each.name for each in failed}
    assert not idle


@EACH
def test_hidden_cases_lie_within_what_the_statement_allows(problem):
    kinds = problem.domain.arguments
    for given in (each for check in problem.checks if isinstance(check, FoundCases) for each in check.inputs):
        values = dict(zip(kinds, given.arguments, strict=False)) | given.keywords
        for name, kind in kinds.items():
            if isinstance(kind, Real) and not kind.padding and name in values and not given.raises:
                sizes, (low, high) = np.asarray(values[name], dtype=float), kind.within
                assert ((low <= sizes) & (sizes <= high)).all()
                assert ((sizes == 0) | (abs(sizes) >= kind.least)).all()


@EACH
def test_the_hints_can_be_read_without_the_problem(problem):
    """They are written out in its module, as texts and nothing else."""
    assert hints_of(problem.id) == problem.hints


@EACH
def test_the_solution_passes(problem):
    report = grade(problem, ROOT / "solutions" / file_of(problem.id))
    assert report.status == "passed", [result for result in report.results if not result.passed]
    assert report.warnings == ()


@EACH
def test_the_starter_is_not_started_and_up_to_date(problem):
    path = ROOT / "exercises" / file_of(problem.id)
    assert mark(Workbook(ROOT / "exercises", pytest.fail), problem.id).status == "not started"
    assert path.read_text(encoding="utf-8") == starter_of(problem.id), "run: grpo-ref dev build"


@EACH
def test_a_starter_does_not_pass_even_if_it_counts_as_an_answer(problem):
    """Those of the clinic run, and are wrong: at least two of their tests fail."""
    report = grade(problem, ROOT / "exercises" / file_of(problem.id))
    assert report.status == ("failed" if is_to_be_mended(problem) else "not started")
    if is_to_be_mended(problem):
        assert sum(not result.passed for result in report.results) >= 2
        assert report.diagnosis == next(m.tell for m in problem.mutants if m.name == AS_GIVEN)


def is_to_be_mended(problem):
    return AS_GIVEN in {mutant.name for mutant in problem.mutants}


@EACH
def test_an_answer_of_zeros_earns_nothing(problem):
    def zeros(*arguments, **keywords):
        return emptied(problem.reference(*arguments, **keywords))

    assert grade(problem, zeros, explain=False).points == 0


def emptied(value):
    """Zeros, empty text or nothing in the place of a value, in the same form."""
    if isinstance(value, tuple):
        return tuple(map(emptied, value))
    if isinstance(value, dict):
        return {name: emptied(item) for name, item in value.items()}
    return "" if isinstance(value, str) else np.zeros_like(value)


@EACH
def test_the_tolerance_is_as_declared(problem):
    assert near_misses(problem) == (True, True)


@EACH
def test_verdicts_do_not_hang_on_the_seed(problem):
    for seed in range(5):
        assert grade(problem, problem.reference, seed=seed).status == "passed"


def test_the_problem_the_course_grew_from_keeps_its_five_tests():
    names = [check.name for check in PROBLEMS["objective/grpo_objective"].checks]
    assert names[:5] == [
        "Reference example",
        "Matching policies make KL ~ 0; objective ~ mean advantage",
        "Large ratio with positive advantage is clipped",
        "Length mismatch raises ValueError",
        "Larger beta lowers the objective when KL > 0",
    ]
