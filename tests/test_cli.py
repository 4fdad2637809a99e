"""The command line, as a user meets it: help, errors, pipes."""

import os
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner
from student import ROOT

from grpo_ref.cli import COMMANDS, main
from grpo_ref.commands.recipes import LEGEND, MORE, as_markdown
from grpo_ref.recipes import CATALOG, RECIPES, TEXTBOOK_FORMS

# A shell starts background jobs with Ctrl-C ignored; the program under test listens to it all the same.
PROGRAM = [
    sys.executable,
    "-c",
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from grpo_ref.cli import main; main()",
]
QUICK = ["train", "bandit", "--updates", "5", "--seeds", "2"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command in an empty directory."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, [str(argument) for argument in arguments])


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)], ids=["grpo-ref", *COMMANDS])
def test_help_has_an_example(run, command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "Example:  grpo-ref" in result.output


HEAVY = {
    "numpy.linalg",
    "scipy",
    "matplotlib",
    "rich",
    "yaml",
    "pytest",
    "joblib",
    "concurrent.futures.process",
}
"""NumPy itself is there as a name from the start, and loaded by its first use."""
QUICK_COMMANDS = (
    ["--help"],
    *([name, "--help"] for name in COMMANDS),
    ["list"],
    ["hint", "kl/k3"],
    ["recipes"],
    ["recipes", "dapo"],
)


@pytest.mark.parametrize("arguments", QUICK_COMMANDS, ids=" ".join)
def test_what_only_prints_imports_nothing_heavy(tmp_path, arguments):
    (tmp_path / "exercises").mkdir()
    code = f"""
import sys
from grpo_ref.cli import main

main({arguments}, standalone_mode=False)
print(*sorted({HEAVY} & set(sys.modules)))
"""
    command = [sys.executable, "-c", code]
    output = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert output.splitlines()[-1] == ""


def test_the_help_imports_nothing_but_click_and_the_command_line():
    code = "from grpo_ref.cli import main; main(['--help'], standalone_mode=False)"
    code += "; import sys; print(*sorted(name for name in sys.modules if name.startswith('grpo_ref')))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.splitlines()[-1] == "grpo_ref grpo_ref.cli"


WRONG = {
    "command": (["trian"], "no command is called 'trian'. Did you mean 'train'?"),
    "nothing like it": (["recipes", "xyz"], "Choose one of: grpo, dr_grpo, dapo, lite_ppo,"),
    "run that is not there": (["plot", "nowhere"], "nowhere: no such folder"),
    "picture of no known kind": (["plot", "nowhere", "--out", "x.gif"], "ends in .png, .pdf, .svg"),
    "no run at all": (["plot"], "Missing argument"),
}


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG)
def test_mistakes_are_explained_and_write_nothing(run, tmp_path, arguments, message):
    result = run(*arguments)
    assert result.exit_code in (1, 2)
    assert message in result.output
    assert "Traceback" not in result.output
    assert not list(tmp_path.iterdir())


def test_works_in_a_pipe_without_colour(tmp_path):
    command = [*PROGRAM, *QUICK]
    result = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env=os.environ | {"NO_COLOR": "1"}, check=True
    )
    assert "\x1b" not in result.stdout + result.stderr
    assert "saved in runs/bandit-grpo" in result.stdout


PLAIN = (
    ["recipes"],
    ["recipes", "dapo"],
    ["dev", "check", "kl/k3", "--table", "--root", ROOT],
    ["explain", "trl", "beta=0.04"],
    ["experiment", "list"],
    [*QUICK],
)


@pytest.mark.parametrize("arguments", PLAIN, ids=lambda arguments: " ".join(map(str, arguments[:2])))
def test_plain_text_has_neither_color_nor_columns(run, arguments):
    text = run(*arguments, "--plain").output
    assert "\x1b" not in text
    assert "  " not in text


def test_recipes_and_checks_have_room_in_sixty_columns(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    text = run("recipes").output + run("dev", "check", "kl/k3", "--root", ROOT).output
    assert max(map(len, text.splitlines())) <= 60


def test_recipes_lists_every_recipe(run):
    table = run("recipes").output
    assert all(name in table for name in RECIPES)
    assert run("recipes", "--markdown").output == as_markdown() + "\n"
    assert "mixed_groups" in run("recipes", "dapo").output
    assert "gated_ratio" in run("recipes", "book_sapo").output


@pytest.mark.parametrize("options", [(), ("--plain",), ("--markdown",)], ids=" ".join)
def test_a_legend_before_the_recipes_explains_every_part(run, options):
    text = run("recipes", *options).output
    legend, recipes = text[: text.index("group_normalized")], text[text.index("group_normalized") :]
    parts = {part for recipe in RECIPES.values() for part in recipe.parts()} - {"source"}
    assert parts == set(LEGEND) - {"ddof"}
    assert all(LEGEND[part] in legend for part in parts)
    assert recipes.endswith(f"{MORE}\n")


@pytest.mark.parametrize("options", [(), ("--plain",), ("--markdown",)], ids=" ".join)
def test_textbook_forms_come_last_under_their_heading(run, options):
    before, after = run("recipes", *options).output.split("Textbook forms")
    listed = re.compile(r"^[ |`]*(\w+)(?:` \||: |  )", re.M)  # a cell, "name:" or a column
    assert [name for name in listed.findall(before) if name in RECIPES] == list(CATALOG)
    assert [name for name in listed.findall(after) if name in RECIPES] == list(TEXTBOOK_FORMS)
    assert "book_" not in before


def test_the_message_for_an_unknown_recipe_does_not_list_textbook_forms(run):
    text = run("recipes", "zzz").output
    assert "Choose one of: grpo, dr_grpo," in text
    assert "book_" not in text
    assert "Did you mean 'book_sapo'?" in run("recipes", "book_sap").output
