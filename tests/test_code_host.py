"""Files for the code host: they are valid and agree with the Makefile, the project and one another."""

import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
HOST = ROOT / ".github"
WORKFLOWS = {path.stem: path for path in sorted((HOST / "workflows").glob("*.yml"))}
FORMS = {path.stem: path for path in sorted((HOST / "ISSUE_TEMPLATE").glob("*.yml")) if path.stem != "config"}
SCHEMAS = {
    **{path: "vendor.github-workflows" for path in WORKFLOWS.values()},
    **{path: "vendor.github-issue-forms" for path in FORMS.values()},
    HOST / "ISSUE_TEMPLATE" / "config.yml": "vendor.github-issue-config",
    HOST / "dependabot.yml": "vendor.dependabot",
    ROOT / "conformance" / "action.yml": "vendor.github-actions",
    ROOT / "CITATION.cff": "vendor.citation-file-format",
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONSTRAINTS = (ROOT / "constraints.txt").read_text(encoding="utf-8")
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
SECTIONS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
LINK = re.compile(r"\]\(([^)#:]+)(?:#[\w-]+)?\)")


def loaded(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def jobs(name):
    return loaded(WORKFLOWS[name])["jobs"]


def steps(name):
    return [step for job in jobs(name).values() for step in job.get("steps", ())]


def commands(name):
    return "\n".join(step.get("run", "") for step in steps(name))


def validate(path, schema):
    """Validate a file against a schema that check-jsonschema contains, so that no network is needed."""
    if importlib.util.find_spec("check_jsonschema") is None:
        pytest.skip("the schemas of the code host need the package check-jsonschema")
    return subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, path],
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_file_follows_the_schema_of_the_code_host(path):
    validated = validate(path, SCHEMAS[path])
    assert validated.returncode == 0, validated.stdout + validated.stderr


def test_a_step_without_a_command_is_noticed(tmp_path):
    broken = loaded(WORKFLOWS["tests"])
    broken["jobs"]["style"]["steps"].append({"name": "nothing to run"})
    (tmp_path / "broken.yml").write_text(yaml.safe_dump(broken), encoding="utf-8")
    assert validate(tmp_path / "broken.yml", "vendor.github-workflows").returncode != 0


@pytest.mark.parametrize("name", WORKFLOWS)
def test_make_has_every_target_that_a_workflow_calls(name):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    called = set(re.findall(r"^make ([\w-]+)", commands(name), re.MULTILINE))
    assert called - targets == set()


def test_the_tests_run_on_every_python_that_the_project_supports():
    oldest = int(re.fullmatch(r">=3\.(\d+)", PROJECT["requires-python"])[1])
    matrix = jobs("tests")["tests"]["strategy"]["matrix"]
    versions = [int(version.removeprefix("3.")) for version in matrix["python"]]
    assert versions == list(range(oldest, oldest + len(versions)))
    ends = [matrix["python"][0], matrix["python"][-1]]
    assert jobs("tests")["core"]["strategy"]["matrix"]["python"] == ends


def test_the_core_is_tested_with_its_own_dependencies_only():
    installed = re.search(r"pip install -c constraints.txt (.+)", commands("tests"))[1].split()
    assert set(installed) == {"numpy", "array-api-compat", "lazy-loader", "pytest"}
    required = {re.match(r"[\w-]+", requirement)[0] for requirement in PROJECT["dependencies"]}
    assert set(installed) - {"pytest"} <= required


def test_the_list_of_core_tests_names_files_that_exist():
    arguments = (ROOT / "tests" / "core.txt").read_text(encoding="utf-8").splitlines()
    paths = [argument.rpartition("=")[2].partition("::")[0] for argument in arguments]
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert "tests/test_loss.py" in paths


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_may_read_the_code_and_only_publishing_may_write(name):
    assert loaded(WORKFLOWS[name])["permissions"] == {"contents": "read"}
    for job, settings in jobs(name).items():
        assert "permissions" not in settings or job == "publish"


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_job_ends_and_every_action_has_a_major_version(name):
    for settings in jobs(name).values():
        assert "uses" in settings or settings["timeout-minutes"] <= 120
    for step in steps(name):
        action, _, version = step.get("uses", "command@v1").partition("@")
        assert re.fullmatch(r"(release/)?v\d+", version), action


def test_a_caller_of_the_tests_is_allowed_to_call_them():
    # PyYAML follows YAML 1.1 and reads the key `on` as the truth value true.
    assert "workflow_call" in loaded(WORKFLOWS["tests"])[True]
    assert jobs("release")["tests"]["uses"] == "./.github/workflows/tests.yml"
    assert set(jobs("release")["publish"]["needs"]) == {"tests", "build"}


@pytest.mark.parametrize("name", FORMS)
def test_the_questions_of_a_form_have_different_names(name):
    questions = [part["id"] for part in loaded(FORMS[name])["body"] if part["type"] != "markdown"]
    assert len(questions) == len(set(questions))


def test_hooks_run_the_tested_version_of_ruff_and_files_that_exist():
    repositories = {
        one["repo"].rpartition("/")[2]: one for one in loaded(ROOT / ".pre-commit-config.yaml")["repos"]
    }
    assert (
        repositories["ruff-pre-commit"]["rev"]
        == "v" + re.search(r"^ruff==(.+)$", CONSTRAINTS, re.MULTILINE)[1]
    )
    assert {hook["id"] for hook in repositories["ruff-pre-commit"]["hooks"]} == {"ruff-check", "ruff-format"}
    for hook in repositories["local"]["hooks"]:
        program, script = hook["entry"].split()
        assert program == "python"
        assert (ROOT / script).is_file()


def test_hooks_follow_the_format_of_pre_commit():
    clientlib = pytest.importorskip(
        "pre_commit.clientlib", reason="the format of hooks needs the package pre-commit"
    )
    config = clientlib.load_config(ROOT / ".pre-commit-config.yaml")  # raises if the format is wrong
    assert config["repos"]


def test_the_container_builds_what_make_sets_up():
    settings = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    recipe = (ROOT / ".devcontainer" / settings["build"]["dockerfile"]).read_text(encoding="utf-8")
    assert f"useradd --create-home --shell /bin/bash {settings['remoteUser']}" in recipe
    assert settings["postCreateCommand"] == "make setup"


def test_the_changelog_is_short_and_has_the_sections_of_keep_a_changelog():
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    versions = [line for line in lines if line.startswith("## ")]
    assert versions[0] == "## [Unreleased]"
    for version in versions[1:]:
        assert re.fullmatch(r"## \[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}", version)
    assert {line.removeprefix("### ") for line in lines if line.startswith("### ")} <= SECTIONS
    assert len(lines) <= 80 * len(versions)


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_has_its_three_parts_and_fits_on_a_page(path):
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]
    assert text.startswith(f"# {path.stem[:3]} ")
    assert len(text.splitlines()) <= 60


def test_the_index_of_decisions_lists_each_of_them_in_order():
    index = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((\d{3}-[\w-]+\.md)\)", index) == [path.name for path in DECISIONS]
    assert [int(path.name[:3]) for path in DECISIONS] == list(range(1, len(DECISIONS) + 1))


@pytest.mark.parametrize(
    "path",
    [
        *DECISIONS,
        ROOT / "docs" / "decisions" / "README.md",
        ROOT / "CODE_OF_CONDUCT.md",
        HOST / "PULL_REQUEST_TEMPLATE.md",
    ],
    ids=lambda path: path.stem,
)
def test_links_lead_somewhere(path):
    for target in LINK.findall(path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target
