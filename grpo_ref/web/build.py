"""Write the course, and the pages that compute, as a folder of files for any static web server."""

import gzip
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import lazy_loader

from grpo_ref.course.contents import CHAPTERS, EXERCISES, exercises_in
from grpo_ref.course.exercises import PROBLEMS, hints_of, translated
from grpo_ref.course.grading import wasm
from grpo_ref.course.grading.model_answers import readable
from grpo_ref.course.layout import file_of, model_answer
from grpo_ref.course.pages import translated_chapter
from grpo_ref.course.rendering.statement import worth
from grpo_ref.course.starters import starter_of
from grpo_ref.files import replace_file
from grpo_ref.web.plotting import plots_zip
from grpo_ref.web.python_files import RECORDED, python_files
from grpo_ref.web.statements import Group, grading_html, statement_html
from grpo_ref.web.surrogates import families
from grpo_ref.web.symptoms import symptoms_html

if TYPE_CHECKING:
    import platformdirs
else:
    platformdirs = lazy_loader.load("platformdirs")

HERE = Path(__file__).parent
BUILT = HERE / "built"
"""The browser programs that `make page` builds; a wheel contains them."""
PACKAGE = HERE.parent
KINDS = frozenset((".py", ".pyi", ".json", ".csv", ".toml", ".md"))
"""Suffixes of the package's files that are imported or read in a page."""
UNREAD = ("recorded", "left")
"""Beginnings of the names of data files that no page reads: recorded numbers, lists for authors."""
TRANSLATED = ".zh.md"
"""End of the names of translations; `course.zh.json` contains them."""
BESIDE = ("lazy_loader", "yaml", "array_api_compat", "array_api_compat.common")
"""Packages that grpo_ref needs in a page; NumPy is in the interpreter's library."""
SYMPTOMS, GRADING = b"<!-- symptoms -->", b"<!-- grading -->"
"""Comments in the pages that are replaced by the text on symptoms, and by that on grading."""
HOME, ROOT = b"<!-- home -->", b"@SITE@"
"""Placeholders in the pages for the link to the site, and for the address of its folder."""
VERSION = b"@VERSION@"
"""Placeholder in the service worker for a checksum of all files: a new version replaces an old one."""
PACK = 6
"""Compression level. A higher level takes longer and saves little."""
UNUSED = 7 * 24 * 3600
"""Seconds after which kept files that were not used are deleted."""


class NotBuilt(RuntimeError):
    """The programs for the browser have not been built."""


class Site(NamedTuple):
    """Links to the site that contains the course. All addresses are seen from the course.

    Attributes:
      root: address of the folder of the site, with a slash at its end.
      chapters: chapter -> address of its page.
      exercises: id of an exercise -> pages about the same.
    """

    root: str
    chapters: Mapping[str, str]
    exercises: Mapping[str, Sequence[Group]]


NO_SITE = Site("", {}, {})
"""For a course that is served alone: it links only to its own pages."""


def write(folder: Path, site: Site = NO_SITE) -> None:
    """Write all files of the course.

    Args:
      folder: path of the folder; it is created if it does not exist.
      site: links to the site that contains the course; by default none.

    Raises:
      NotBuilt: in a checkout in which `make page` has not been run.
      wasm.WasmMissing: if Python for WebAssembly is not installed, or is not the tested version.
    """
    if not (BUILT / "course.js").is_file():
        raise NotBuilt("the programs for the browser are not built: run `make page`, which needs Node.js")
    wasm.verify()
    folder.mkdir(parents=True, exist_ok=True)
    python, symptoms, grading = python_files(), symptoms_html().encode(), grading_html().encode()
    for path in sorted(BUILT.iterdir()):
        content = path.read_bytes().replace(SYMPTOMS, symptoms).replace(GRADING, grading)
        if path.suffix == ".html":
            home = b'<a href="%sindex.html">grpo_ref</a> ' % site.root.encode() if site.root else b""
            content = content.replace(HOME, home).replace(ROOT, site.root.encode())
        _write(folder / path.name, content)
    _write(folder / "python.wasm.gz", _packed(python.program))
    _write(folder / "rest.wasm.gz", _packed(python.rest))
    _write(folder / "library.zip", python.library)
    _write(folder / "more.zip", python.more)
    _write(folder / "grpo_ref.json.gz", _packed(_json(dict(package_files()))))
    _write(folder / "plots.zip", plots_zip())
    _write(folder / "surrogates.json", _json(families()))
    _write(folder / "course.json", _json(chapters(site)))
    _write(folder / "course.zh.json", _json(translations("zh", site)))
    for chapter in CHAPTERS:
        shown = {each.id: exercise(each.id, site) for each in exercises_in(chapter)}
        _write(folder / f"chapter-{chapter}.json", _json(shown))
    offline = folder / "offline.js"
    _write(offline, offline.read_bytes().replace(VERSION, _checksum(folder)))


