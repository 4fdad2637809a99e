"""Write the list of public names into the docstring of the package, for `help(grpo_ref)`: `make docs`.

The names and their order are those of the stub, `grpo_ref/__init__.pyi`. Each name is followed by the first
line of its docstring. The heading of each module is the first line of its docstring. A test compares both.
"""

import ast
import importlib
import inspect
from itertools import pairwise
from types import ModuleType

from package_map import PACKAGE, STUB, stages

import grpo_ref

SOURCE = PACKAGE / "__init__.py"
OPENING = """grpo_ref: a readable NumPy reference of the GRPO family, with manual gradients.

The public names in the order of the pipeline, each with the first line of its documentation. A name is imported
when it is first used, so `import grpo_ref` is fast. Everything else is in the namespaces at the end, as in
`grpo_ref.penalties.k3`."""  # noqa: E501
PACKAGES = "The packages: docs/package_map.md has the map."


def summary(module: ModuleType, name: str) -> str:
    """Return one line about a public name: a recipe's source, or the first line of the docstring."""
    value = getattr(module, name)
    if isinstance(value, grpo_ref.Recipe):
        return value.source
    if getattr(value, "__name__", name).rpartition(".")[2] != name:
        return f"Another name of `{value.__name__}`."
    if callable(value) or inspect.ismodule(value):
        return first_line(inspect.getdoc(value))
    return first_line(_note(module, name))


def first_line(text: str | None) -> str:
    """Return the first line of a docstring."""
    return (text or "").partition("\n")[0]


def _note(module: ModuleType, name: str) -> str:
    """Return the string below the assignment of a constant."""
    body = ast.parse(inspect.getsource(module)).body
    for node, below in pairwise(body):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return str(ast.literal_eval(below.value)) if isinstance(below, ast.Expr) else ""
    return ""


def section(path: str, names: list[str]) -> str:
    """Return the heading of a module and a line for each of its names."""
    module = importlib.import_module(path)
    heading = PACKAGES if module is grpo_ref else first_line(module.__doc__)
    width = max(map(len, names))
    lines = (f"  {name:{width}}  {summary(module, name)}" for name in names)
    return "\n".join([f"{heading}   ({path})", *lines])


def docstring() -> str:
    """Return the docstring of the package."""
    listed = stages(STUB.read_text(encoding="utf-8"))
    return "\n\n".join([OPENING, *(section(path, names) for path, names in listed)]) + "\n"


def renewed(source: str) -> str:
    """Return the text of `__init__.py` with a new docstring."""
    _, _, code = source.split('"""', maxsplit=2)
    return f'"""{docstring()}"""{code}'


def main() -> None:
    """Update the docstring."""
    SOURCE.write_text(renewed(SOURCE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
