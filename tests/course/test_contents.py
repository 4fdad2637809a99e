"""The table of contents: every line has a module, and listing the course imports none of them."""

import subprocess
import sys

import pytest
from student import ROOT

from grpo_ref.course.contents import CHAPTERS, EXERCISES, exercises_in
from grpo_ref.course.exercises import PROBLEMS


def test_every_exercise_stands_in_one_chapter_in_order():
    assert [each.id for chapter in CHAPTERS for each in exercises_in(chapter)] == list(EXERCISES)
    assert {exercise.difficulty for exercise in EXERCISES.values()} == {"easy", "medium", "hard"}


def test_every_folder_is_listed():
    folder = ROOT / "grpo_ref/course/exercises"
    statements = folder.glob("*/*/statement.md")
    assert {path.parent.relative_to(folder).as_posix() for path in statements} == set(EXERCISES)


@pytest.mark.parametrize("name", EXERCISES)
def test_a_problem_has_the_points_of_the_table(name):
    problem, listed = PROBLEMS[name], EXERCISES[name]
    assert (problem.id, problem.difficulty, problem.points) == listed
    assert PROBLEMS[name] is problem


def test_what_is_not_listed_is_no_problem():
    assert "kl/nothing" not in PROBLEMS
    with pytest.raises(KeyError, match="kl/nothing"):
        PROBLEMS["kl/nothing"]


def test_listing_the_course_imports_no_exercise_and_no_array_library():
    code = "import sys, grpo_ref; before = set(sys.modules); import grpo_ref.course.commands.list;"
    code += "loaded = set(sys.modules) - before;"
    code += "print(sorted(name for name in loaded if 'numpy' in name or name.endswith('.tests')))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output == "[]\n"
