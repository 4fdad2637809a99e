"""Run the loss functions of a trainer on recorded inputs, and compare them with the recording and with grpo_ref."""

import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from grpo_conformance import RECORDINGS

from grpo_ref.explain.dialect import numbered
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.dialects.openrlhf.keys import SCHEMES
from grpo_ref.parity.live.environment import FUNCTIONS, Installed, NotRun, environment_of, package_in
from grpo_ref.parity.replay import compare, read, rebuild

CORRECTION = "algo.advantage.is_correction"
"""Prefix of OpenRLHF's keys of the correction for the sampler, two of which 0.11.2 replaced."""
RESULTS = ("loss", "grad_logp", "value")
"""Numbers of a case that are compared. Metrics are not: many of them are logged outside the functions."""
COMPARED = ("agrees", "explained", "differs")
"""Statuses of cases whose numbers were compared."""


class Result(NamedTuple):
    """The result of one case.

    Attributes:
      case: id of the recorded case.
      status: "agrees" with the recording and with grpo_ref; "explained" if it differs from the recording, and
        grpo_ref computes the same for this release; "differs"; "signature changed"; "stops" with an error; "outside" if
        the functions do not compute all of the case.
      recorded: difference from the recorded numbers, relative to the largest; None if there are none to compare.
      explained: difference from the numbers of grpo_ref; None if grpo_ref has none.
      problem: what the status rests on, if it is not a number.
    """

    case: str
    status: str
    recorded: float | None = None
    explained: float | None = None
    problem: str = ""


