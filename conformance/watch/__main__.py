"""Compare the tracked files of the trainers with the recorded hashes, and write the text of an issue.

Examples:
    python -m watch check                            fetch from the network; print the issue
    python -m watch check --from snapshots trl verl  compare local snapshots of two trainers
    python -m watch record --from snapshots trl      hash the recorded version again, after a new recording

Exit status of check: 0 nothing changed, 1 something changed, 2 nothing changed and something could not be fetched.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from grpo_ref.files import replace_text
from watch.compare import compare
from watch.record import filled
from watch.report import Comparison, Result, issue
from watch.rerun import rerun
from watch.sources import (
    Folder,
    NotFetchedError,
    Snapshot,
    local,
    newest_commit,
    newest_release,
    recorded_in,
)
from watch.tracked import TRACKED, Trainer, dump, read


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    args = _parser().parse_intermixed_args(arguments)
    try:
        trainers = read(args.tracked)
    except (OSError, ValueError) as error:
        print(f"{args.tracked}: {error}", file=sys.stderr)
        return 2
    if unknown := sorted(set(args.trainers) - {each.name for each in trainers}):
        names = ", ".join(each.name for each in trainers)
        print(f"expected trainers among {names}, received {unknown[0]}", file=sys.stderr)
        return 2
    wanted = [each for each in trainers if not args.trainers or each.name in args.trainers]
    with tempfile.TemporaryDirectory() as work:
        if args.command == "record":
            return _record(trainers, wanted, args, Path(work))
        return _check(wanted, args, Path(work))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m watch", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("check", "record"), help="compare, or hash the recorded version")
    parser.add_argument("trainers", nargs="*", metavar="TRAINER", help="names in tracked.toml (default: all)")
    parser.add_argument(
        "--from", dest="folder", type=Path, metavar="FOLDER", help="local snapshots; no network"
    )
    parser.add_argument("--tracked", type=Path, default=TRACKED, metavar="FILE", help="the hashes")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write the issue there, not to the screen"
    )
    parser.add_argument(
        "--python",
        default=sys.executable,
        help="interpreter with PyTorch, for the recorders (default: this one)",
    )
    parser.add_argument(
        "--no-rerun", action="store_true", help="do not record the cases of changed files again"
    )
    return parser


# ---- check --------------------------------------------------------------------------------------


def _check(trainers: Sequence[Trainer], args: argparse.Namespace, work: Path) -> int:
    results = []
    for trainer in trainers:
        print(f"{trainer.name} ...", file=sys.stderr)
        results.append(checked(trainer, args.folder, work, args.python, again=not args.no_rerun))
    failed = any(each.problems for each in results)
    if not any(each.comparisons for each in results):
        for result in results:
            print(f"{result.trainer.name}: {'; '.join(result.problems)}", file=sys.stderr)
        print("Nothing could be fetched. No file was written.", file=sys.stderr)
        return 2
    text = issue(results, datetime.now(UTC).strftime("%Y-%m-%d"))
    if args.output:
        replace_text(args.output, text)
    else:
        print(text, end="")
    return 1 if any(each.changed for each in results) else 2 if failed else 0


def checked(trainer: Trainer, folder: Path | None, work: Path, python: str, *, again: bool) -> Result:
    """Compare the snapshots of one trainer.

    Args:
      trainer: the trainer.
      folder: local snapshots; None to fetch from the network.
      work: a folder for what is fetched.
      python: the interpreter that runs the recorders.
      again: true to record the cases again where a file changed.
    """
    snapshots, problems = _snapshots(trainer, folder, work)
    comparisons = []
    at_recorded = (recorded_in(each, trainer) for each in snapshots)
    before = next((each for each in at_recorded if each is not None), None)
    for snapshot in snapshots:
        files = compare(trainer, snapshot, before)
        if any(each.counts for each in files):
            before = before or _recorded_release(trainer, folder, work)
            files = compare(trainer, snapshot, before) if before else files
            repeated = rerun(trainer, snapshot, python) if again else None
            comparisons.append(Comparison(snapshot.version, files, repeated))
        else:
            comparisons.append(Comparison(snapshot.version, files))
    releases = [each.version for each in snapshots if isinstance(each, Folder) and each.version != "a folder"]
    new = next((each for each in releases if each != trainer.release), "")
    return Result(trainer, comparisons, new, problems)


def _snapshots(trainer: Trainer, folder: Path | None, work: Path) -> tuple[list[Snapshot], list[str]]:
    """Return the sources that could be had, and the reasons for the others.

    A trainer that was recorded at a commit is compared with the newest commit, and with its newest release if
    `tracked.toml` does not know that release. One that was recorded at a release is compared with the newest release.
    """
    snapshots: list[Snapshot] = []
    problems = []
    if folder is not None:
        try:
            snapshots = local(trainer, folder, work)
        except NotFetchedError as error:
            problems.append(str(error))
        wanted = [each for each in snapshots if _is_wanted(trainer, each)]
        if snapshots and not wanted:
            problems.append(
                f"expected {trainer.recorded} or newer; {folder} has only release {trainer.release}"
            )
        return wanted, problems
    if trainer.commit:
        try:
            snapshots.append(newest_commit(trainer, work))
        except NotFetchedError as error:
            problems.append(f"{trainer.repository}: {error}")
    if trainer.package:
        try:
            snapshots.append(newest_release(trainer, work))
        except NotFetchedError as error:
            problems.append(f"the package {trainer.package}: {error}")
    return [each for each in snapshots if _is_wanted(trainer, each)], problems


def _is_wanted(trainer: Trainer, snapshot: Snapshot) -> bool:
    """Return false for a release that is known and older than the recorded commit."""
    return not (trainer.commit and isinstance(snapshot, Folder) and snapshot.version == trainer.release)


def _recorded_release(trainer: Trainer, folder: Path | None, work: Path) -> Snapshot | None:
    """Return the recorded release, whose text shows what changed; None if it cannot be had."""
    if trainer.commit:
        return None
    try:
        if folder is None:
            return newest_release(trainer, work, trainer.release)
        return next((each for each in local(trainer, folder, work) if each.version == trainer.release), None)
    except NotFetchedError:
        return None


# ---- record -------------------------------------------------------------------------------------


def _record(
    trainers: Sequence[Trainer], wanted: Sequence[Trainer], args: argparse.Namespace, work: Path
) -> int:
    done, failed = {}, False
    for trainer in wanted:
        hashed, reason = _hashed(trainer, args.folder, work)
        done[trainer.name] = hashed
        missing = [f"{file.path}: {file.missing}" for file in hashed.files if file.missing and not reason]
        for text in [reason, *missing]:
            if text:
                failed = True
                print(f"{trainer.name}: {text}", file=sys.stderr)
    replace_text(args.tracked, dump(done.get(each.name, each) for each in trainers))
    return 2 if failed else 0


def _hashed(trainer: Trainer, folder: Path | None, work: Path) -> tuple[Trainer, str]:
    """Return the trainer with the hashes of the recorded version; or as it was, and why it could not be hashed."""
    try:
        for snapshot in _at_recorded(trainer, folder, work):
            return filled(trainer, snapshot), ""
        reason = f"{trainer.recorded} was not in the snapshots"
    except NotFetchedError as error:
        reason = f"{trainer.recorded} could not be fetched: {error}"
    files = (file if file.sha256 else replace(file, missing=reason) for file in trainer.files)
    return replace(trainer, files=tuple(files)), reason


def _at_recorded(trainer: Trainer, folder: Path | None, work: Path) -> Iterator[Snapshot]:
    if folder is not None:
        snapshots = local(trainer, folder, work)
    else:
        snapshots = [
            newest_commit(trainer, work) if trainer.commit else newest_release(trainer, work, trainer.release)
        ]
    for snapshot in snapshots:
        if trainer.commit:
            if recorded := recorded_in(snapshot, trainer):
                yield recorded
        elif snapshot.version == trainer.release:
            yield snapshot


if __name__ == "__main__":
    sys.exit(main())
