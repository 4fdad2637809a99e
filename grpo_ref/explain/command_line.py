"""Read the configurations that a command line names: files, pasted lines, flags and overrides."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.launch import Beside, Launch, launch_of, launches
from grpo_ref.explain.launch.arguments import FLAG, OVERRIDE

CONFIGS = (".yaml", ".yml", ".json", ".toml")
BESIDE = (*CONFIGS, ".py", ".sh", ".bash", ".slurm", ".sbatch", ".env")
"""Endings of files that are read because another file names them.

Scripts installed on this machine are not read.
"""
LONGEST_NAME = 250
UPWARDS = 5
"""Number of folders above a file that are searched for files it names.

Scripts are often started from the root.
"""


def launched(arguments: Sequence[str], trainer: str = "") -> list[tuple[str, Launch]]:
    """Return each named configuration, with a name for display.

    Args:
      arguments: first, optionally, the name of a dialect. Then files, "-" for standard input, whole launch
        lines in quotes, and flags and overrides, which change the file before them.
      trainer: name of the dialect; "" to detect it.

    Raises:
      ValueError: if an argument is none of these, or cannot be read.
    """
    words = list(arguments)
    if words and words[0] in DIALECTS:
        trainer = words.pop(0)
    sources, found = _sources(words), []
    for name, text, changes in sources:
        found.append((name, _one(name, text, changes, trainer)))
    if not found:
        if not trainer:
            raise ValueError("expected a file, a launch line, or the name of a trainer with its keys")
        found.append((trainer, Launch(trainer, "", {}, is_sure=True)))
    return found


def _sources(words: list[str]) -> list[tuple[str, str, list[str]]]:
    """Yield name, text and following words of each source.

    Words before any source form a source of their own.
    """
    sources: list[tuple[str, str, list[str]]] = []
    for place, word in enumerate(words):
        is_value = place > 0 and FLAG.fullmatch(words[place - 1]) is not None
        source = None if is_value or _is_key(word) else _source(word)
        if source is not None:
            sources.append((*source, []))
        elif sources:
            sources[-1][2].append(word)
        else:
            sources.append(("", "", [word]))
    return sources


def _is_key(word: str) -> bool:
    """Return true if a word is a flag or an override, and not a whole line that begins with one."""
    return bool(FLAG.fullmatch(word) or OVERRIDE.fullmatch(word)) and "=" in word.split()[0] + "=" * (
        " " not in word
    )


def _source(word: str) -> tuple[str, str] | None:
    """Return name and text of the source that a word names; None if it is a plain word."""
    if word == "-":
        return "standard input", sys.stdin.read()
    if _is_file(word):
        return word, Path(word).read_text(encoding="utf-8", errors="replace")
    return ("", word) if len(word.split()) > 1 else None


def _is_file(word: str) -> bool:
    """Return true if there is a file of this name. A launch line may be too long for a file name."""
    return len(word) < LONGEST_NAME and "\n" not in word and Path(word).is_file()


def _one(name: str, text: str, changes: list[str], trainer: str) -> Launch:
    """Return the training run of one source.

    Of several, return the one with the most keys and note the others.
    """
    if not text:
        return launch_of(changes, files_beside(Path()), trainer)
    folder = Path(name).parent if _is_file(name) else Path()
    try:
        launch = _first(launches(text, name, files_beside(folder), trainer))
    except ValueError as error:
        raise ValueError(f"{name}: {error}" if name else str(error)) from error
    if not changes:
        return launch
    return replace(launch, keys={**launch.keys, **launch_of(changes, trainer=launch.trainer).keys})


def _first(found: list[Launch]) -> Launch:
    first, *others = found
    if not others:
        return first
    told = ", ".join(f"{launch.why} ({len(launch.keys)} keys)" for launch in others)
    return replace(
        first, notes=[f"It has other training runs, which are not explained here: {told}.", *first.notes]
    )


def files_beside(folder: Path) -> Beside:
    """Return a function that finds files beside a file, or in the folders above, from which it may be started.

    A file that may not be read counts as not found.
    """

    def find(path: str) -> str | None:
        if not path.endswith(BESIDE):
            return None
        above = [folder, *folder.resolve().parents][: UPWARDS + 1]
        is_elsewhere = Path(path).is_absolute()
        own = [Path(path)] if path.endswith(CONFIGS) else []
        places = own if is_elsewhere else [place / path for place in above]
        places.append(folder / Path(path).name)
        found = next((place for place in places if place.is_file()), None)
        try:
            return None if found is None else found.read_text(encoding="utf-8", errors="replace")
        except PermissionError:
            return None

    return find
