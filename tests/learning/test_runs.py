"""Run folders: nothing is lost, nothing foreign is touched, damage is named."""

import errno
import json
from pathlib import Path

import numpy as np
import pytest

from grpo_ref import GRPO, config_for, iter_train
from grpo_ref.files import replace_file, replace_text, require_writable
from grpo_ref.learning.runs import RunError, RunFolder
from grpo_ref.learning.state import initial_state
from grpo_ref.tasks.bandit import bandit


@pytest.fixture
def saved(tmp_path):
    """A folder with three updates of two seeds, and what was put in."""
    task = bandit()
    updates = list(iter_train(task, GRPO, config_for(task, updates=3, seeds=2)))
    folder, history = RunFolder(tmp_path / "run"), [update.metrics for update in updates]
    folder.create({"task": "bandit"})
    folder.save(updates[-1].state, history)
    return folder, updates, history


def test_what_was_saved_comes_back_to_the_bit(saved):
    folder, updates, history = saved
    state, loaded = folder.load()
    assert folder.config() == {"task": "bandit"}
    assert state.update == 3
    assert state.generators == updates[-1].state.generators
    for name, values in updates[-1].state.optimizer.items():
        np.testing.assert_array_equal(state.optimizer[name], values)
    np.testing.assert_array_equal(state.params, updates[-1].state.params)
    for ours, theirs in zip(loaded, history, strict=True):
        for name in theirs:
            np.testing.assert_array_equal(ours[name], theirs[name])


def test_metrics_ahead_of_the_checkpoint_are_dropped(saved):
    folder, updates, history = saved
    folder.save(updates[1].state, history)
    state, loaded = folder.load()
    assert state.update == len(loaded) == 2


def test_metrics_behind_the_checkpoint_are_damage(saved):
    folder, updates, history = saved
    folder.save(updates[-1].state, history[:2])
    with pytest.raises(RunError, match=r"metrics\.csv is damaged: it has 2 of 3 updates"):
        folder.load()


def test_before_the_first_save_there_is_nothing_to_load(tmp_path):
    folder = RunFolder(tmp_path / "run")
    folder.create({})
    assert folder.load() is None
    with pytest.raises(RunError, match=r"has no metrics\.csv yet"):
        folder.history()


def test_an_existing_folder_is_never_taken_over(saved):
    folder, _, _ = saved
    before = {path.name: path.read_bytes() for path in folder.path.iterdir()}
    with pytest.raises(RunError, match="exists already; continue it with --resume"):
        folder.create({})
    assert {path.name: path.read_bytes() for path in folder.path.iterdir()} == before


def test_what_a_kill_left_unfinished_does_not_count(tmp_path):
    (tmp_path / "config.json.part").write_text("{")
    folder = RunFolder(tmp_path)
    assert folder.is_new()
    folder.create({})
    assert folder.config() == {}


DAMAGE = {
    "no config": ("config.json", None, r"is not a run folder: it has no config\.json"),
    "config cut short": ("config.json", b'{"format"', r"config\.json is damaged"),
    "config of something else": ("config.json", b'{"format": "other"}', "was not written by this program"),
    "config that is no object": ("config.json", b"[]", "was not written by this program"),
    "checkpoint cut short": ("checkpoint.npz", b"PK\x03\x04", r"checkpoint\.npz is damaged"),
    "empty checkpoint": ("checkpoint.npz", b"", r"checkpoint\.npz is damaged"),
    "metrics without rows": ("metrics.csv", b"update,seed,reward\n", r"metrics\.csv is damaged"),
    "metrics with a torn row": (
        "metrics.csv",
        b"update,seed,reward\n1,0,0.5\n1,1\n",
        r"metrics\.csv is damaged",
    ),
    "metrics of something else": ("metrics.csv", b"a,b\n1,2\n", r"metrics\.csv is damaged: expected columns"),
    "metrics with words": ("metrics.csv", b"update,seed,reward\n1,0,high\n", r"metrics\.csv is damaged"),
}


