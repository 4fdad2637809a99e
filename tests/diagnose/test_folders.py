"""The folders of runs: which of their files are read."""

import json
import sys

import pytest

from grpo_ref.diagnose.diagnosis import read_log
from grpo_ref.diagnose.folders import files_of_run

ROWS = [{"step": step, "reward": 0.25 * step, "reward_std": 0.1} for step in (1, 2, 3)]
LINES = "".join(f"{row}\n" for row in ROWS)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def state(rows):
    return json.dumps({"log_history": rows})


def test_the_longest_state_of_a_run_and_its_checkpoints_is_read(tmp_path):
    write(tmp_path / "checkpoint-1" / "trainer_state.json", state(ROWS[:1]))
    longest = write(tmp_path / "checkpoint-3" / "trainer_state.json", state(ROWS))
    write(tmp_path / "run.log", LINES)
    assert files_of_run(tmp_path) == [longest]
    assert [row.step for row in read_log(tmp_path).rows] == [1, 2, 3]


def test_all_files_of_a_kind_with_metrics_are_read(tmp_path):
    write(tmp_path / "samples.jsonl", '{"prompt": "1 + 1", "length": 3}\n')
    train = write(tmp_path / "train.jsonl", '{"rollout_id": 1, "train/pg_loss": 0.5}\n')
    rollout = write(tmp_path / "rollout.jsonl", '{"rollout_id": 1, "rollout/raw_reward": 0.25}\n')
    assert set(files_of_run(tmp_path)) == {train, rollout}
    assert dict(read_log(tmp_path).rows[0].values) == {"policy_loss": 0.5, "score.mean": 0.25}


def test_the_console_of_a_run_of_wandb_is_read(tmp_path):
    run = tmp_path / "wandb" / "offline-run-20260101_000000-abc"
    (tmp_path / "wandb").mkdir()
    write(run / "files" / "output.log", LINES)
    write(run / "run-abc.wandb", ":W&B\0\0")
    write(run / "logs" / "debug.log", "2026-01-01 INFO setup\n")
    assert len(read_log(tmp_path).rows) == 3
    (run / "files" / "output.log").unlink()
    with pytest.raises(ValueError, match=r"no file in this folder has metrics .* export the history"):
        read_log(tmp_path)
    with pytest.raises(ValueError, match=r"run-abc\.wandb: it is in W&B's own format"):
        read_log(run / "run-abc.wandb")


def test_an_export_of_wandb_is_read(tmp_path):
    table = (
        "_step,_runtime,train/global_step,train/reward,train/reward_std\n7,1.5,1,0.25,\n8,2.5,2,0.5,0.125\n"
    )
    log = read_log(write(tmp_path / "export.csv", table))
    assert [(row.step, dict(row.values)) for row in log.rows] == [
        (1, {"reward": 0.25}),
        (2, {"reward": 0.5, "reward_std": 0.125}),
    ]


def test_several_runs_are_listed(tmp_path):
    for name in ("one", "two"):
        write(tmp_path / name / "train.log", LINES)
    with pytest.raises(ValueError, match=r"it has 2 runs; choose one of .*one, .*two"):
        read_log(tmp_path)


def test_an_empty_folder_is_refused_in_words(tmp_path):
    with pytest.raises(ValueError, match=r"no file in this folder has metrics of a known trainer$"):
        read_log(tmp_path)


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard.backend.event_processing.event_accumulator", None)
    write(tmp_path / "events.out.tfevents.1.host", "")
    with pytest.raises(ValueError, match=r'run: pip install "grpo-ref\[logs\]"'):
        read_log(tmp_path)


@pytest.mark.filterwarnings("default")
def test_event_files_of_tensorboard_are_read(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    for rows in (ROWS[:2], ROWS[1:]):  # a restart writes a second file
        writer = EventFileWriter(str(tmp_path), filename_suffix=f".{rows[0]['step']}")
        for row in rows:
            for name in ("reward", "reward_std"):
                value = Summary.Value(tag=f"train/{name}", simple_value=row[name])
                writer.add_event(Event(step=row["step"], summary=Summary(value=[value])))
        writer.close()
    log = read_log(tmp_path)
    assert (log.trainer, [row.step for row in log.rows]) == ("trl", [1, 2, 3])
    assert log.column("reward") == [(1, 0.25), (2, 0.5), (3, 0.75)]
