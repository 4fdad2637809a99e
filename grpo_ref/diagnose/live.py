"""Report on a run that is in progress: only statements that are new since the last report."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grpo_ref.diagnose.diagnosis import Diagnosis, diagnose
from grpo_ref.diagnose.results import Results
from grpo_ref.diagnose.statements import Statement, statements
from grpo_ref.diagnose.text import block
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.explanation import Report
from grpo_ref.explain.report import explain

if TYPE_CHECKING:
    from transformers import TrainerCallback


class News:
    """Remember which statements on a run were reported. Remarks are not news."""

    def __init__(self) -> None:
        self._reported: set[tuple[str, str]] = set()

    def of(self, results: Results) -> list[Statement]:
        """Return the statements that were not reported before, and count them as reported.

        A statement is the same if its kind and its name are.
        """
        new = [
            each
            for each in statements(results)
            if each.kind != "remark" and (each.kind, each.name) not in self._reported
        ]
        self._reported |= {(each.kind, each.name) for each in new}
        return new


def follow(
    paths: Sequence[Path], read: Callable[[], Diagnosis], seconds: float = 5.0
) -> Iterator[tuple[Diagnosis | None, list[Statement]]]:
    """Read a growing log again and again, and yield each diagnosis with the statements that are new in it.

    The first diagnosis is always yielded, the others only with new statements. None is yielded, once, while there is
    nothing to read yet. It never ends by itself.

    Args:
      paths: files of the run. They need not exist yet.
      read: reads the files; a `ValueError` means that they hold no metrics yet.
      seconds: time between two looks at the size of the files.
    """
    news, last, diagnosis, has_waited = News(), None, None, False
    while True:
        sizes = [path.stat().st_size if path.exists() else 0 for path in paths]
        if sizes != last:
            last = sizes
            is_first = diagnosis is None
            try:
                diagnosis = read()
            except ValueError:
                if is_first and not has_waited:
                    has_waited = True
                    yield None, []
            else:
                new = news.of(diagnosis)
                if is_first or new:
                    yield diagnosis, new
        time.sleep(seconds)


def trl_callback(
    config: str | Report | None = None, *, every: int = 25, stop: bool = False
) -> "TrainerCallback":
    """Return a callback for TRL's trainers that prints each new statement on the run while it trains.

        trainer = GRPOTrainer(..., callbacks=[trl_callback()])

    Args:
      config: the launch file or its explained report. Default: the arguments of the trainer.
      every: number of logged rows between two looks at the log.
      stop: if true, training stops at a broken relation, or if the log differs from the configuration.

    Raises:
      ImportError: if transformers is not installed.
      ValueError: if the configuration cannot be read, or every is below 1.
    """
    from transformers import TrainerCallback  # only a user of TRL has it

    if every < 1:
        raise ValueError(f"every: expected at least 1, got {every}")
    given = explain(config, trainer="trl") if isinstance(config, str) else config
    news = News()

    class Callback(TrainerCallback):  # type: ignore[misc]  # without transformers its class is unknown
        def on_log(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if len(state.log_history) % every == 0:
                self.report(args, state, control)

        def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.report(args, state, control)

        def report(self, args: Any, state: Any, control: Any) -> None:
            if not state.is_world_process_zero:
                return
            try:
                results = diagnose(state.log_history, given or report_of(vars(args)), trainer="trl")
            except ValueError:  # no metric was logged yet
                return
            for statement in news.of(results):
                print(f"step {state.global_step}:", *block(statement), sep="\n")
            control.should_training_stop |= stop and not results.is_sound

    return Callback()


def report_of(arguments: dict[str, Any]) -> Report | None:
    """Return the explained configuration of TRL from the attributes of a `GRPOConfig`; None if it cannot be explained.

    >>> report_of({"beta": 0.04, "num_generations": 4, "output_dir": "out"}).recipe.kl_coef
    0.04
    """
    keys = DIALECTS["trl"].keys
    settings = [
        f"{name}={value}"
        for name, value in arguments.items()
        if name in keys.names
        and name not in keys.derived
        and isinstance(value, (bool, int, float, str))
        and value != ""
    ]
    try:
        return explain(*settings, trainer="trl")
    except ValueError:
        return None
