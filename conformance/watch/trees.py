"""Hashes of files and of syntax trees, and the lines in which two versions of a function differ."""

import ast
import difflib
import hashlib
from collections.abc import Iterator

Named = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
HELP = "help"
"""The keyword whose value is text for readers in dataclass fields and argument parsers."""


def hash_of_text(text: str) -> str:
    """Return the sha256 of a file's content, in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def definitions(text: str) -> dict[str, Named]:
    """Return the functions, classes and methods of a module by their qualified name, as `Trainer.step`.

    Raises:
      SyntaxError: if this Python cannot parse the text.
    """
    return dict(_named(ast.parse(text), ""))


def _named(parent: ast.AST, prefix: str) -> Iterator[tuple[str, Named]]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, Named):
            yield prefix + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from _named(node, f"{prefix}{node.name}.")
        elif not isinstance(node, ast.expr):  # a function may stand inside of an `if` or a `try`
            yield from _named(node, prefix)


def hash_of_tree(node: ast.AST) -> str:
    """Return the sha256 of a syntax tree without comments, docstrings, help texts and positions.

    `ast.dump` differs between versions of Python, so the tree is written down here.
    """
    return hashlib.sha256("\n".join(_written(node)).encode()).hexdigest()


def _written(node: ast.AST) -> Iterator[str]:
    yield f"({type(node).__name__}"
    for name, value in ast.iter_fields(node):
        if name in ("kind", "type_comment", "ctx") or value is None or value == []:
            continue
        yield name
        for each in _without_docs(node, name, value) if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                yield from _written(each)
            else:
                yield repr(each)
    yield ")"


def _without_docs(node: ast.AST, name: str, values: list[object]) -> list[object]:
    """Leave out the statements that are only text, and the help texts of fields and arguments."""
    if name == "body":
        return [each for each in values if not (isinstance(each, ast.Expr) and _is_text(each.value))]
    if name == "keywords":
        return [each for each in values if not (isinstance(each, ast.keyword) and each.arg == HELP)]
    if isinstance(node, ast.Dict):  # metadata={"help": ...}
        kept = [not (isinstance(key, ast.Constant) and key.value == HELP) for key in node.keys]
        return [each for each, keep in zip(values, kept, strict=True) if keep]
    return values


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def identifiers(node: ast.AST) -> set[str]:
    """Return the names, attributes and texts in a function: the keys that it may read are among them."""
    names = set()
    for each in ast.walk(node):
        match each:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                names.add(name)
            case ast.Constant(value=str(name)):
                names.add(name)
    return names


def difference(before: str, after: str, *, lines: int, width: int = 100) -> list[str]:
    """Return the changed lines of two texts, marked with - and +, without any lines around them.

    Args:
      before, after: the two versions.
      lines: the largest number of lines to return; one more line counts the rest.
      width: the largest number of characters of a line.
    """
    pairs = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    changed = [line for line in pairs if not line.startswith(("---", "+++"))]
    changed = [line if len(line) <= width else line[: width - 1] + "…" for line in changed]
    rest = len(changed) - lines
    return changed[:lines] + ([f"… {rest} more lines"] if rest > 0 else [])
