"""Make docs/parity_live.md: what each release computed, beside what `explain` says and the paper's form.

python docs/parity_live.py                     (a few minutes)
python docs/parity_live.py add FILE [COMMIT]   add a run that `grpo-ref parity --live ... --json FILE` wrote
"""

import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from grpo_ref.parity.live.environment import FUNCTIONS
from grpo_ref.parity.live.stored import recorded, verdicts

PAGE = Path(__file__).with_name("parity_live.md")
RUNS = Path(__file__).with_name("parity_live_runs.toml")
# The releases at which the numbers of a trainer change, and the newest one.
SHOWN = {
    "trl": "0.15.2 0.16.1 0.18.0 0.20.0 0.21.0 0.22.0 0.22.2 0.26.0 1.8.0 1.9.0 1.10.0 1.16.0",
    "verl": "0.2 0.5.0 0.7.0 0.7.1 0.8.0 0.9.1",
}
TITLES = {"trl": "TRL", "verl": "verl", **{name: about["title"] for name, about in FUNCTIONS.items()}}
HEAD = """# Every release, beside what explain says of it

Each row compares the gradients that a release computed with two predictions: the one of
[`explain`](practitioner.md) for that release, and the paper's form of the algorithm that the configuration
names. A case agrees if all five batches agree to 1e-4. `grpo-ref parity --live trl` makes the same comparison
with the release that you have installed. `conformance/grpo_conformance/releases/README.md` describes how the
gradients were recorded.

The paper's form is the recipe of that name, at the numbers of the case: the widths of the clip and the weight
of the penalty. A case that switches something on that the paper does not have, such as a correction for the
sampler, differs from it on purpose. A case does not run if the release lacks its key, or stops with an error.

`python docs/parity_live.py` makes this page.
"""


def row(trainer: str, release: str) -> str:
    """Return the row of one release."""
    cases = list(verdicts(recorded(trainer), release))
    counts = Counter(each.status for each in cases)
    named = [each for each in cases if each.paper]
    apart = [each.paper_change for each in named if each.paper_change]
    largest = max((change for change in apart if change != float("inf")), default=0.0)
    compared = counts["agrees"] + counts["differs"]
    outside = f"{counts['not run'] + counts['stops'] + counts['not explained']}"
    return (
        f"| {TITLES[trainer]} {release} | {compared} | {counts['agrees']} | {counts['differs']} | {outside} |"
        f" {len(apart)} of {len(named)} | {100 * largest:.0f} % |"
    )


LIVE = """## Run live

The table above is about recorded gradients. In the runs below, `grpo-ref parity --live` ran the code of the
release itself, with all cases, on one CPU. A run agrees if each case computes what `explain` says of that
release. Cases that the release lacks are "not run"; cases with which it stops are mostly those that need
vLLM or Liger. PyTorch 2.13.0.

`make parity-live` installs the newest TRL and verl and runs both. On 2026-11-28 these were TRL 1.16.0 and
verl 0.9.1 with PyTorch 2.14.1 and transformers 5.24.0: all cases that were compared agreed, 289 and 319.
"""
FUNCTIONS_HEAD = """## Loss functions run live

Of these trainers the loss functions run, with the inputs of the recorded cases. They need neither a GPU nor
the packages around them: those that are missing are replaced by empty modules. The training step around the
functions does not run, so a change of the step is not seen. "as recorded" counts cases that compute the
numbers of the recorded version; "changed, as explain says" counts cases that differ from it as `explain`
says of that release. Where a function takes other arguments than in the recorded version, its cases are not
run.

`grpo-ref parity --live openrlhf --source FOLDER` does this with your checkout. `--release` names the
release if the checkout does not state it.

The cases that differ are about numbers that are not finite. Up to 0.10.2, OpenRLHF's GSPO divides 0 by 0 for
a completion without tokens, and PyTorch multiplies 0 by infinity where a ratio overflows.
"""


def runs() -> list[dict[str, Any]]:
    """Return the runs that were added, in the order of the file."""
    return tomllib.loads(RUNS.read_text(encoding="utf-8")).get("run", [])


