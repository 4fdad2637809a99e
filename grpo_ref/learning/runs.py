"""Run folders: the settings of a training run, its metrics, and a checkpoint to continue it to the bit.

    config.json      task, recipe and settings; changed only when the run is lengthened
    metrics.csv      one row per update and seed
    checkpoint.npz   the state after the last saved update: policies, optimizer, random numbers

Every file is replaced as a whole: the new file is written beside the old one, flushed and renamed. So a run
that is killed leaves either the old file or the new one. The metrics are replaced before the checkpoint.
After a kill they may be ahead of it; then loading drops the rows that are ahead. The first checkpoint is
written at update 0, so if there are metrics without a checkpoint, the checkpoint was deleted.
"""

import csv
import io
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grpo_ref.arrays import to_host
from grpo_ref.files import UNFINISHED, replace_file, replace_text
from grpo_ref.learning.curves import Metrics
from grpo_ref.learning.state import TrainState, check_state

FORMAT = "grpo_ref run 2"
CONFIG, METRICS, CHECKPOINT = "config.json", "metrics.csv", "checkpoint.npz"


class RunError(Exception):
    """Raised if a folder is not a run folder, is damaged, or has another run in it. Nothing was written."""


History = list[Metrics]
"""The metrics of each update so far, from update 1; each name -> (S,)."""


class RunFolder:
    """A run folder on disk. The errors of its methods name the file that is at fault."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def is_new(self) -> bool:
        """Return True if the folder does not exist, or has only unfinished files that a kill left."""
        if self.path.exists() and not self.path.is_dir():
            return False
        return not self.path.exists() or all(path.suffix == UNFINISHED for path in self.path.iterdir())

    def create(self, config: Mapping[str, Any]) -> None:
        """Create the folder and write config.json.

        Raises:
          RunError: if the folder is not new.
        """
        if not self.is_new():
            raise RunError(
                f"{self.path} exists already; continue it with --resume, or choose another folder with --out"
            )
        self.path.mkdir(parents=True, exist_ok=True)
        self.describe(config)

    def describe(self, config: Mapping[str, Any]) -> None:
        """Replace config.json."""
        text = json.dumps({"format": FORMAT, **config}, indent=2) + "\n"
        replace_text(self.path / CONFIG, text)

    def config(self) -> dict[str, Any]:
        """Read config.json.

        Raises:
          RunError: if the file is missing, damaged or of another format.
        """
        path = self.path / CONFIG
        if not self.path.is_dir():
            raise RunError(f"{self.path}: no such folder")
        if not path.is_file():
            raise RunError(f"{self.path} is not a run folder: it has no {CONFIG}")
        try:
            config = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            raise RunError(f"{path} is damaged: {error}") from error
        if not isinstance(config, dict) or config.get("format") != FORMAT:
            raise RunError(f"{path} was not written by this program: its format is not {FORMAT!r}")
        return {name: value for name, value in config.items() if name != "format"}

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the folder, so that no other process writes to it until this one leaves the block or dies.

        Raises:
          RunError: if another process has locked the folder.
        """
        # The lock is on the folder, since the files in it are replaced, and their locks with them. Closing
        # the folder releases the lock; the system does so too if this process dies.
        import fcntl  # not in Python for WebAssembly, where logs of runs are read

        folder = os.open(self.path, os.O_RDONLY)
        try:
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RunError(f"{self.path} is being written by another process") from None
            yield
        finally:
            os.close(folder)

    def save(self, state: TrainState, history: History) -> None:
        """Replace the metrics, if there are any, and then the checkpoint, always with NumPy arrays."""
        arrays = _as_arrays(to_host(state))
        if history:
            replace_text(self.path / METRICS, _as_csv(history))
        replace_file(self.path / CHECKPOINT, lambda file: np.savez(file, **arrays))

    def load(self) -> tuple[TrainState, History] | None:
        """Return the last saved state and the metrics up to it, or None before the first save.

        Raises:
          RunError: if a file is damaged, there are metrics but no checkpoint, or updates are missing from the
            metrics.
        """
        path = self.path / CHECKPOINT
        if not path.exists():
            if (self.path / METRICS).exists():
                raise RunError(
                    f"{self.path} has {METRICS} but no {CHECKPOINT}: without it the run cannot be continued;"
                    " put it back, or begin again in another folder with --out"
                )
            return None
        try:
            # No pickles: loading one could run any code.
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                state = _as_state(dict(arrays))
            check_state(state)
        except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile) as error:
            raise RunError(f"{path} is damaged: {error}") from error
        history = self.history() if state.update else []
        if len(history) < state.update:
            raise RunError(
                f"{self.path / METRICS} is damaged: it has {len(history)} of {state.update} updates"
            )
        return state, history[: state.update]

    def history(self) -> History:
        """Read the saved metrics.

        Raises:
          RunError: if the file is missing or damaged.
        """
        path = self.path / METRICS
        if not path.is_file():
            raise RunError(f"{self.path} has no {METRICS} yet: nothing was saved before the run ended")
        try:
            return _from_csv(path.read_text(encoding="utf-8"))
        except (ValueError, KeyError, IndexError, OSError) as error:
            raise RunError(f"{path} is damaged: {error}") from error


def _as_csv(history: History) -> str:
    """Write a history as CSV, one row per update and seed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["update", "seed", *history[0]])
    for update, metrics in enumerate(history, start=1):
        for seed, row in enumerate(zip(*(values.tolist() for values in metrics.values()), strict=True)):
            writer.writerow([update, seed, *row])
    return text.getvalue()


def _from_csv(text: str) -> History:
    """Read a history back; the inverse of `_as_csv`."""
    header, *rows = csv.reader(io.StringIO(text))
    if header[:2] != ["update", "seed"]:
        raise ValueError(f"expected columns update, seed, ..., got {', '.join(header[:2])}")
    table = np.array(rows, dtype=np.float64)
    seeds = int(table[:, 1].max()) + 1
    by_update = table.reshape(-1, seeds, len(header))
    return [dict(zip(header[2:], columns.T[2:], strict=True)) for columns in by_update]


def _as_arrays(state: TrainState) -> dict[str, Any]:
    """Return a state as named arrays; the random generators are JSON text in an array."""
    arrays = {"update": np.array(state.update), "params": state.params, "ref_params": state.ref_params}
    arrays |= {"entropy_coef": state.entropy_coef, "prompt_probs": state.prompt_probs}
    arrays["generators"] = np.array(json.dumps(list(state.generators)))
    return arrays | {f"optimizer.{name}": value for name, value in state.optimizer.items()}


def _as_state(arrays: Mapping[str, NDArray[Any]]) -> TrainState:
    """Return the state of named arrays; the inverse of `_as_arrays`."""
    prefix = "optimizer."
    return TrainState(
        update=int(arrays["update"]),
        params=arrays["params"],
        ref_params=arrays["ref_params"],
        entropy_coef=arrays["entropy_coef"],
        prompt_probs=arrays["prompt_probs"],
        optimizer={
            name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)
        },
        generators=tuple(json.loads(str(arrays["generators"]))),
    )
