"""Implement `grpo-ref audit`: which of your launch files were touched by a behaviour that surprises?"""

import json
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.render.choices import Name
from grpo_ref.render.output import columns, is_plain, plain_option

if TYPE_CHECKING:
    from grpo_ref.explain.errata.audit import Audit, Touch
    from grpo_ref.explain.errata.folder import Audited, Request

WIDTH, UNBROKEN = 100, 10_000
NOTHING_READ = 2
STATUSES = ("certain", "possible", "undecided", "untouched", "unread", "no launch")
HELP = """Say which launch files below FOLDER were touched by an entry of the errata, file by file.

The errata list behaviours of trainers that differ from their documentation, from a paper or from the name of a
key, with the releases that behave so. FOLDER is searched for shell scripts, YAML, TOML, JSON, Python scripts and
notebooks, up to 1 MB each (notebooks: 10 MB). FOLDER may also be one file. Nothing is run, and symbolic links
are not followed.

An entry touched a file *certainly* if the file or --release states a release that behaves so, or if all
releases that accept the file behave so. Otherwise it touched the file *possibly*, and the condition is printed.
An entry that depends on a value that only the run knows is *undecided*. A fork that keeps the name and the keys
of a trainer cannot be seen in a file.

Exit status: 0 if no file was touched, 1 if one was, certainly or possibly, 2 if no launch file could be read.
"""


@click.command(
    "audit",
    help=HELP,
    epilog="Example:  grpo-ref audit experiments/   grpo-ref audit experiments/ --release trl==0.22.1",
)
@click.argument("folder", type=click.Path(path_type=Path, exists=True), default=".")
@click.option(
    "--trainer",
    type=Name("dialect", lambda: DIALECTS),
    help="The only trainer of interest. It is also assumed where none can be detected.",
)
@click.option(
    "--release",
    "releases",
    multiple=True,
    metavar="TRAINER==RELEASE",
    help="The release that was run, such as trl==0.22.1. Repeat it for several trainers.",
)
@click.option("--all", "everything", is_flag=True, help="List all files, and all entries that are undecided.")
@click.option("--json", "is_json", is_flag=True, help="Print JSON.")
@plain_option
def command(
    folder: Path, trainer: str | None, releases: tuple[str, ...], everything: bool, is_json: bool, plain: bool
) -> None:
    """See HELP."""
    from grpo_ref.explain.errata.folder import audit_folder

    request = _request(trainer or "", releases)
    show = _progress if sys.stderr.isatty() and not is_plain() else lambda count: None
    audited, left = audit_folder(folder, request, show)
    if sys.stderr.isatty() and not is_plain():
        click.echo("\r\033[K", nl=False, err=True)
    text = _json(audited, left, everything) if is_json else "\n".join(_text(audited, left, everything))
    click.echo(text)
    launched = [each for each in audited if each.audits]
    if not launched:
        click.echo(f"Error: {folder}: no launch file of a known trainer could be read", err=True)
    touched = any(each.status in ("certain", "possible") for each in launched)
    raise click.exceptions.Exit(1 if touched else 0 if launched else NOTHING_READ)


def _request(trainer: str, releases: Sequence[str]) -> "Request":
    """Return the request of the options.

    Raises:
      UsageError: if a release is not covered, or belongs to no trainer.
    """
    from grpo_ref.explain.errata.folder import Request

    named: dict[str, str] = {}
    for each in releases:
        name, _, release = each.rpartition("==")
        name = (name or trainer).replace("-", "_")
        if name not in DIALECTS:
            raise click.BadParameter(
                f"expected TRAINER==RELEASE with a trainer of {', '.join(DIALECTS)}, got {each!r}",
                param_hint="--release",
            )
        try:
            DIALECTS[name].at(release)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--release") from error
        named[name] = release
    return Request(trainer, named)


def _progress(count: int) -> None:
    click.echo(f"\r{count} files read", nl=False, err=True)


def _json(audited: "Sequence[Audited]", left: int, everything: bool) -> str:
    """Return the result as JSON. Files that launch nothing are only counted, unless everything is asked for."""
    from grpo_ref.explain.errata.audit import as_data

    files = [
        {
            "file": each.path,
            "status": each.status,
            "problem": each.problem or None,
            "launches": [as_data(one) for one in each.audits],
        }
        for each in audited
        if everything or each.is_launch
    ]
    counts = {status: sum(each.status == status for each in audited) for status in STATUSES}
    data = {"counts": {**counts, "too many to be read": left}, "files": files}
    return json.dumps(data, indent=2, ensure_ascii=False, default=str)


