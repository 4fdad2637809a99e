"""The right answers to an exercise: the model answer, and right answers in other styles.

The styles of an exercise are in the file `right.py` of its folder. Every public function is a complete right
answer, named after its style; names with an underscore are helpers. Wrong answers are made from them. An
input on which they differ is not used for grading.
"""

import ast
from functools import cache
from typing import TYPE_CHECKING

from grpo_ref.course.layout import exercise_folder, model_answer

if TYPE_CHECKING:
    from grpo_ref.course.grading.problem import Problem

NUMPY = "import numpy as np"
"""Import that every text contains, because the operators insert NumPy functions."""


def right_answers(problem: "Problem") -> dict[str, str]:
    """Return the text of each right answer to an exercise of the course by name, the model answer first."""
    path = exercise_folder(problem.id) / "right.py"
    others = styles(path.read_text(encoding="utf-8"), problem.function) if path.is_file() else {}
    texts = {"the model answer": model_answer(problem.id), **others}
    return {name: text if NUMPY in text else f"{NUMPY}\n{text}" for name, text in texts.items()}


@cache
def styles(text: str, function: str) -> dict[str, str]:
    """Return each public function of a file, renamed, with the imports and helpers that it uses.

    >>> styles("def with_a_loop(x): return math.fsum(x)", "total")["with_a_loop"].splitlines()[0]
    'def total(x):'
    """
    tree = ast.parse(text)
    public = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]
    return {node.name: _alone(tree, node, function) for node in public}


def _alone(tree: ast.Module, answer: ast.FunctionDef, function: str) -> str:
    """Return the module with one public function only, without unused imports and helpers."""
    others = [
        n
        for n in tree.body
        if isinstance(n, ast.FunctionDef) and not n.name.startswith("_") and n is not answer
    ]
    kept = [node for node in tree.body if node not in others and not _is_text(node)]
    module = ast.parse(ast.unparse(ast.Module(body=kept, type_ignores=[])))
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.name == answer.name:
            node.name = function
        elif isinstance(node, ast.Name) and node.id == answer.name:
            node.id = function
    used = _used_functions(module, function)
    module.body = [node for node in module.body if not isinstance(node, ast.FunctionDef) or node.name in used]
    names = {each.id for each in ast.walk(module) if isinstance(each, ast.Name)}
    module.body = [node for node in module.body if not _is_unused_import(node, names)]
    return ast.unparse(module)


def _used_functions(module: ast.Module, function: str) -> set[str]:
    """Return the names of the functions that this one, or the module's other statements, use."""
    bodies = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    reached: set[str] = set()
    reaching = [bodies[function], *(node for node in module.body if not isinstance(node, ast.FunctionDef))]
    while reaching:
        names = {node.id for node in ast.walk(reaching.pop()) if isinstance(node, ast.Name)}
        reaching += [bodies[name] for name in names & bodies.keys() - reached]
        reached |= names & bodies.keys()
    return reached | {function}


def _is_unused_import(node: ast.stmt, used: set[str]) -> bool:
    """Return whether a statement is an unused import. SciPy takes long to load, so these are removed."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return False
    return not any((alias.asname or alias.name.split(".")[0]) in used for alias in node.names)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
