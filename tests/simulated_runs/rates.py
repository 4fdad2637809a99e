"""Measure how often `diagnose` is right about runs of known truth (`make diagnose-rates`)."""

import argparse
import json
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from simulated_runs.faults import FAULTS, with_faults
from simulated_runs.records import write_run
from simulated_runs.setting import healthy

from grpo_ref.diagnose.diagnosis import diagnose
from grpo_ref.diagnose.statements import statements

RESULTS = Path(__file__).parents[2] / "docs" / "howto" / "diagnose_rates.json"
HEALTHY, EACH, PAIRS = 120, 5, 40
"""Number of healthy runs, of runs with each fault, and of runs with two faults, in each half."""
HELD_OUT = 2
"""The half that the documentation has. One that was seen before a change of patterns is not used again."""
FIRST = 3
"""Number of statements that are read."""


def plan(half: int) -> list[tuple[int, tuple[str, ...]]]:
    """Return seed and faults of every run of a half. The two halves share no seed."""
    start = 100_000 * half
    runs: list[tuple[int, tuple[str, ...]]] = [(start + each, ()) for each in range(HEALTHY)]
    runs += [
        (start + 1_000 + 10 * k + each, (name,)) for k, name in enumerate(FAULTS) for each in range(EACH)
    ]
    rng = np.random.default_rng(start)
    while len(runs) < HEALTHY + EACH * len(FAULTS) + PAIRS:
        names = tuple(sorted(str(name) for name in rng.choice(list(FAULTS), size=2, replace=False)))
        try:
            with_faults(0, names)
        except ValueError:
            continue
        runs.append((start + 5_000 + len(runs), names))
    return runs


def outcome(seed: int, names: tuple[str, ...]) -> dict[str, Any]:
    """Run, diagnose, and return the truth beside the statements."""
    setting = with_faults(seed, names) if names else healthy(seed)
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        log, launch = write_run(setting, Path(folder))
        diagnosis, alone = diagnose(log, launch), diagnose(log)
    told = statements(diagnosis)
    said = [each.name for each in told if each.kind != "remark"]
    exact = [each.name for each in told if each.kind in ("contradiction", "violation")]
    return {
        "seed": seed,
        "faults": list(names),
        "trainer": setting.trainer,
        "world": setting.world,
        "loss": setting.loss,
        "exact": exact,
        "exact_without_file": [each.code for each in alone.violations],
        "said": said,
        "named": [bool(FAULTS[name].named_by & set(said[:FIRST])) for name in names],
        "comparisons": sum(diagnosis.tested.counts.values()),
    }


def outcomes(half: int, jobs: int = 2) -> list[dict[str, Any]]:
    """Return the outcomes of a half."""
    return list(joblib.Parallel(n_jobs=jobs)(joblib.delayed(outcome)(*run) for run in plan(half)))


def summary(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the counts of a half."""
    sound = [run for run in runs if not run["faults"]]
    single = [run for run in runs if len(run["faults"]) == 1]
    pairs = [run for run in runs if len(run["faults"]) == 2]
    return {
        "healthy": {
            "runs": len(sound),
            "comparisons": sum(run["comparisons"] for run in sound),
            "false_violations": sum(bool(run["exact"] or run["exact_without_file"]) for run in sound),
            "false_patterns": sum(len(run["said"]) > len(run["exact"]) for run in sound),
            "said": _counted(name for run in sound for name in run["said"]),
        },
        "faults": {
            name: {
                "about": FAULTS[name].about,
                "runs": len(of := [run for run in single if run["faults"] == [name]]),
                "named": sum(run["named"][0] for run in of),
                "said": _counted(each for run in of for each in dict.fromkeys(run["said"][:FIRST])),
            }
            for name in FAULTS
        },
        "pairs": {
            "runs": len(pairs),
            "faults": 2 * len(pairs),
            "named": sum(sum(run["named"]) for run in pairs),
            "one_named": sum(any(run["named"]) for run in pairs),
        },
    }


def _counted(names: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def main() -> None:
    """Print the outcomes of the development half, or write those of the held-out half."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--development", action="store_true", help="print the development half; write nothing"
    )
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    runs = outcomes(0 if arguments.development else HELD_OUT, arguments.jobs)
    if arguments.development:
        print(json.dumps(summary(runs), indent=1))
    else:
        RESULTS.write_text(json.dumps(summary(runs), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