def kept(writing: Callable[[], AbstractContextManager[None]] = nullcontext) -> Path:
    """Return a folder with the files of the course, in the user's cache. They are written if they are missing
    or belong to other sources.

    Args:
      writing: makes a context in which the files are written.

    Raises:
      NotBuilt, wasm.WasmMissing: as in `write`.
      OSError: if the folder cannot be written.
    """
    place = platformdirs.user_cache_path("grpo_ref")
    folder = place / f"web-{_checksum_of_sources()}"
    if not folder.is_dir():
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with writing(), tempfile.TemporaryDirectory(dir=place, prefix="part-") as part:
            write(Path(part) / "course")
            with suppress(OSError):  # another process has written the same files
                (Path(part) / "course").rename(folder)
    os.utime(folder)
    for other in place.glob("web-*"):
        if other.stat().st_mtime < time.time() - UNUSED:
            shutil.rmtree(other, ignore_errors=True)
    return folder


def _checksum_of_sources() -> str:
    """Return a text that changes with any source of the course, and with the version of Python for pages."""
    digest = hashlib.sha256(wasm.CHECKSUM.encode())
    listed: dict[str, Any] = {
        "chapters": chapters(),
        "exercises": {name: exercise(name) for name in EXERCISES},
    }
    listed |= {"zh": translations("zh")}
    digest.update(_json([dict(package_files()), listed, families(), symptoms_html(), grading_html()]))
    digest.update(RECORDED.read_bytes())
    for path in sorted(BUILT.iterdir()) if BUILT.is_dir() else ():
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def chapters(site: Site = NO_SITE) -> list[dict[str, Any]]:
    """Return the chapters with their exercises, as far as the list of the page shows them.

    Args:
      site: as in `write`.
    """
    return [
        {
            "id": chapter,
            "title": title,
            "address": site.chapters.get(chapter, ""),
            "exercises": [_listed(each.id) for each in exercises_in(chapter)],
        }
        for chapter, title in CHAPTERS.items()
    ]


def _listed(name: str) -> dict[str, Any]:
    return {
        "id": name,
        "file": file_of(name).as_posix(),
        "title": PROBLEMS[name].title,
        "difficulty": EXERCISES[name].difficulty,
        "points": EXERCISES[name].points,
        "hints": len(hints_of(name)),
        "begun": _head_and_code(name)[1],
    }


def exercise(name: str, site: Site = NO_SITE) -> dict[str, Any]:
    """Return what the page shows of one exercise, beside its entry in the list.

    Args:
      name: id of the exercise.
      site: as in `write`.
    """
    return {
        "statement": statement_html(PROBLEMS[name], site.exercises.get(name, ())),
        "head": _head_and_code(name)[0],
        "hints": list(hints_of(name)),
        "answer": readable(model_answer(name)),
    }


def _head_and_code(name: str) -> tuple[str, str]:
    """Return the statement in a student's file, and the code below it."""
    head, quotes, code = starter_of(name).partition('\n"""\n')
    return head + quotes.rstrip("\n"), code.lstrip()


def translations(language: str, site: Site = NO_SITE) -> dict[str, Any]:
    """Return titles of chapters, texts of exercises, and the page on grading, in a language.

    What is not translated is omitted.

    Args:
      language: the language, as "zh".
      site: as in `write`.
    """
    titles = {chapter: translated_chapter(chapter, language) for chapter in CHAPTERS}
    problems = [translated(problem, language) for problem in PROBLEMS.values()]
    exercises = {
        each.id: {
            "title": each.title,
            "about": worth(each),
            "statement": statement_html(each, site.exercises.get(each.id, ())),
            "hints": list(each.hints),
        }
        for each in problems
        if each.language == language
    }
    chapters = {name: each[0] for name, each in titles.items() if each}
    return {"chapters": chapters, "exercises": exercises, "grading": grading_html(language)}


def package_files() -> Iterator[tuple[str, str]]:
    """Yield path and text of every file that a page imports or reads, as in an installed package."""
    for path in sorted(PACKAGE.rglob("*")):
        is_unread = path.suffix == ".json" and (HERE in path.parents or path.name.startswith(UNREAD))
        is_unread = is_unread or path.name.endswith(TRANSLATED)
        if path.suffix in KINDS and path.is_file() and not is_unread:
            yield path.relative_to(PACKAGE.parent).as_posix(), path.read_text(encoding="utf-8")
    for name in BESIDE:
        texts = {path.name: path for path in files(name).iterdir() if path.name.endswith(".py")}
        for file in sorted(texts):
            yield f"{name.replace('.', '/')}/{file}", texts[file].read_text(encoding="utf-8")


def _checksum(folder: Path) -> bytes:
    """Return a text that changes with any file of a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16].encode()


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _packed(content: bytes) -> bytes:
    return gzip.compress(content, PACK, mtime=0)


def _write(path: Path, content: bytes) -> None:
    replace_file(path, lambda file: file.write(content))
