"""A run in progress: only new statements are reported, by the command and by the callback of TRL."""

import json
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from simulated_logs import SEQUENCE_MEAN, logged

from grpo_ref.cli import main
from grpo_ref.diagnose import live
from grpo_ref.diagnose.diagnosis import diagnose
from grpo_ref.diagnose.live import News, follow, report_of, trl_callback

HEALTHY = [{"step": step, **logged(np.random.default_rng(step), SEQUENCE_MEAN)[0]} for step in (1, 2, 3)]
BROKEN = [row | {"reward": 5.0} for row in HEALTHY]  # no weight of the one reward function gives this


class Stopped(Exception):
    """Ends a loop that has no end."""


def growing(path, parts, monkeypatch, end=Stopped):
    """Append the next part to a file at each pause, then stop."""
    parts = iter(parts)

    def sleep(_):
        part = next(parts, None)
        if part is None:
            raise end
        with path.open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(row) + "\n" for row in part))

    monkeypatch.setattr(live.time, "sleep", sleep)


def test_a_statement_is_news_once():
    news = News()
    assert [each.name for each in news.of(diagnose(BROKEN))] == ["R1"]
    assert news.of(diagnose(BROKEN)) == []
    assert News().of(diagnose(HEALTHY)) == []


def test_a_growing_file_is_read_when_it_has_grown(tmp_path, monkeypatch):
    path = tmp_path / "log.jsonl"
    later = [row | {"step": row["step"] + 3} for row in BROKEN]
    growing(path, [[], HEALTHY, [], later, later], monkeypatch)
    seen = []

    def look():
        for each, new in follow([path], lambda: diagnose(path)):
            seen.append((None if each is None else len(each.log.rows), [one.name for one in new]))

    with pytest.raises(Stopped):
        look()
    assert seen == [
        (None, []),
        (3, []),
        (6, ["R1"]),
    ]  # waiting, then the rows, then what is new; no repetition


def test_the_command_follows_until_it_is_interrupted(tmp_path, monkeypatch):
    path = tmp_path / "log.jsonl"
    path.write_text("", encoding="utf-8")
    growing(path, [BROKEN], monkeypatch, KeyboardInterrupt)
    run = CliRunner().invoke(main, ["diagnose", str(path), "--follow"])
    assert run.exit_code == 1
    assert run.output.startswith("waiting for metrics in ")
    assert "3 rows, steps 1 to 3, no configuration; following (Ctrl-C ends)" in run.output
    assert "step 3:\n! does not hold: reward = Σ w (mean of each reward function) (R1)" in run.output
    refused = CliRunner().invoke(main, ["diagnose", str(path), "--follow", "--format", "json"])
    assert refused.exit_code == 2


# ---- the callback, with a double of transformers ----


@pytest.fixture
def transformers(monkeypatch):
    module = ModuleType("transformers")
    module.TrainerCallback = type("TrainerCallback", (), {})
    monkeypatch.setitem(sys.modules, "transformers", module)


def state(log):
    return SimpleNamespace(log_history=log, global_step=len(log), is_world_process_zero=True)


ARGUMENTS = SimpleNamespace(num_generations=8, beta=0.04, loss_type="grpo", output_dir="out")


def test_the_callback_prints_what_is_new_and_may_stop_the_run(transformers, capsys):
    callback, control = trl_callback(every=3, stop=True), SimpleNamespace(should_training_stop=False)
    callback.on_log(ARGUMENTS, state(BROKEN[:2]), control)
    assert capsys.readouterr().out == ""  # two rows, and it looks at every third
    callback.on_log(ARGUMENTS, state(BROKEN), control)
    assert "step 3:\n! does not hold: reward = Σ w" in capsys.readouterr().out
    assert control.should_training_stop
    callback.on_train_end(ARGUMENTS, state(BROKEN), control)
    assert capsys.readouterr().out == ""


def test_the_callback_is_silent_in_other_processes_and_before_the_first_metric(transformers, capsys):
    callback, control = trl_callback("beta=0.04", every=1), SimpleNamespace(should_training_stop=False)
    other = state(BROKEN)
    other.is_world_process_zero = False
    callback.on_log(ARGUMENTS, other, control)
    callback.on_log(ARGUMENTS, state([{"step": 1, "epoch": 0.1}]), control)
    callback.on_log(ARGUMENTS, state(BROKEN), control)  # broken, and the run goes on
    assert capsys.readouterr().out.count("!") == 1
    assert not control.should_training_stop
    with pytest.raises(ValueError, match="every: expected at least 1, got 0"):
        trl_callback(every=0)


def test_the_arguments_of_a_trainer_are_its_configuration():
    report = report_of(
        {
            "beta": 0.04,
            "num_generations": 4,
            "steps_per_generation": 1,
            "generation_batch_size": 8,
            "top_k": None,
        }
    )
    assert report.recipe.kl_coef == 0.04
    assert report_of({"beta": "a word"}) is None
