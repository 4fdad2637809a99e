"""Find the files with metrics in the folder of a run: that of a trainer, of W&B or of TensorBoard.

The first kind of file that is there, and has metrics, is read.

| files | written by |
|---|---|
| `trainer_state.json` | TRL and ms-swift; the longest one of a run and its checkpoints |
| `*.jsonl`, `*.csv` | verl, slime, prime-rl, ms-swift; exports of W&B |
| `events.out.tfevents.*` | TensorBoard |
| `*.log`, `*.out`, `*.txt` | a redirected console, or `files/output.log` of W&B, which has what the trainer printed |

The file `run-*.wandb` of W&B is not read. W&B documents no reader for it, and its package has none.
"""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from grpo_ref.diagnose.formats import EVENTS, EXPORT, records_of_file
from grpo_ref.diagnose.log import trainer_of

STATE = "trainer_state.json"
KINDS = ((STATE,), ("*.jsonl", "*.csv"), (EVENTS,), ("*.log", "*.out", "*.txt"))
"""Kinds of files, each with the patterns of its names. The first kind that has metrics is read."""
MOST_FILES = 20_000
"""Largest number of files of a folder that are looked at."""
PEEK = 20
"""Number of records of a file that tell whether it has metrics."""
CHECKPOINT = "checkpoint-*"


def files_of_run(folder: Path) -> list[Path]:
    """Return the files with the metrics of the one run in a folder.

    Raises:
      ValueError: if the folder has no metrics, or those of several runs.
    """
    files = [path for path in sorted(islice(folder.rglob("*"), MOST_FILES)) if path.is_file()]
    for patterns in KINDS:
        matching = [path for path in files if any(path.match(pattern) for pattern in patterns)]
        runs: dict[Path, list[Path]] = {}
        for path in matching:
            if _has_metrics(path):
                runs.setdefault(_run_of(path), []).append(path)
        if len(runs) > 1:
            raise ValueError(f"it has {len(runs)} runs; choose one of {_listed(runs)}")
        for of_run in runs.values():
            return [max(of_run, key=lambda path: path.stat().st_size)] if patterns == (STATE,) else of_run
    hint = "; " + EXPORT if any(path.suffix == ".wandb" for path in files) else ""
    raise ValueError(f"no file in this folder has metrics of a known trainer{hint}")


def _has_metrics(path: Path) -> bool:
    if path.match(EVENTS):
        return True
    try:
        names = {name for record in islice(records_of_file(path), PEEK) for name in record}
    except (ValueError, OSError):
        return False
    return trainer_of(names) != ""


def _run_of(path: Path) -> Path:
    """Return the folder of the run to which a file belongs: its own, or the one with the checkpoints."""
    return path.parent.parent if path.parent.match(CHECKPOINT) else path.parent


def _listed(paths: Iterable[Path]) -> str:
    first = [str(path) for path in islice(paths, 4)]
    return ", ".join(first[:3]) + (", ..." if len(first) > 3 else "")
