"""The wrong answers written by hand: programs with a sentence each, to exercises that there are."""

import ast

import pytest

from grpo_ref.course.attack.handwritten import collected, parsed
from grpo_ref.course.exercises import PROBLEMS


@pytest.mark.parametrize("name", PROBLEMS)
def test_each_is_a_program_with_the_function_and_has_a_sentence(name):
    answers = collected(name)
    assert len(answers) > 10
    for each in answers:
        functions = [node.name for node in ast.parse(each.text).body if isinstance(node, ast.FunctionDef)]
        assert PROBLEMS[name].function in functions
        assert each.sentence.endswith(".")


def test_an_answer_goes_on_to_the_next_first_line():
    first = "# WRONG: One.\ndef f(x):\n    # WRONG: not a first line\n    return 1\n"
    text = first + "# WRONG: Two.\nf = abs\n"
    assert [each.sentence for each in parsed(text)] == ["One.", "Two."]
    assert parsed(text)[0].text.endswith("return 1\n")


def test_what_remembers_is_of_another_kind():
    text = "# WRONG: One.\nf = abs\n# REMEMBERS: The first call.\nf = min\n"
    assert [each.kind for each in parsed(text)] == ["formula", "state"]


def test_an_exercise_without_a_file_has_none():
    assert collected("toys/none") == []
