"""All wrong answers: those written by hand, and those that operators and wrappers make of right ones."""

import ast
import difflib
import itertools
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from grpo_ref.course.attack.grpo_operators import FIELD
from grpo_ref.course.attack.handwritten import collected
from grpo_ref.course.attack.operators import GENERAL, Operator
from grpo_ref.course.attack.rewriting import places, rewritten
from grpo_ref.course.attack.wrappers import (
    IN_PLACE,
    OF_RESULT,
    STATES,
    exchanged,
    kept_by,
    likened,
    masked,
    on_arguments,
    required,
    wrapped,
)
from grpo_ref.course.grading.domain.arguments import Mask, Real
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.input_checks import domain_of
from grpo_ref.course.grading.problem import Case, Problem

OPERATORS = (*FIELD, *GENERAL)
"""All operators, those of the field first: if two operators make the same text, the one with a sentence
counts.
"""
GENERAL_NAMES = frozenset((*(operator.name for operator in GENERAL), "other name"))
"""Operators whose sentences are less specific."""
OTHER_NAME = Operator("other name", "formula", ())
WRITTEN = "written by hand"
"""Used as the operator's name for answers written by hand."""


@dataclass(frozen=True)
class WrongAnswer:
    """One wrong answer.

    Attributes:
      text: the program.
      style: name of the right answer from which it was made.
      operator: name of the operator that changed it.
      kind: key of the mistake in `operators.KINDS`.
      sentence: explanation for a student whose answer returns the same values, or "".
      change: the changed line, before and after.
    """

    text: str
    style: str
    operator: str
    kind: str
    sentence: str
    change: str


MOST = 2500
"""Largest number of wrong answers. Long programs have more; then this many are chosen."""