def _text(audited: "Sequence[Audited]", left: int, everything: bool) -> Iterator[str]:
    """Yield the lines: the touched files, those that could not be read, and the counts."""
    for each in audited:
        if each.audits and (everything or each.status != "untouched"):
            yield from _file(each, everything)
    unread = [each for each in audited if each.status == "unread"]
    if unread:
        yield click.style("not audited", bold=True)
    yield from (_filled(f"{each.path}: {each.problem}", "  ", "      ") for each in unread)
    if everything:
        others = [each for each in audited if each.status == "no launch"]
        if others:
            yield click.style("no launch files", bold=True)
        yield from (_filled(f"{each.path}: {each.problem}", "  ", "      ") for each in others)
    yield from _counts(audited, left)


def _file(audited: "Audited", everything: bool) -> Iterator[str]:
    for each in audited.audits:
        yield click.style(f"{audited.path}", bold=True) + f"  ({each.release})"
        yield from (_filled(note, "  ", "  ") for note in each.notes)
        shown = [touch for touch in each.touches if everything or not touch.is_of_data]
        yield from (line for touch in shown for line in _touch(touch))
        yield from _of_data(len(each.touches) - len(shown))
        yield from _undecided(each, everything)
        if not each.touches and not each.undecided:
            yield "  no entry touched it"
        yield ""


def _of_data(count: int) -> Iterator[str]:
    """Yield a line on the entries that only the data of the run decide."""
    if count:
        entries = "1 more entry is" if count == 1 else f"{count} more entries are"
        yield _filled(
            f"{entries} possible and {'depends' if count == 1 else 'depend'} on the data alone (--all)",
            "  ",
            "      ",
        )


def _touch(touch: "Touch") -> Iterator[str]:
    """Yield the lines of one touch: entry, title, effect, conditions and keys."""
    from grpo_ref.explain.errata.entry import effect_text

    entry = touch.entry
    color = "red" if touch.status == "certain" else "yellow"
    effect = effect_text(entry.effect)
    changes = f"; the gradient differs by {effect}" if effect else ""
    yield _filled(
        f"{click.style(touch.status, fg=color)}: {entry.title}{changes} [{entry.id}]", "  ", "      "
    )
    yield from (_filled(f"if {condition}", "      ", "        ") for condition in touch.conditions)
    if touch.keys:
        shown = [
            f"{key} = {value!r}" + (f" (line {line})" if line else "") for key, value, line in touch.keys
        ]
        yield _filled(", ".join(shown), "      ", "        ")


def _undecided(audit: "Audit", everything: bool) -> Iterator[str]:
    count = len(audit.undecided)
    if not count:
        return
    reasons = dict.fromkeys(reason for _, reasons_of_entry in audit.undecided for reason in reasons_of_entry)
    named = "; ".join([*reasons][: None if everything else 3])
    more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 and not everything else ""
    noun = "1 entry is" if count == 1 else f"{count} entries are"
    yield _filled(f"{noun} undecided, because of unknown values: {named}{more}", "  ", "      ")
    if everything:
        yield from (
            f"      {entry.id}: {'; '.join(reasons_of_entry)}" for entry, reasons_of_entry in audit.undecided
        )


def _counts(audited: "Sequence[Audited]", left: int) -> Iterator[str]:
    """Yield the last lines: the number of files by status."""
    counts = Counter(each.status for each in audited)
    launched = sum(1 for each in audited if each.audits)
    yield click.style(
        f"{_number(launched, 'launch file')}: {counts['certain']} certainly touched, {counts['possible']} possibly,"
        f" {counts['undecided']} undecided, {counts['untouched']} not touched",
        bold=True,
    )
    if counts["unread"]:
        yield f"{_number(counts['unread'], 'file')} could not be audited, for the reasons above."
    if counts["no launch"]:
        verb = "launches" if counts["no launch"] == 1 else "launch"
        yield f"{_number(counts['no launch'], 'other file')} {verb} no trainer that is known here."
    if left:
        yield f"{_number(left, 'file')} not read, because there are too many."


def _number(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> _number(1, "file"), _number(2, "file")
    ('1 file', '2 files')
    """
    return f"{count} {noun}{'s' * (count != 1)}"


def _filled(text: str, indent: str, behind: str) -> str:
    width = UNBROKEN if is_plain() else min(WIDTH, columns())
    if is_plain():
        return " ".join(click.unstyle(text).split())
    return textwrap.fill(text, width, initial_indent=indent, subsequent_indent=behind, break_on_hyphens=False)
