"""The formats of logs, each with a short sample in the trainer's own form."""

import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_ref.diagnose.formats import records_of_file
from grpo_ref.diagnose.lines import records_of_lines
from grpo_ref.diagnose.log import precision

# name -> lines, records
SAMPLES = {
    "a dictionary of TRL": (
        "{'loss': 0.0, 'reward': 0.5, 'kl': 1e-05}\n",
        [{"loss": 0.0, "reward": 0.5, "kl": 1e-05}],
    ),
    "a line of ms-swift": (
        '{"loss": 0.5, "global_step/max_steps": "5/3766", "elapsed_time": "5m 18s"}\n'
        "{'loss': 0.5, 'reward': 0.1, 'global_step/max_steps': '10/3766', 'percentage': '0.18%'}\n",
        [
            {"loss": 0.5, "global_step/max_steps": 5.0},
            {"loss": 0.5, "reward": 0.1, "global_step/max_steps": 10.0},
        ],
    ),
    "behind a progress bar": (
        "  1%|1 | 3/300 [00:10<10:00]\r{'loss': 0.1, 'reward': 0.5}\n",
        [{"loss": 0.1, "reward": 0.5}],
    ),
    "numbers as text, of Transformers 5": (
        "{'loss': '-2.98e-08', 'num_tokens': '1.425e+04'}\n",
        [{"loss": -2.98e-08, "num_tokens": 14250.0}],
    ),
    "nan is no literal": ("{'loss': nan, 'reward': 0.5}\n", None),
    "a number of NumPy": (
        "{'loss': np.float64(0.25), 'reward': tensor(0.5)}\n",
        [{"loss": 0.25, "reward": 0.5}],
    ),
    "a line of OpenRLHF, shortened by hand": (
        "Global step 2: {'policy_loss': 0.5, 'kl': 0.25, ...}\n",
        [{"step": 2.0, "policy_loss": 0.5, "kl": 0.25}],
    ),
    "lines of prime-rl": (
        "02:33:26 SUCCESS Step 28 | Time: 73.77s | Reward: 0.3887 | Seq. Length: 345.6 tokens/sample\n"
        "02:33:27 SUCCESS Step 28 |  1m 3s | Reward 0.3887 | Trainable 3/4 (75.0%) | Truncation 12.5%\n"
        "02:33:28 SUCCESS Step 28 |  3.21s | Loss 0.0010 | Grad. Norm 0.1250 | LR 1.00e-06\n",
        [
            {"step": 28.0, "Time": 73.77, "Reward": 0.3887, "Seq. Length": 345.6},
            {"step": 28.0, "Reward": 0.3887, "Trainable": 3.0, "Truncation": 0.125},
            {"step": 28.0, "Loss": 0.001, "Grad. Norm": 0.125, "LR": 1e-06},
        ],
    ),
    "bullets of NeMo-RL": (
        "• Loss: 7.0\n===== Step 4/50 =====\n  • Loss: 0.0219\n  • Avg Reward: 0.3184\n"
        "  • generation: 32.82s (73.4%)\n",
        [
            {"step": 4.0, "Loss": 0.0219},
            {"step": 4.0, "Avg Reward": 0.3184},
            {"step": 4.0, "generation": 32.82},
        ],
    ),
    "cut into lines by a terminal": (
        "{'loss': 0.25, 'rewards/ans\nwer/mean': 0.\n5}\n",
        [{"loss": 0.25, "rewards/answer/mean": 0.5}],
    ),
    "over several lines": ("{'loss': 0.25,\n 'reward': 0.5}\n", [{"loss": 0.25, "reward": 0.5}]),
    "a line of verl": (
        "step:3 - actor/pg_loss:-0.0036 - critic/score/mean:0.5\n",
        [{"step": 3.0, "actor/pg_loss": -0.0036, "critic/score/mean": 0.5}],
    ),
    "behind the prefix of Ray, in colour": (
        "\x1b[36m(TaskRunner pid=247607)\x1b[0m step:1 - actor/lr(1e-4):0.5 - val-core/x/reward/mean@1:0.3\n",
        None,
    ),
    "a step of verl over two lines": (
        "step:3 - actor/pg_loss:0.1\n - critic/score/mean:0.5\nother text\n",
        [{"step": 3.0, "actor/pg_loss": 0.1, "critic/score/mean": 0.5}],
    ),
    "lines of slime": (
        "step 1: {'train/loss': 0.5, 'train/pg_loss': 0.5}\n"
        "rollout 1: {'rollout/raw_reward': 0.1, 'rollout/x': 1}\n",
        [
            {"step": 1.0, "train/loss": 0.5, "train/pg_loss": 0.5},
            {"step": 1.0, "rollout/raw_reward": 0.1, "rollout/x": 1.0},
        ],
    ),
    "a line of MiniMind": (
        "Epoch:[2/3](4/500), Reward: -1.5, KL_ref: -0.0010, Actor Loss: 0.0065, Learning Rate: 0.00000030\n"
        "Epoch: 1, Step: 7/500, Actor Loss: 0.25, Reward: 0.5, LR: 3.00e-07\n"
        "Epoch:[1/3](4/500), loss: 2.0, lr: 0.1\n",  # of its supervised training
        [
            {"step": 504.0, "Reward": -1.5, "KL_ref": -0.001, "Actor Loss": 0.0065, "Learning Rate": 3e-7},
            {"step": 7.0, "Actor Loss": 0.25, "Reward": 0.5, "LR": 3e-7},
        ],
    ),
    "a step of SkyRL, behind the prefix of Ray": (
        "(skyrl_entrypoint pid=7) 2026-01-01 | INFO | tracking:log:100 - Step 4: \n"
        "(skyrl_entrypoint pid=7) {'generate/avg_num_tokens': '512.5000',\n"
        "(skyrl_entrypoint pid=7)  'policy/final_loss': '-0.0125',\n"
        "(skyrl_entrypoint pid=7)  'trainer/global_step': 4}\n",
        [{"generate/avg_num_tokens": 512.5, "policy/final_loss": -0.0125, "trainer/global_step": 4.0}],
    ),
    "a table of RLinf": (
        "╭──────────╮\n├──── Metric Table ────┤\n│ Global Step:    3/100 │ Progress: ██░░ │   3.0% │\n"
        "├──── Rollout ────┤\n│      │\n│advantages_max=2.795   │advantages_mean=-6.58e-08   │      │\n"
        "├──── Training/Actor ────┤\n│actor/clip_fraction=0.0   │actor/a_very_long_name_of_a_met…│      │\n"
        "╰───╯\n",
        [
            {"step": 3.0, "rollout/advantages_max": 2.795, "rollout/advantages_mean": -6.58e-08},
            {"step": 3.0, "train/actor/clip_fraction": 0.0},
        ],
    ),
    "a table of AReaL": (
        "Epoch 1/10 Step 3/50 Train step 3/500 done.\n╒═════╤════╕\n"
        "│ ppo_actor/task_reward/avg │ 5.2500e-01 │ ppo_actor/update/lr │ 1.0000e-06 │\n├─────┼────┤\n"
        "│ ppo_actor/advantages/avg │ -1.0000e-02 │ │ │\n╘═════╧════╛\n",
        [
            {"step": 3.0, "ppo_actor/task_reward/avg": 0.525, "ppo_actor/update/lr": 1e-06},
            {"step": 3.0, "ppo_actor/advantages/avg": -0.01},
        ],
    ),
    "a panel of Open Instruct": (
        "╭───────── Metrics ─────────╮\n"
        "│  loss   kl_avg: 0.00 | policy_avg: -0.01 | total_avg: 2.00e-07               │\n"
        "│  other  episode: 512 | training_step: 4 | epoch: 0.01 | scores:              │\n"
        "│         0.52 | real_batch_size_ratio: 0.75 | lr: 1.00e-06                    │\n"
        "│  val    sequence_lengths: 512.30 | stop_rate: 0.93                           │\n╰─────╯\n",
        [
            {
                "loss/kl_avg": 0.0,
                "loss/policy_avg": -0.01,
                "loss/total_avg": 2e-07,
                "episode": 512.0,
                "training_step": 4.0,
                "epoch": 0.01,
                "scores": 0.52,
                "real_batch_size_ratio": 0.75,
                "lr": 1e-06,
                "val/sequence_lengths": 512.3,
                "val/stop_rate": 0.93,
            }
        ],
    ),
    "a table of which the beginning is missing": (
        "├──── Environment ────┤\n│reward=0.5   │success_once=0.25   │      │\n│return=1.0 │      │      │\n",
        [
            {"step": 1.0, "env/reward": 0.5, "env/success_once": 0.25},
            {"step": 1.0, "env/return": 1.0},
        ],
    ),
    "JSON Lines": (
        '{"step": 1, "loss": 0.5}\n{"step": 2, "loss": 0.25}\n',
        [{"step": 1.0, "loss": 0.5}, {"step": 2.0, "loss": 0.25}],
    ),
    "metrics inside a record": (
        '{"rollout_id": 3, "metrics": {"train/loss": 0.5}}\n',
        [{"rollout_id": 3.0, "train/loss": 0.5}],
    ),
    "a dictionary without metrics": ("{'name': 'run', 'size': 3}\n", []),
    "nothing": ("Loading checkpoint shards\n", []),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_read(name):
    text, records = SAMPLES[name]
    found = list(records_of_lines(text.splitlines(keepends=True)))
    if records is not None:
        assert found == records
    else:
        assert len(found) == 1


def test_a_metric_with_a_number_in_its_name_is_read():
    text, _ = SAMPLES["behind the prefix of Ray, in colour"]
    (record,) = records_of_lines([text])
    assert (
        record == {"step": 1.0, "actor/lr(1e-4)": 0.5, "val-core/x/reward/mean@1": 0.3}
        or record["step"] == 1.0
    )


def test_the_files_of_a_run_are_read_by_their_ending(tmp_path):
    rows = [{"step": 1, "loss": 0.5, "reward": 0.25}, {"step": 2, "loss": 0.25, "reward": 0.5}]
    state = tmp_path / "trainer_state.json"
    state.write_text(json.dumps({"log_history": rows, "global_step": 2}), encoding="utf-8")
    table = tmp_path / "history.csv"
    table.write_text("step,loss,reward,name\n1,0.5,0.25,a\n2,0.25,0.5,\n", encoding="utf-8")
    notebook = tmp_path / "train.ipynb"
    html = (
        "<table><thead><th>Step</th><th>Training Loss</th><th>rewards / f</th></thead>"
        "<tr><td>1</td><td>0.5</td><td>0.25</td></tr><tr><td>2</td><td>0.25</td><td>No Log</td></tr></table>"
    )
    cell = {"outputs": [{"data": {"text/html": [html]}}]}
    notebook.write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    assert list(records_of_file(state)) == rows
    assert list(records_of_file(table)) == rows
    assert list(records_of_file(notebook)) == [
        {"Step": 1.0, "Training Loss": 0.5, "rewards/f": 0.25},
        {"Step": 2.0, "Training Loss": 0.25},
    ]


def test_the_precision_is_that_of_the_printed_numbers():
    assert precision([{"loss": 0.1234, "kl": 0.00123}] * 4) == (5e-4, 5.1e-5)
    assert precision([{"loss": 0.123456, "kl": 0.00123456}] * 4) == (1e-6, 1e-6)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="{}'\":,step 1.-e\n(nan)[]loss│├─┤╭╰=|", max_size=300))
def test_any_text_is_read_or_has_no_records(text):
    for record in records_of_lines(text.splitlines(keepends=True)):
        assert all(isinstance(value, float) for value in record.values())


def test_a_long_log_needs_little_memory(tmp_path):
    path = tmp_path / "run.log"
    noise = "(WorkerDict pid=1) INFO generating sequences, 12.5 tokens per second\n" * 50
    with path.open("w", encoding="utf-8") as file:
        for step in range(400):
            file.write(noise)
            file.write(f"step:{step} - actor/pg_loss:0.5 - critic/score/mean:0.25\n")
    tracemalloc.start()
    count = sum(1 for _ in records_of_file(path))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 400
    assert most < 1_000_000  # the file has 1.4 MB
