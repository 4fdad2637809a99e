"""`grpo-ref diagnose` in a page: the report on a log that the reader dropped or pasted."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from grpo_ref.diagnose.diagnosis import diagnosis_of, read_log
from grpo_ref.diagnose.statements import statements
from grpo_ref.diagnose.text import heading, sections
from grpo_ref.explain.report import explain
from grpo_ref.learning.config import config_for
from grpo_ref.recipes import GRPO
from grpo_ref.tasks import TASKS
from grpo_ref.training import iter_train

LAUNCH = """from trl import GRPOConfig, GRPOTrainer

# The run gave the format a weight of 2. This file does not.
config = GRPOConfig(
    loss_type="grpo",
    beta=0.0,
    num_generations=8,
    per_device_train_batch_size=32,
    gradient_accumulation_steps=1,
    logging_steps=1,
)
trainer = GRPOTrainer(model=model, reward_funcs=[format, correct], args=config, train_dataset=dataset)
trainer.train()
"""
"""Launch file of the example."""


def diagnosed(logs: Sequence[str], launch: str) -> dict[str, Any]:
    """Return the report on a run, or the error in its files.

    Args:
      logs: paths of the files of one log.
      launch: path of the launch file, or "".

    Returns:
      "heading", a line; "counts", kind of statement -> number of statements; and "sections", each with a
        heading and entries (see `text.Entry`). Or "error", a sentence.
    """
    try:
        log = read_log(list(logs))
        diagnosis = diagnosis_of(log, explain(Path(launch)) if launch else None)
    except ValueError as error:
        message = str(error)
        for path in (*logs, launch):  # the page's own folders say nothing to the reader
            message = message.replace(path, Path(path).name) if path else message
        return {"error": message}
    except MemoryError:
        return {"error": "this log is too large for a page; `grpo-ref diagnose` in a terminal can read it"}
    return {
        "heading": heading(diagnosis),
        "counts": Counter(each.kind for each in statements(diagnosis)),
        "sections": [
            {"heading": section.heading, "entries": [entry._asdict() for entry in section.entries]}
            for section in sections(diagnosis)
        ],
    }


def example() -> dict[str, str]:
    """Return the log and the launch file of a run that goes wrong, which is trained for it.

    The task is `arithmetic` with a weight of 2 for the format, and metrics have the names of TRL. Since the
    launch file has no weights, the sum of the rewards is wrong in every row. The learning rate is so high
    that most groups soon have equal rewards.

    Returns:
      "log", in JSON Lines, and "launch".
    """
    task = replace(TASKS["arithmetic"](), weights=np.array([2.0, 1.0]))
    config = config_for(task, updates=120, seeds=1, seed=0, prompts=4, group_size=8, learning_rate=2.0)
    rows = []
    for step, update in enumerate(iter_train(task, replace(GRPO, kl_coef=0.0), config), start=1):
        metrics = {name: float(values[0]) for name, values in update.metrics.items()}
        row = {
            "loss": metrics["loss"],
            "grad_norm": metrics["grad_norm"],
            "reward": metrics["reward"],
            "rewards/format/mean": metrics["format"],
            "rewards/correct/mean": metrics["correct"],
            "frac_reward_zero_std": metrics["dead_groups"],
            "entropy": metrics["entropy"],
            "completions/mean_length": metrics["length"],
            "completions/clipped_ratio": metrics["truncated"],
            "clip_ratio/region_mean": metrics["clip_low"] + metrics["clip_high"],
        }
        rows.append(json.dumps({"step": step, **{name: round(value, 6) for name, value in row.items()}}))
    return {"log": "\n".join(rows) + "\n", "launch": LAUNCH}