def recorded_cases(trainer: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the inputs and the cases of a trainer that hold numbers. Refused configurations have none."""
    inputs, cases = read(RECORDINGS / f"{trainer}.json")
    return inputs, [case for case in cases if "refused" not in case]


def request(case: Mapping[str, Any], inputs: Mapping[str, Any], release: str) -> dict[str, Any]:
    """Return a case as the child reads it: with all settings and arrays, and without the recorded numbers.

    Settings have their full names, such as "trainer.algorithm.gamma", and their short ones. A key that is not set has
    the default of the release if `explain` covers the release, and of the recorded version otherwise.
    """
    dialect, every = DIALECTS[case["trainer"]], {**inputs, **case.get("inputs", {})}
    dialect = dialect.at(covered(dialect.name, release))
    try:
        settings = dict(dialect.settings(case["config"]))
    except ValueError:  # the release lacks a key, and `result` will say so
        settings = dict(DIALECTS[case["trainer"]].settings(case["config"]))
    return {
        "id": case["id"],
        "call": case["call"],
        "settings": settings | {dialect.path(name): value for name, value in settings.items()},
        "dtype": case.get("dtype", "float64"),
        "group_size": every["group_size"],
        "arrays": {name: every[source] for name, source in case["given"].items()},
    }


def run(
    installed: Installed, requests: Sequence[Mapping[str, Any]], timeout: float
) -> tuple[dict[str, Any], list[str]]:
    """Run cases in a child process.

    Args:
      installed: the trainer.
      requests: the cases, as `request` returns them.
      timeout: seconds after which the child is stopped.

    Returns:
      The numbers of each case by id, and the packages that were replaced by empty modules.

    Raises:
      NotRun: if the trainer's modules cannot be imported, or take too long.
    """
    with tempfile.TemporaryDirectory(prefix="grpo-ref-live-") as name:
        folder = Path(name)
        asked, out = folder / "request.json", folder / "results.json"
        asked.write_text(
            json.dumps({"trainer": installed.trainer, "cases": list(requests)}), encoding="utf-8"
        )
        package = package_in(folder)
        environment = environment_of(installed.source, package, FUNCTIONS[installed.trainer]["folder"])
        command = [str(installed.python), "-m", "grpo_conformance.functions.run", str(asked), str(out)]
        try:
            subprocess.run(
                command,
                env=environment,
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=timeout,
                check=True,
            )
        except subprocess.TimeoutExpired as error:
            raise NotRun(f"--timeout: the cases take more than {timeout:.0f} s; wait longer") from error
        except subprocess.CalledProcessError as error:
            last = (error.stderr.strip().splitlines() or [str(error)])[-1]
            title = f"{installed.trainer} {installed.release}"
            raise NotRun(f"the functions of {title} could not be loaded: {last}") from error
        results = json.loads(out.read_text(encoding="utf-8"))
        return results["cases"], results["replaced"]


def result(
    case: Mapping[str, Any], inputs: Mapping[str, Any], numbers: Mapping[str, Any], release: str
) -> Result:
    """Compare one case.

    Args:
      case: the case with its recorded numbers.
      inputs: the arrays of its file.
      numbers: what the child returned for the case.
      release: the release that ran.
    """
    for key, status in (("changed", "signature changed"), ("outside", "outside"), ("error", "stops")):
        if key in numbers:
            return Result(case["id"], status, problem=numbers[key])
    bare = {name: value for name, value in case.items() if name not in ("metrics", *RESULTS)}
    theirs = {name: numbers[name] for name in RESULTS if name in numbers}
    try:
        with np.errstate(all="ignore"):
            before = compare(bare | {name: case[name] for name in theirs}, inputs, theirs)
            try:
                known = covered(case["trainer"], release)
                config = config_at(case["trainer"], case["config"], known)
                ours = rebuild(bare | {"release": known, "config": config}, inputs)
            except ValueError as error:  # the release has no such key
                return Result(case["id"], "outside", before.error, problem=f"explain: {error}")
            explained = compare(bare | theirs, inputs, ours)
    except (ValueError, KeyError) as error:
        return Result(case["id"], "stops", problem=f"other numbers than the recorded ones: {error}")
    status = "agrees" if before.passed else "explained"
    return Result(case["id"], status if explained.passed else "differs", before.error, explained.error)


def config_at(trainer: str, config: Mapping[str, Any], release: str) -> Mapping[str, Any]:
    """Return the configuration of a case with the keys of a release that replaced some of its keys.

    >>> flags = {f"{CORRECTION}_enable": True, f"{CORRECTION}_type": "icepop"}
    >>> config_at("openrlhf", flags, "0.11.2") == {f"{CORRECTION}_level": "token", f"{CORRECTION}_mode": "mask"}
    True
    >>> config_at("openrlhf", flags, "0.11.0") == flags
    True
    """
    if trainer != "openrlhf" or not release or numbered(release) < numbered("0.11.2"):
        return config
    left = {
        key: value
        for key, value in config.items()
        if not key.startswith((f"{CORRECTION}_enable", f"{CORRECTION}_type"))
    }
    if not config.get(f"{CORRECTION}_enable"):
        return left
    scheme = SCHEMES[config.get(f"{CORRECTION}_type", "tis")]
    return left | {f"{CORRECTION}_level": scheme.level, f"{CORRECTION}_mode": scheme.mode}


def covered(trainer: str, release: str) -> str:
    """Return the release of a trainer that `explain` covers, or "" for the recorded version.

    >>> covered("openrlhf", "0.10.2 1f2e3d4c5"), covered("openrlhf", "checkout")
    ('0.10.2', '')
    """
    for part in release.split():
        try:
            DIALECTS[trainer].at(part)
        except ValueError:
            continue
        return part
    return ""


def summary(installed: Installed, results: Sequence[Result], replaced: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the summary."""
    about, counts = FUNCTIONS[installed.trainer], Counter(each.status for each in results)
    compared = sum(counts[name] for name in COMPARED)
    yield (
        f"{about['title']} {installed.release}: {compared} case{'s' * (compared != 1)} compared;"
        f" {counts['agrees']} as recorded at {about['recorded']}, {counts['explained']} changed as explain says,"
        f" {counts['differs']} differ."
    )
    for status in ("signature changed", "stops", "outside"):
        reasons = Counter(each.problem for each in results if each.status == status)
        for reason, count in reasons.most_common():
            yield f"{status}: {count} case{'s' * (count != 1)}: {reason}"
    if replaced:
        yield f"Packages that were replaced by empty modules: {', '.join(replaced)}."
    if not covered(installed.trainer, installed.release):
        yield f"explain does not cover {installed.release}; compared with what it says of {about['recorded']}."
    yield "The functions ran, not the training step around them."


def line(each: Result) -> str:
    """Return the line on one case.

    >>> line(Result("grpo, holes", "explained", 0.25, 1e-9))
    'explained         grpo, holes: 25 % from the recording, 1e-07 % from grpo_ref'
    >>> line(Result("grpo, holes", "outside", problem="the call 'advantages'"))
    "outside           grpo, holes: the call 'advantages'"
    """
    if each.recorded is None or each.explained is None:
        return f"{each.status:17} {each.case}: {each.problem}"
    if each.status == "agrees":
        return f"{each.status:17} {each.case}"
    sizes = [
        f"{100 * size:.2g} %" if size < np.inf else "not finite" for size in (each.recorded, each.explained)
    ]
    return f"{each.status:17} {each.case}: {sizes[0]} from the recording, {sizes[1]} from grpo_ref"


def document(installed: Installed, results: Sequence[Result], replaced: Sequence[str]) -> dict[str, Any]:
    """Return the results for a file: JSON has no infinity, so it is text."""
    return {
        "trainer": installed.trainer,
        "release": installed.release,
        "recorded": FUNCTIONS[installed.trainer]["recorded"],
        "torch": installed.torch,
        "replaced": list(replaced),
        "cases": [
            {name: str(value) if value == float("inf") else value for name, value in each._asdict().items()}
            for each in results
        ],
    }
