"""List the Chinese translations that are missing, or older than the English text.

A translation names the file that it translates, with a checksum of that file, in a line `english: FILE
CHECKSUM`. If the file has another checksum now, its translation is stale. Correct the translation first, then
record the new checksum.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from website.tree import CHINESE

from grpo_ref.course.contents import OURS, exercises_in
from grpo_ref.course.exercises import PROBLEMS

ROOT = Path(__file__).resolve().parents[1]
EXERCISES = ROOT / "grpo_ref/course/exercises"
LOCALE = ROOT / "docs/website/locale/zh_CN/LC_MESSAGES"
"""Catalogs of the site's pages, as Sphinx reads them: the path of a page -> its sentences."""
CHAPTERS = 3
"""The statements of the first chapters are translated."""
PAGES = tuple(CHINESE)
"""Pages of the site that are translated."""
LINE = re.compile(r"english: (?P<file>\S+) (?P<checksum>[0-9a-f]+)")
DIGITS = 12
UPDATE = "python docs/translations.py --update"
EPILOG = f"""example:
  python docs/translations.py           list stale and missing translations; exit status 1 if there are any
  {UPDATE} README.zh.md     record that this translation is up to date
"""


def expected() -> Iterator[Path]:
    """Yield the path of every translation that should exist."""
    yield ROOT / "README.zh.md"
    yield EXERCISES / "GRADING.zh.md"
    for chapter in list(OURS.chapters)[:CHAPTERS]:
        yield EXERCISES / chapter / "chapter.zh.md"
        for exercise in exercises_in(chapter):
            yield EXERCISES / exercise.id / "statement.zh.md"
    for page in PAGES:
        yield LOCALE / f"{page}.po"


def present() -> Iterator[Path]:
    """Yield the path of every translation that exists."""
    yield from sorted(ROOT.glob("*.zh.md"))
    yield from sorted(EXERCISES.rglob("*.zh.md"))
    yield from sorted(LOCALE.rglob("*.po"))


def english_of(translation: Path) -> tuple[Path, str]:
    """Return the file that a translation translates, and its checksum at that time.

    Raises:
      ValueError: if the translation has no line that says so.
    """
    match = LINE.search(translation.read_text(encoding="utf-8"))
    if match is None:
        raise ValueError(f"{translation}: expected a line 'english: FILE CHECKSUM'")
    return (translation.parent / match["file"]).resolve(), match["checksum"]


def checksum(english: Path) -> str:
    """Return the checksum of an English text. The table of the inputs is a part of a statement."""
    text = english.read_text(encoding="utf-8")
    if english.name == "statement.md":
        domain = PROBLEMS[english.parent.relative_to(EXERCISES).as_posix()].domain
        text += domain.inputs if domain is not None else ""
    return sha256(text.encode()).hexdigest()[:DIGITS]


def faults() -> Iterator[str]:
    """Yield a sentence for each translation that is missing or stale."""
    for path in expected():
        if not path.is_file():
            yield f"{path.relative_to(ROOT)}: missing"
    for path in present():
        english, recorded = english_of(path)
        if not english.is_file():
            yield f"{path.relative_to(ROOT)}: {english.relative_to(ROOT)} no longer exists"
        elif checksum(english) != recorded:
            yield f"{path.relative_to(ROOT)}: stale; {english.relative_to(ROOT)} has changed"


def update(translation: Path) -> None:
    """Record in a translation that it translates the present English text."""
    english, _ = english_of(translation)
    text = translation.read_text(encoding="utf-8")
    now = LINE.sub(lambda match: f"english: {match['file']} {checksum(english)}", text, count=1)
    translation.write_text(now, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Check or update from the command line."""
    parser = argparse.ArgumentParser(
        description=str(__doc__).split("\n\n")[0],
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--update", nargs="+", type=Path, metavar="FILE", help="record new checksums")
    chosen = parser.parse_args(arguments).update
    for path in chosen or ():
        update(path.resolve())
    listed = list(faults())
    print("\n".join(listed) or "all translations are up to date")
    if listed and not chosen:
        print(f"\nCorrect a translation, then run: {UPDATE} FILE")
    return int(bool(listed) and not chosen)


if __name__ == "__main__":
    sys.exit(main())
