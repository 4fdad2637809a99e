"""Explain real launch files and compare with what they compute: python launch_files.py FOLDER [LIST]

LIST names each file by repository, path and commit, with what it computes, which was established by reading
the trainer's source at its version. Without it, it is `tests/data/launch_files.json`; `launch_files_2.json`
and `launch_files_3.json` beside that hold files which nobody who wrote the readers had seen by then.

FOLDER holds the files under the names in the list; what a file reads lies in a folder of its name. A line for
each that is refused or differs, then counts. Where a file states no version and its report tells what several
compute, one of them has to be right.
"""

import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grpo_ref.explain import explain
from grpo_ref.explain.command_line import launched
from grpo_ref.explain.description import takes
from grpo_ref.explain.dialect import COMPLETIONS, Dialect
from grpo_ref.explain.explanation import Report, dialect_of, report

LIST = Path(__file__).parents[1] / "launch_files.json"
PARTS = {
    **{"group size": COMPLETIONS, "entropy": "bonus", "KL": "kl_coef"},
    **dict.fromkeys(("clip_low", "clip_high", "dual clip"), "surrogate"),
}
"""Facts, each with the part of the report that tells it."""
HANDING_ON = {"unsloth": ("trl",), "axolotl": ("trl",), "oumi": ("trl", "verl")}
"""Programs that hand their keys on, each with the trainers that may get them."""


def main(folder: Path, named: Path = LIST) -> None:
    """Judge every file of the list that is there."""
    counts: Counter[str] = Counter()
    for entry in json.loads(named.read_text(encoding="utf-8")):
        if (folder / entry["file"]).is_file():
            verdict, about = judged(folder, entry)
            counts[verdict] += 1
            if about:
                print(f"{verdict}: {entry['file']} ({entry['repo']}): {about}")
    print(dict(counts))


def judged(folder: Path, entry: dict[str, Any]) -> tuple[str, str]:
    """What became of a file, and what is different."""
    try:
        told = explained(folder / entry["file"], entry["path"])
    except ValueError as error:
        return ("rightly refused", "") if entry["expected"] == "refuse" else ("refused", str(error))
    if entry["expected"] == "refuse":
        return "answered", f"{entry['reason']}; the answer is {told.explanation.paragraph}"
    found = [*different(told, entry)]
    if not found:
        return "the same", ""
    for other in told.others:
        if takes(other, told.found.config) and not any(different(of_version(told, other), entry)):
            return "the same with one of the versions that are told", ""
    verdict = "different, and a version or a fork is told" if told.launch.cautions else "different"
    return verdict, "; ".join([*found, *told.launch.cautions])


def different(told: Report, entry: dict[str, Any]) -> Iterator[str]:
    """The facts in which a report and the list differ."""
    for name, theirs, ours in facts(told, entry):
        if theirs is not None and not same(theirs, ours):
            yield f"{name} is {theirs}, and {ours} here"


def of_version(told: Report, other: Dialect) -> Report:
    """The report as another version has it, which the file may be of."""
    explanation = explain(other, told.found.config, told.found.unsure)
    return told._replace(dialect=other, explanation=explanation)


def explained(path: Path, inside: str) -> Report:
    """The report, with the files of its repository that it names; it stands at its place among them."""
    beside = path.with_suffix("")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, inside)
        if beside.is_dir():
            shutil.copytree(beside, folder, dirs_exist_ok=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        for each in beside.glob("*.*") if beside.is_dir() else ():
            shutil.copy(each, place.parent)
        shutil.copy(path, place)
        ((_, launch),) = launched([str(place)])
        return report(*dialect_of(launch))


def facts(told: Report, entry: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """Name, what the list says and what the report says, of everything that it does not call unknown."""
    unknown = {part for each in told.found.unsure for part in each.parts}
    return [fact for fact in stated(told, entry) if PARTS.get(fact[0]) not in unknown]


def stated(told: Report, entry: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """Name, what the list says and what the report says, of everything that is a number or a name."""
    recipe, wanted = told.explanation.recipe, entry["facts"]
    settings, kl = recipe.surrogate.settings, wanted.get("kl") or {}
    getting = HANDING_ON.get(entry["trainer"], ())
    is_dual = recipe.surrogate.kernel.__name__.startswith(("dual", "two_sided"))
    found = [
        (
            "trainer",
            entry["trainer"] if told.dialect.name not in getting else told.dialect.name,
            told.dialect.name,
        ),
        ("group size", wanted.get("group_size"), told.dialect.concept(COMPLETIONS, told.found.config)),
        ("entropy", wanted.get("entropy_coef"), told.explanation.entropy_coef or 0.0),
    ]
    if "clip_low" in settings:
        found += [(name, wanted.get(name), settings.get(name)) for name in ("clip_low", "clip_high")]
        found += [
            ("dual clip", wanted.get("dual_clip") or "none", settings["max_ratio"] if is_dual else "none")
        ]
    if kl.get("place") in ("loss", "none"):
        found += [("KL", 0.0 if kl["place"] == "none" else kl.get("coef"), recipe.kl_coef)]
    return found


def same(theirs: Any, ours: Any) -> bool:
    """Whether two facts are, up to rounding."""
    if isinstance(theirs, (int, float)) and isinstance(ours, (int, float)):
        return abs(theirs - ours) <= 1e-9 + 1e-6 * abs(theirs)
    return bool(theirs == ours)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
