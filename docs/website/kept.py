"""Hash the files that a slow computation of the site depends on, for its cache."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from website.tree import ROOT

IMPORTED = re.compile(r"^ *from website\.(\w+) import|^ *from website import (\w+)", re.MULTILINE)
UNRELATED = ("course", "data", "diagnose", "lab", "web")
"""Parts of the package that no cached result uses."""
READ = (".py", ".toml", ".json")
"""Suffixes of the files that decide a result: code, keys, defaults, recorded numbers."""


def code_hash(*writers: str) -> str:
    """Return the hash of all files that the pages of some modules of `website` depend on.

    These are the modules, what they import from `website`, the package without its unrelated parts, and the
    recorded numbers of the trainers.

    Args:
      writers: names of the modules without `website.`.
    """
    digest = hashlib.sha256()
    for path in sorted({*_of_website(writers), *_of_package()}):
        digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def _of_website(writers: tuple[str, ...]) -> set[Path]:
    """Return the files of some modules of `website`, and of all modules that they import from there."""
    reached, waiting = set[Path](), list(writers)
    while waiting:
        path = Path(__file__).with_name(f"{waiting.pop()}.py")
        if path not in reached:
            reached.add(path)
            names = IMPORTED.findall(path.read_text(encoding="utf-8"))
            waiting += [of_module or module for of_module, module in names]
    return reached


def _of_package() -> Iterator[Path]:
    for folder in ("grpo_ref", "conformance"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in READ and path.relative_to(ROOT).parts[1] not in UNRELATED:
                yield path