def live_section() -> str:
    """Return the part of the page on live runs."""
    every = runs()
    whole = [each for each in every if each["trainer"] not in FUNCTIONS]
    parts = [each for each in every if each["trainer"] in FUNCTIONS]
    return "\n".join([LIVE, *_whole(whole), "", FUNCTIONS_HEAD, *_functions(parts)]) + "\n"


def _whole(every: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the table of the trainers that run as a whole."""
    yield "| release | date | compared | agree | differ | stop | not run |"
    yield "|---|---|---|---|---|---|---|"
    for each in sorted(every, key=_order):
        count = Counter(each["cases"])
        compared = count["agrees"] + count["differs"]
        yield (
            f"| {TITLES[each['trainer']]} {each['release']} | {each['date']} | {compared} |"
            f" {count['agrees']} | {count['differs']} | {count['stops']} | {count['not run']} |"
        )


def _functions(every: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the table of the trainers whose functions run."""
    yield (
        "| version | date | compared | as recorded | changed, as explain says | differ | signature changed"
        " | stop |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for each in sorted(every, key=_order):
        count = Counter(each["cases"])
        compared = sum(count[name] for name in ("agrees", "explained", "differs"))
        commit = f" ({each['commit']})" if each["commit"] else ""
        yield (
            f"| {TITLES[each['trainer']]} {each['release']}{commit} | {each['date']} | {compared} |"
            f" {count['agrees']} | {count['explained']} | {count['differs']} |"
            f" {count['signature changed']} | {count['stops']} |"
        )


def _order(each: dict[str, Any]) -> tuple[int, list[tuple[int, str]]]:
    """Return a key that sorts by trainer, then by release."""
    parts = each["release"].replace("-", ".").split(".")
    places = [(int(part), "") if part.isdigit() else (-1, part) for part in parts]
    return list(TITLES).index(each["trainer"]), places


def add(file: Path, commit: str = "") -> None:
    """Add a run to `parity_live_runs.toml`, in place of an earlier run of the same version.

    Args:
      file: what --json wrote. The date of the run is that of the file.
      commit: the commit of a checkout, or "".
    """
    written = json.loads(file.read_text(encoding="utf-8"))
    date = datetime.fromtimestamp(file.stat().st_mtime, UTC).date()
    new = {
        "trainer": written["trainer"],
        "release": written["release"],
        "commit": commit,
        "date": date,
        "cases": dict(Counter(each["status"] for each in written["cases"])),
    }
    same = ("trainer", "release", "commit")
    others = [each for each in runs() if any(each[name] != new[name] for name in same)]
    head = RUNS.read_text(encoding="utf-8").split("[[run]]")[0]
    RUNS.write_text(head + "\n".join(map(_entry, sorted([*others, new], key=_order))), encoding="utf-8")


def _entry(run: dict[str, Any]) -> str:
    """Return the lines of a run."""
    cases = ", ".join(f'"{status}" = {count}' for status, count in sorted(run["cases"].items()))
    named = "".join(f'{name} = "{run[name]}"\n' for name in ("trainer", "release", "commit"))
    return f"[[run]]\n{named}date = {run['date']}\ncases = {{ {cases} }}\n"


def main() -> None:
    """Write the page."""
    if sys.argv[1:2] == ["add"]:
        add(Path(sys.argv[2]), *sys.argv[3:])
        before = PAGE.read_text(encoding="utf-8").split("## Run live")[0].rstrip()
        PAGE.write_text(f"{before}\n\n{live_section()}", encoding="utf-8")
        return
    pairs = [(trainer, release) for trainer, releases in SHOWN.items() for release in releases.split()]
    with ProcessPoolExecutor(2) as pool:
        rows = pool.map(row, *zip(*pairs, strict=True))
        table = [
            "| release | cases compared | agree with explain | differ from explain | do not run"
            " | differ from the paper | largest difference from the paper |",
            "|---|---|---|---|---|---|---|",
        ]
        for line in rows:
            print(line, file=sys.stderr, flush=True)
            table.append(line)
    PAGE.write_text(f"{HEAD}\n" + "\n".join(table) + f"\n\n{live_section()}", encoding="utf-8")


if __name__ == "__main__":
    main()
