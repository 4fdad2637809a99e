"""Exercises as text: whole statements, and starters cut out of model answers."""

import ast
import doctest
import re
from pkgutil import resolve_name

import numpy as np
import pytest
from little_exercise import EXERCISE
from student import ROOT

from grpo_ref.course.exercises import PROBLEMS, translated
from grpo_ref.course.grading.judge import agree
from grpo_ref.course.grading.problem import Case
from grpo_ref.course.layout import model_answer
from grpo_ref.course.rendering.phrases import PHRASES
from grpo_ref.course.rendering.statement import starter, statement
from grpo_ref.course.statement_file import DIFFICULTIES, LANGUAGES
from grpo_ref.lab import EXPERIMENTS
from grpo_ref.recipes import RECIPES

EACH = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
MOST_WORDS = 265
"""Before the first example, without the table of the inputs."""


@EACH
def test_the_statement_is_whole(problem):
    text = statement(problem)
    headings = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert [each for each in headings if each != "When it is solved"] == ["Your task", "Examples", "See also"]
    assert len(problem.text.split(">>>")[0].split()) <= MOST_WORDS
    assert "{inputs}" in problem.text
    assert max(map(len, text.splitlines())) <= 110
    assert all(mutant.tell.endswith(".") for mutant in problem.mutants)
    assert len({check.name for check in problem.checks}) == len(problem.checks)


@EACH
def test_what_a_statement_refers_to_exists(problem):
    text = statement(problem)
    if problem.recipe:
        assert f"grpo-ref recipes {problem.recipe}" in text
        assert problem.recipe in RECIPES
    if problem.claim:
        assert f"grpo-ref experiment run {problem.claim} --quick" in text
        assert problem.claim in EXPERIMENTS
    if problem.derivation:
        assert (ROOT / "docs/derivation" / f"{problem.derivation}.md").is_file()
    if problem.notebook:
        assert (ROOT / "notebooks" / f"{problem.notebook}.ipynb").is_file()
    if problem.kernel:
        assert callable(resolve_name(problem.kernel))


@EACH
def test_the_function_has_the_signature_of_the_model_answer(problem):
    functions = {
        node.name: ast.unparse(node.args)
        for node in ast.parse(model_answer(problem.id)).body
        if isinstance(node, ast.FunctionDef)
    }
    (written,) = ast.parse(f"def {problem.signature}: ...").body
    assert ast.unparse(written.args) == functions[written.name]


@EACH
def test_the_examples_are_the_shown_cases(problem):
    """They have the same arguments and, to six digits, the same values, in the same order."""
    examples = doctest.DocTestParser().get_examples(problem.text)
    shown = [check for check in problem.checks if isinstance(check, Case) and check.shown]
    assert len(examples) == len(shown) > 0
    for example, case in zip(examples, shown, strict=True):
        call = ast.parse(example.source.strip(), mode="eval").body
        assert call.func.id == problem.function
        arguments = [ast.literal_eval(each) for each in call.args]
        keywords = {each.arg: ast.literal_eval(each.value) for each in call.keywords}
        assert len(arguments) == len(case.arguments)
        assert all(map(same, arguments, case.arguments)), case.name
        assert keywords.keys() == case.keywords.keys()
        assert all(same(keywords[name], case.keywords[name]) for name in keywords)
        assert agree(ast.literal_eval(example.want), case.expected, 1e-5), case.name


def same(written, given):
    """Compare an input of an example with that of a case; the example may have six digits."""
    if isinstance(given, str) or given is None:
        return written == given
    if isinstance(given, dict):
        return written.keys() == given.keys() and all(same(written[name], given[name]) for name in given)
    return bool(np.allclose(written, np.asarray(given, dtype=float), rtol=1e-5, atol=1e-8))


def test_prose_is_as_wide_as_is_asked_for():
    text = statement(PROBLEMS["advantages/centered"], width=60)
    prose = [line for line in text.splitlines() if not line.startswith(("    ", "Check", "|", "Easy"))]
    assert 50 < max(map(len, prose)) <= 60
    assert text.split() == statement(PROBLEMS["advantages/centered"]).split()


ANSWER = '''"""Model answer: mean of the rows."""

import numpy as np


def mean_row(rows):
    """The mean."""
    # solution
    return np.asarray(rows).mean(0)
    # end
'''


def test_a_starter_is_the_statement_and_the_answer_without_its_solution():
    text = starter(EXERCISE, ANSWER)
    assert text.startswith('"""Mean of the rows\n\nEasy, 4 points. GRADING.md says how answers are graded.')
    assert "## Your task\n\nWrite `mean_row(rows)`.\n\nReturn the mean." in text
    assert "## Examples\n\n    >>> mean_row([[1, 2], [3, 6]])\n    [2, 4]\n" in text
    assert text.endswith('    """The mean."""\n    raise NotImplementedError("tests/mean_row")\n')


def test_a_program_to_be_mended_is_put_in_the_place_of_the_solution():
    text = starter(EXERCISE, ANSWER.replace("    # end", "    # instead: return rows\n    # end"))
    assert text.endswith('    """The mean."""\n    return rows\n')
    assert "NotImplementedError" not in text


@pytest.mark.parametrize("answer", ["def mean_row(rows): ...", ANSWER.replace("# solution", "")])
def test_a_model_answer_without_its_marks_is_refused(answer):
    with pytest.raises(
        ValueError, match="a model answer begins with a docstring and has a line '# solution'"
    ):
        starter(EXERCISE, answer)


def test_the_phrases_of_every_language_have_the_same_fields():
    assert set(PHRASES) == set(LANGUAGES)
    for phrases in PHRASES.values():
        assert set(phrases.difficulty) == set(DIFFICULTIES)
        for ours, theirs in zip(PHRASES["en"], phrases, strict=True):
            missing = fields(ours) - fields(theirs) if isinstance(ours, str) else set()
            assert missing <= {"s", "step"}, theirs  # the ending of a plural, and a name in English


def fields(text):
    return set(re.findall(r"\{(\w+)\}", text))


def test_a_chinese_statement_is_whole_and_fits_a_terminal():
    problem = translated(PROBLEMS["ratios/sapo"], "zh")
    text = statement(problem, width=80)
    headings = re.findall(r"^## (.+)", text, re.MULTILINE)
    assert headings == ["任务", "示例", "完成之后", "另见"]
    assert text.startswith("SAPO 的软门控\n\n中等，2 分。评分规则见 GRADING.md。\n")
    assert f"\n编写 `{problem.signature}`。\n" in text
    prose = [line for line in text.splitlines() if not line.startswith(("|", " "))]
    assert max(sum(2 if ord(letter) > 0x2E80 else 1 for letter in line) for line in prose) <= 82
    assert not any(line.startswith(tuple("，。：；）")) for line in prose)
