"""A command for an agent reads one folder, writes nothing and takes a limited time."""

import json
import os
import subprocess
import sys

import pytest

from grpo_ref.agents.process import MOST_BYTES_OF_TEXT, REFUSED, Failed, Reading, limit, run
from grpo_ref.explain.command_line import launched


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "grpo.yaml").write_text("loss_type: dapo\n")
    (tmp_path / "base.yaml").write_text("algorithm: {adv_estimator: grpo}\n")
    return folder.resolve()


def test_a_command_runs(root):
    finished = run(["explain", "--format", "json", "trl", str(root / "grpo.yaml")], root, 60.0)
    assert json.loads(finished.output)["trainer"] == "trl"
    assert finished.messages == ""


def test_a_wrong_command_fails_with_its_message(root):
    with pytest.raises(Failed, match="no command is called 'train'"):
        run(["train", "chain"], root, 60.0)


def test_a_file_outside_is_not_read(root):
    with pytest.raises(Failed, match="only files below"):
        run(["explain", "trl", str(root.parent / "base.yaml")], root, 60.0)


def test_a_link_does_not_lead_outside(root):
    (root / "link.yaml").symlink_to(root.parent / "base.yaml")
    with pytest.raises(Failed, match="only files below"):
        run(["explain", "trl", str(root / "link.yaml")], root, 60.0)


def test_a_file_that_a_file_names_is_read_in_the_folder_alone(root):
    """The script names base.yaml, which is above the folder. The command line finds the file there."""
    script = root / "run.sh"
    line = "python -m verl.trainer.main_ppo --config-path .. --config-name base actor.clip_ratio=0.1"
    script.write_text(f"{line}\n")
    assert launched([str(script)])[0][1].keys["algorithm.adv_estimator"] == "grpo"
    report = json.loads(run(["explain", "--format", "json", str(script)], root, 60.0).output)
    assert [each["key"] for each in report["keys"]] == ["actor.clip_ratio"]
    assert "not found" in report["sentence"]


def test_nothing_is_written(root):
    rows = [{"step": step, "reward": 0.5, "reward_std": 0.1, "loss": 0.0, "kl": 0.0} for step in range(1, 5)]
    log = root / "trainer_state.json"
    log.write_text(json.dumps({"log_history": rows}))
    assert run(["diagnose", str(log)], root, 60.0).output
    with pytest.raises(Failed, match="files are only read here"):
        run(["diagnose", str(log), "--html", str(root / "page.html")], root, 60.0)
    assert sorted(path.name for path in root.iterdir()) == ["grpo.yaml", "trainer_state.json"]


def test_a_large_file_is_refused(root):
    with (root / "large.yaml").open("wb") as file:
        file.truncate(MOST_BYTES_OF_TEXT + 1)
    with pytest.raises(Failed, match="expected at most 2,000,000 bytes, got 2,000,001"):
        run(["explain", "trl", str(root / "large.yaml")], root, 60.0)


def test_a_long_text_is_refused(root):
    with pytest.raises(Failed, match="longer than 2,000,000 characters"):
        run(["explain", "trl", "a=" + "1" * MOST_BYTES_OF_TEXT], root, 60.0)


def test_a_slow_command_is_stopped(root):
    with pytest.raises(Failed, match=r"stopped after 0\.01 seconds"):
        run(["explain", "trl"], root, 0.01)


OPENED = {
    "a file in the folder": ("project/grpo.yaml", os.O_RDONLY, None),
    "a file of a library": ("library/module.py", os.O_RDONLY, None),
    "a file outside": ("base.yaml", os.O_RDONLY, "only files below"),
    "a folder whose name begins in the same way": ("project2/grpo.yaml", os.O_RDONLY, "only files below"),
    "a way out of the folder": ("project/../base.yaml", os.O_RDONLY, "only files below"),
    "a file to write": ("project/new.yaml", os.O_WRONLY | os.O_CREAT, "not written"),
    "a file to change": ("project/grpo.yaml", os.O_RDWR, "not written"),
    "a library to change": ("library/module.py", os.O_WRONLY, "not written"),
}


@pytest.mark.parametrize(("name", "flags", "expected"), OPENED.values(), ids=OPENED)
def test_files_that_may_be_opened(root, name, flags, expected):
    reading = Reading(root, [str(root.parent.resolve() / "library")])
    path = str(root.parent.resolve() / name)
    if expected is None:
        reading.check(path, flags)
        reading("open", (path, "r", flags))
    else:
        with pytest.raises(PermissionError, match=expected):
            reading("open", (path, "r", flags))
    reading("import", (path, "r", flags))
    reading("open", (3, "w", os.O_WRONLY))  # a pipe that is open already


@pytest.mark.parametrize("event", sorted(REFUSED))
def test_events_that_are_refused(root, event):
    with pytest.raises(PermissionError, match="files are only read here"):
        Reading(root, [])(event, ())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
def test_a_process_has_limits(root):
    code = (
        "import sys, resource; from pathlib import Path; from grpo_ref.agents.process import limit\n"
        f"limit(Path({str(root)!r}), 5)\n"
        "print(resource.getrlimit(resource.RLIMIT_CPU)[0], resource.getrlimit(resource.RLIMIT_FSIZE)[0])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["5", "0"]
    assert callable(limit)
