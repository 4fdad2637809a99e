"""grpo-ref audit: the command."""

import json

import pytest
from click.testing import CliRunner

from grpo_ref.cli import main

OLD = "pip install trl==0.22.1\ntrl grpo --num_generations 8 --beta 0.04\n"


def run(*arguments):
    return CliRunner().invoke(main, ["audit", *(str(argument) for argument in arguments)])


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "old.sh").write_text(OLD)
    (tmp_path / "hello.py").write_text("print('hello')\n")
    (tmp_path / "broken.yaml").write_text("a: [1")
    return tmp_path


def test_the_report(folder):
    shown = run(folder)
    assert shown.exit_code == 1
    assert "old.sh  (TRL 0.22.1)" in shown.output
    assert "[trl-scale-rewards-does-not-divide]" in shown.output
    assert "broken.yaml: while parsing" in shown.output
    assert "1 launch file: 1 certainly touched, 0 possibly, 0 undecided, 0 not touched" in shown.output
    assert "1 other file launches no trainer that is known here." in shown.output
    assert "hello.py" not in shown.output
    assert "hello.py: no configuration was found" in run(folder, "--all").output


def test_plain_text_has_a_sentence_in_a_line(folder):
    lines = run(folder, "--plain").output.splitlines()
    swapped = next(line for line in lines if "[trl-scale-rewards-does-not-divide]" in line)
    assert swapped.startswith(
        "certain: scale_rewards: the advantages are not divided by the std of the group;"
    )


def test_json(folder):
    data = json.loads(run(folder, "--json").output)
    assert data["counts"] == {
        **{"certain": 1, "possible": 0, "undecided": 0, "untouched": 0, "unread": 1, "no launch": 1},
        "too many to be read": 0,
    }
    assert [each["file"] for each in data["files"]] == ["broken.yaml", "old.sh"]
    assert len(json.loads(run(folder, "--json", "--all").output)["files"]) == 3


def test_the_exit_status(folder, tmp_path):
    (folder / "old.sh").unlink()
    nothing = run(folder)
    assert nothing.exit_code == 2
    assert "no launch file of a known trainer could be read" in nothing.output
    (folder / "new.sh").write_text("pip install trl==1.16.0\ntrl grpo --num_generations 8 --loss_type grpo\n")
    assert run(folder).exit_code == 0


def test_the_release_that_was_run(folder):
    (folder / "old.sh").write_text("trl grpo --num_generations 8 --beta 0.04\n")
    shown = run(folder, "--release", "trl==0.22.0").output
    assert "old.sh  (TRL 0.22.0)" in shown
    assert "certain: scale_rewards" in shown
    assert "(TRL 0.22.0)" in run(folder, "--trainer", "trl", "--release", "0.22.0").output


WRONG = {
    "no trainer": (["--release", "0.22.0"], "expected TRAINER==RELEASE"),
    "an unknown trainer": (["--release", "nope==1"], "expected TRAINER==RELEASE with a trainer of trl"),
    "a release that is not covered": (["--release", "trl==0.1.0"], "version '0.1.0' is not covered"),
}


@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_release_is_refused(folder, options, message):
    result = run(folder, *options)
    assert result.exit_code == 2
    assert message in result.output


def test_help_has_an_example():
    assert "Example:  grpo-ref audit experiments/" in run("--help").output
