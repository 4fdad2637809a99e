"""The public edge: what `import grpo_ref` costs, which names it has, and what help says of them."""

import ast
import importlib
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import public_names
import pytest
import yaml
from package_map import STUB, TOP_LEVEL

import grpo_ref

ROOT = Path(__file__).parents[1]


def loaded(code, **environment):
    """Names of the modules that a fresh interpreter has loaded after some code."""
    command = [sys.executable, "-c", f"{code}; import json, sys; print(json.dumps(sorted(sys.modules)))"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | environment)
    return set(json.loads(answer.stdout.splitlines()[-1]))


def test_importing_the_package_loads_nothing_heavy():
    ours = {name for name in loaded("import grpo_ref") if name.startswith("grpo_ref")}
    assert ours == {"grpo_ref"}
    assert not {"numpy", "scipy", "matplotlib", "click", "rich"} & loaded("import grpo_ref")


def test_the_recipes_can_be_listed_without_numpy():
    names = loaded("from grpo_ref import RECIPES; [str(recipe) for recipe in RECIPES.values()]")
    assert not {name for name in names if name.startswith("numpy.")}


def test_a_name_is_imported_when_it_is_first_used():
    stages = {name for name in loaded("import grpo_ref; grpo_ref.levels") if name.startswith("grpo_ref.")}
    assert stages == {"grpo_ref.arrays", "grpo_ref.levels"}


def test_at_most_forty_names():
    assert len(grpo_ref.__all__) <= 40


def test_a_name_of_a_namespace_says_where_it_is():
    with pytest.raises(ImportError, match=r"from grpo_ref\.recipes import GSPO"):
        from grpo_ref import GSPO  # noqa: F401
    with pytest.raises(ImportError, match=r"from grpo_ref\.penalties import k3"):
        from grpo_ref import k3  # noqa: F401


def test_every_recipe_is_in_the_namespace():
    assert {name.upper() for name in grpo_ref.RECIPES} <= set(vars(grpo_ref.recipes))


def test_every_name_can_be_imported_at_once():
    assert {"grpo_ref.plots", "grpo_ref.training"} <= loaded("import grpo_ref", EAGER_IMPORT="1")


def test_the_lists_of_names_agree():
    assert sorted(grpo_ref.__all__) == dir(grpo_ref) == sorted(TOP_LEVEL)


def test_every_package_that_users_import_is_a_public_name():
    folders = {path.parent.name for path in STUB.parent.glob("*/__init__.py")}
    assert folders - set(TOP_LEVEL) == {"agents", "commands", "data", "parity", "render", "web"}


@pytest.mark.parametrize("before", ["", "import grpo_ref.explain.dialects, grpo_ref.check.slopes; "])
def test_explain_and_check_are_packages_that_can_be_called(before):
    code = "import grpo_ref; assert callable(grpo_ref.explain) and callable(grpo_ref.check)"
    assert "grpo_ref.check.compare" in loaded(before + code)


def test_the_stub_marks_every_name_as_public():
    _, *imports = ast.parse(STUB.read_text(encoding="utf-8")).body
    assert all(alias.asname == alias.name for node in imports for alias in node.names)


def test_help_lists_every_name_by_stage_with_one_line():
    text = (ROOT / "grpo_ref" / "__init__.py").read_text(encoding="utf-8")
    assert public_names.renewed(text) == text, "renew it with: make docs"
    lines = [line.split(maxsplit=1) for line in grpo_ref.__doc__.splitlines() if line.startswith("  ")]
    assert [name for name, _ in lines] == list(TOP_LEVEL)


SHOWN = '''
"""A module."""
from grpo_ref import RLOO

def double(x):
    """Twice x.

    More is not shown.
    """

class Kind:
    """A class."""

twice = double
ANSWER: int = 42
"""What was asked for."""
PLAIN = 1
'''
SUMMARIES = {
    "a function": ("double", "Twice x."),
    "a class": ("Kind", "A class."),
    "a second name": ("twice", "Another name of `double`."),
    "a constant": ("ANSWER", "What was asked for."),
    "a constant without a note": ("PLAIN", ""),
    "a recipe": ("RLOO", grpo_ref.RLOO.source),
}


@pytest.mark.parametrize(("name", "line"), SUMMARIES.values(), ids=SUMMARIES)
def test_one_line_about_a_name(tmp_path, monkeypatch, name, line):
    (tmp_path / "shown_module.py").write_text(SHOWN, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert public_names.summary(importlib.import_module("shown_module"), name) == line


def test_one_line_about_a_package():
    assert public_names.summary(grpo_ref, "levels") == grpo_ref.levels.__doc__.splitlines()[0]


def test_the_citation_names_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" in project["dynamic"]
    assert citation["version"] == grpo_ref.__version__
    assert citation["license"] == project["license"]
    assert citation["authors"] == project["authors"]
    assert citation["keywords"] == project["keywords"]
