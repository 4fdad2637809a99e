"""Find other authors' packages of exercises by their entry points, and read them.

A package names its table of contents in the group "grpo_ref.course", as in

    [project.entry-points."grpo_ref.course"]
    my_course = "my_course:COURSE"

This module reads the files in which pip stores entry points itself, because importing the standard library's
reader takes as long as everything else that lists the course.
"""

import os
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import lazy_loader

from grpo_ref.course.source import BrokenPackage, Source

configparser = lazy_loader.load("configparser")  # for those who have such a package
tomllib = lazy_loader.load("tomllib")  # for those who write one

GROUP = "grpo_ref.course"
NOTED = "entry_points.txt"


def packages(checkouts: Iterable[Path]) -> list[Source]:
    """Return the sources of all packages, sorted by the names of their entry points.

    Args:
      checkouts: folders whose packages count even if they are not installed.

    Raises:
      BrokenPackage: if one of them cannot be read.
    """
    named = {each for text in _noted() for each in _entries(text)}
    named |= {each for root in checkouts for each in named_in(root).items()}
    return [_loaded(place) for _, place in sorted(named)]


def named_in(root: Path) -> dict[str, str]:
    """Return the entry points that a folder's pyproject.toml declares, name -> MODULE:NAME; none without that
    file.

    Raises:
      BrokenPackage: if the file is not TOML.
    """
    path = root / "pyproject.toml"
    if not path.is_file():
        return {}
    try:
        project = tomllib.loads(path.read_text(encoding="utf-8")).get("project", {})
    except ValueError as error:
        raise BrokenPackage(f"{path} cannot be read: {error}") from error
    return dict(project.get("entry-points", {}).get(GROUP, {}))


def _noted() -> Iterator[str]:
    """Yield the text of every installed list of entry points that has this group."""
    for folder in dict.fromkeys(sys.path):
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                try:
                    text = Path(folder, name, NOTED).read_text(encoding="utf-8")
                except OSError:
                    continue
                if f"[{GROUP}]" in text:
                    yield text


def _entries(text: str) -> list[tuple[str, str]]:
    r"""Return the entry points of this group.

    >>> _entries("[grpo_ref.course]\nmine = mine:COURSE\n[other]\na = b:c")
    [('mine', 'mine:COURSE')]
    """
    parser = configparser.ConfigParser(delimiters="=", interpolation=None)
    parser.read_string(text)
    return list(parser[GROUP].items())


def _loaded(place: str) -> Source:
    """Return the source that MODULE:NAME names."""
    package = place.partition(":")[0].partition(".")[0]
    try:
        found = pkgutil.resolve_name(place)
        if not isinstance(found, Source):
            raise TypeError(f"expected a Source, got {type(found).__name__}")
        _ = found.exercises  # reads the table of contents and the statements
    except (Exception, SystemExit) as error:
        raise BrokenPackage(
            f"the package of exercises {package!r} cannot be read; repair or uninstall it:"
            f" {place}: {type(error).__name__}: {error}"
        ) from error
    return found