def wrong_answers(problem: Problem, styles: Mapping[str, str], most: int = MOST) -> list[WrongAnswer]:
    """Return the wrong answers written by hand and the mutants of every right answer, or an even choice if
    these are too many.

    Args:
      problem: an exercise with a domain.
      styles: name of each right answer -> its text, which defines the requested function.
      most: largest number of mutants.
    """
    function = problem.function
    is_masked = any(isinstance(kind, Mask) for kind in domain_of(problem).arguments.values())
    texts = {_without_docstrings(text) for text in styles.values()}
    made: dict[str, WrongAnswer] = {}
    for name, text in styles.items():
        for wrong in _of_text(text, name, is_masked):
            if wrong.text not in texts:
                made.setdefault(wrong.text, wrong)
    name, text = next(iter(styles.items()))
    for wrong in (*_around(text, function, name, domain_of(problem)), _memorized(text, name, problem)):
        made.setdefault(wrong.text, wrong)
    sound = [wrong for wrong in made.values() if _compiles(wrong.text)]
    chosen = sound if len(sound) <= most else [sound[i * len(sound) // most] for i in range(most)]
    written = [
        WrongAnswer(each.text, name, WRITTEN, each.kind, each.sentence, each.sentence)
        for each in collected(problem.id)
    ]
    return [*written, *chosen]


def _of_text(text: str, style: str, is_masked: bool) -> Iterator[WrongAnswer]:
    """Yield the operators' mutants. If nothing is padding, sentences about padding are omitted."""
    before = _without_docstrings(text)
    tree = ast.parse(before)
    for body in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        rules = [(operator, rule) for operator in OPERATORS for rule in operator.rules]
        for operator, rule in rules:
            for after in rewritten(_code(body), tree, rule):
                wrong = _made(before, after, style, operator)
                yield wrong if is_masked or wrong.kind != "padding" else replace(wrong, sentence="")
        names = _names(body)
        for after in rewritten(_code(body), tree, lambda node, names=names: _other_names(node, names)):  # type: ignore[misc]
            yield _made(before, after, style, OTHER_NAME)


def _without_docstrings(text: str) -> str:
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            node.body = [each for each in node.body if not _is_docstring(each)] or [ast.Pass()]
    return ast.unparse(tree)


def _code(function: ast.FunctionDef) -> ast.AST:
    """Return the body without the signature; its nodes are shared."""
    return ast.Module(body=function.body, type_ignores=[])


def _is_docstring(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _names(function: ast.FunctionDef) -> list[str]:
    """Return the names of parameters and assigned variables."""
    stored = (
        node.id
        for _, node in places(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    arguments = [each.arg for each in (*function.args.args, *function.args.kwonlyargs)]
    return list(dict.fromkeys([*arguments, *stored]))


def _other_names(node: ast.AST, names: list[str]) -> list[ast.AST]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
        return [ast.Name(name, ast.Load()) for name in names if name != node.id]
    return []


def _made(before: str, after: str, style: str, operator: Operator) -> WrongAnswer:
    return WrongAnswer(
        after, style, operator.name, operator.kind, operator.sentence, change_of(before, after)
    )


def _around(text: str, function: str, style: str, domain: Domain) -> Iterator[WrongAnswer]:
    """Yield the right answer with changed arguments, a changed result, or a memory of earlier calls."""
    right = ast.unparse(ast.parse(text)) + "\n\n"

    def made(name: str, kind: str, sentence: str, change: str, **how: str) -> WrongAnswer:
        added = wrapped(function, domain, **how)
        return WrongAnswer(right + added, style, name, kind, sentence, change)

    for name, wrapper, code in on_arguments(domain):
        yield made(
            f"{name}: {wrapper.name}", wrapper.kind, wrapper.sentence.format(x=name), code, before=code
        )
    for name, other, code in exchanged(domain):
        yield made(
            f"{name} and {other}", "argument", f"Uses {other} where {name} belongs.", code, before=code
        )
    for name, other, code in kept_by(domain):
        sentence = f"Uses {name} of an earlier call with the same {other} again."
        yield made(f"{name} remembered by {other}", "state", sentence, code, before=code)
    for name, other, sentence, code in likened(domain):
        yield made(f"{name} like {other}", "near", sentence, code, before=code)
    for wrapper in OF_RESULT:
        for code in wrapper.codes:
            yield made(f"result: {wrapper.name}", wrapper.kind, wrapper.sentence, code, after=code)
    arrays = [name for name, kind in domain.arguments.items() if isinstance(kind, Real | Mask)]
    for name in arrays:
        code = f"np.asarray({{x}}).astype(np.asarray({name}).dtype)"
        yield made(
            "result: of the input's type",
            "type",
            f"Returns the result in the type of {name}.",
            code,
            after=code,
        )
    for values, mask in masked(domain):
        code = f"{mask} = np.asarray({mask}) * (np.asarray({values}) != 0)"
        sentence = f"Does not count entries of {values} that are 0, although {mask} counts them."
        yield made(f"{mask} taken from {values}", "rows", sentence, code, before=code)
    for name, (code, sentence) in itertools.product(arrays, IN_PLACE):
        yield _in_place(made, name, code, sentence, ", ".join(domain.arguments))
    for name, (body, sentence) in STATES.items():
        needed = required(list(domain.arguments), domain.arguments)
        if name == "defaults remembered" and needed.count(",") == len(domain.arguments):
            continue
        body = body.format(names=", ".join(domain.arguments), required=needed)
        yield made(name, "state", sentence, body, body=body)


def _in_place(made: Any, name: str, code: str, sentence: str, names: str) -> WrongAnswer:
    body = (
        f"_result = _right({names})\nif isinstance({name}, np.ndarray): {code.format(x=name)}\nreturn _result"
    )
    answer: WrongAnswer = made(f"{name} changed in place", "state", sentence.format(x=name), body, body=body)
    return answer


def _memorized(text: str, style: str, problem: Problem) -> WrongAnswer:
    """Return an answer that is right on the statement's examples, and half as large on other inputs."""
    names = ", ".join(domain_of(problem).arguments)
    shown = [check for check in problem.checks if isinstance(check, Case) and check.shown]
    body = (
        f"_result = _right({names})\n"
        f"if repr(({names}, ))[:-1] in {[repr(case.arguments)[:-1] for case in shown]!r}: return _result\n"
        "return 0.5 * np.asarray(_result)"
    )
    added = wrapped(problem.function, domain_of(problem), body=body)
    right = ast.unparse(ast.parse(text)) + "\n\n"
    sentence = "Returns the right value for the examples of the statement only."
    return WrongAnswer(right + added, style, "only the examples right", "formula", sentence, body)


def change_of(before: str, after: str) -> str:
    """Return the lines that differ, with a minus or a plus before each."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    kept = [line for line in lines if line[:3] not in ("---", "+++") and not line.startswith("@@")]
    return "\n".join(f"{line[0]} {line[1:].strip()}" for line in kept)


def _compiles(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<mutant>", "exec")
    except (SyntaxError, ValueError):
        return False
    return True