@pytest.mark.parametrize(("name", "content", "message"), DAMAGE.values(), ids=DAMAGE)
def test_damage_is_named(saved, name, content, message):
    folder, _, _ = saved
    path = folder.path / name
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(RunError, match=message):
        folder.config(), folder.load()


def test_a_checkpoint_holds_no_code(saved):
    """Nothing in the folder is unpickled: an array of objects is damage."""
    folder, _, _ = saved
    with (folder.path / "checkpoint.npz").open("wb") as file:
        np.savez(file, update=np.array([{}], dtype=object))
    with pytest.raises(RunError, match=r"checkpoint\.npz is damaged"):
        folder.load()


WRONG_ARRAYS = {
    "NaN": (
        {"params": np.full((2, 8, 10), np.nan)},
        r"params: expected finite numbers, got nan at \(0, 0, 0\)",
    ),
    "a reference of another shape": (
        {"ref_params": np.zeros((2, 8))},
        r"ref_params: expected shape \(2, 8, 10\)",
    ),
    "two numbers of updates": ({"update": np.array([1, 2])}, "only"),
    "random numbers that are none": ({"generators": np.array("3")}, "not iterable"),
    "random numbers of nobody": (
        {"generators": np.array("[]")},
        "generators: expected 2, one per run, got 0",
    ),
}


@pytest.mark.parametrize(("arrays", "message"), WRONG_ARRAYS.values(), ids=WRONG_ARRAYS)
def test_a_checkpoint_that_nobody_could_continue_is_damage(saved, arrays, message):
    folder, _, _ = saved
    path = folder.path / "checkpoint.npz"
    with np.load(path) as whole:
        changed = dict(whole) | arrays
    np.savez(path, **changed)
    with pytest.raises(RunError, match=rf"checkpoint\.npz is damaged: .*{message}"):
        folder.load()


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(RunError, match="nowhere: no such folder"):
        RunFolder(tmp_path / "nowhere").config()


def test_where_a_file_cannot_be_written_its_own_name_is_told(tmp_path):
    path = tmp_path / "nowhere" / "file"
    with pytest.raises(FileNotFoundError) as told:
        replace_text(path, "text")
    assert told.value.filename == str(path)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no folder that nobody may write to")
def test_a_folder_that_cannot_be_written_is_named():
    with pytest.raises(OSError, match="/proc") as told:
        require_writable(Path("/proc"))
    assert told.value.filename == "/proc"


def test_a_file_that_could_not_be_written_leaves_the_old_one(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def fail(file):
        file.write(b"half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        replace_file(path, fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_names_the_file(tmp_path):
    """The system names none where a write fails."""

    def fail(file):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left") as told:
        replace_file(tmp_path / "file", fail)
    assert told.value.filename == str(tmp_path / "file")


def test_config_is_readable_json(saved):
    folder, _, _ = saved
    assert json.loads((folder.path / "config.json").read_text())["format"] == "grpo_ref run 2"


def test_a_checkpoint_that_is_missing_beside_metrics_was_deleted(saved):
    folder, _, _ = saved
    (folder.path / "checkpoint.npz").unlink()
    with pytest.raises(RunError, match=r"has metrics\.csv but no checkpoint\.npz"):
        folder.load()


def test_a_checkpoint_before_the_first_update_needs_no_metrics(tmp_path):
    task = bandit()
    folder, start = RunFolder(tmp_path / "run"), initial_state(task, config_for(task, seeds=2))
    folder.create({})
    folder.save(start, [])
    state, history = folder.load()
    assert (state.update, history) == (0, [])
    np.testing.assert_array_equal(state.params, start.params)


def test_what_was_asked_for_can_be_replaced_while_the_run_is_held(saved):
    folder, _, _ = saved
    with folder.held():
        folder.describe({"task": "bandit", "updates": 9})
        with pytest.raises(RunError, match="is being written by another process"), folder.held():
            pass
    assert folder.config() == {"task": "bandit", "updates": 9}
