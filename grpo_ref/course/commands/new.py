"""`grpo-ref dev new`: begin an exercise, in a package of one's own or in the course itself."""

import json
import re
from importlib.util import find_spec
from pathlib import Path
from string import Template

import click

from grpo_ref.course.contents import CHAPTERS, EXERCISES, OURS, source_at, source_of
from grpo_ref.course.layout import SOLUTIONS, STYLES, file_of
from grpo_ref.course.source import ID, Source
from grpo_ref.files import replace_text

TEMPLATES = Path(__file__).with_name("templates")


@click.command("new", epilog="Example:  grpo-ref dev new advantages/median_centered")
@click.argument("name")
@click.option("--chapter-title", "title", default="", help="Begin the chapter too, in a package of your own.")
@click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    default=".",
    help="The checkout of grpo_ref, or a folder for a package of your own, which is begun there.",
)
def command(name: str, title: str, root: Path) -> None:
    """Begin the exercise NAME, as in CHAPTER/FUNCTION.

    This writes a problem module, a model answer and right answers in other styles to fill in, and a line in
    the table of contents, where the exercise is the last of its chapter, easy and of one point until you
    change that. In a folder that is no checkout of ours it begins a package of your own, called after the
    folder.
    """
    source = _source(root)
    _require_room(name, title, source)
    contents = root / source.path / "contents.py"
    texts = _begun(name, source, root)
    if source is not OURS and not contents.exists():
        texts |= _begun_package(source.package, root)
    if name.split("/")[0] not in source.chapters:
        texts[contents.parent / "chapters" / f"{name.split('/')[0]}.md"] = _filled("chapter.md.txt")
    for path in texts:
        if path.exists():
            raise click.UsageError(f"{path} is there already")
    texts[contents] = _listing(contents, source, name, title)
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, text)
        click.echo(f"written: {path}")
    click.echo(f"next: fill in the TODOs, and choose place, difficulty and points in {contents}")
    at = "" if root == Path(".") else f" --root {root}"
    commands = (f"attack {name}{at}", f"build{at}", f"check {name}{at} --table")
    click.echo("then: " + " && ".join(f"grpo-ref dev {each}" for each in commands))


def _source(root: Path) -> Source:
    """The source whose checkout the folder is; if it is none yet, a package that has nothing in it."""
    source = source_at(root)
    if source is not OURS or (root / OURS.path).is_dir():
        return source
    package = re.sub(r"\W", "_", root.resolve().name.lower())
    spec = find_spec(package) if package.isidentifier() else None
    if not package.isidentifier() or (spec is not None and spec.origin is not None):
        raise click.UsageError(f"the package is called after its folder, and {package!r} is no free name")
    return Source(package, root / package, {}, ())


def _require_room(name: str, title: str, source: Source) -> None:
    """The name is one, its chapter is there or begins, and no other exercise is called the same."""
    chapter, _, function = name.partition("/")
    known = chapter in source.chapters
    if not ID.fullmatch(name) or (source is OURS and not known):
        raise click.UsageError(
            f"NAME is CHAPTER/FUNCTION, with one of the chapters {', '.join(source.chapters)}; got {name!r}"
        )
    if not known and chapter in CHAPTERS:
        owner = source_of(chapter).package
        raise click.UsageError(f"{chapter} is a chapter of {owner}; a package has chapters of its own")
    if not known and not title:
        raise click.UsageError(f"{chapter} is a new chapter: say what it is about with --chapter-title")
    for each in EXERCISES.values():
        if each.name == function and each.id != name:
            raise click.UsageError(f"{each.id} has this name: answers are told apart by it")


def _begun(name: str, source: Source, root: Path) -> dict[Path, str]:
    """The three files of an exercise."""
    values = {"id": name, "name": name.split("/")[1]}
    return {
        root / source.path / "problems" / f"{name}.py": _filled("problem.py.txt", **values),
        root / SOLUTIONS / file_of(name): _filled("solution.py.txt", **values),
        root / STYLES / f"{name}.py": _filled("styles.py.txt", **values),
    }


def _begun_package(package: str, root: Path) -> dict[Path, str]:
    """What makes a folder a package."""
    return {
        root / "pyproject.toml": _filled("pyproject.toml.txt", package=package),
        root / package / "__init__.py": _filled("package.py.txt"),
    }


def _listing(contents: Path, source: Source, name: str, title: str) -> str:
    """The table of contents with a line for the exercise, and one for its chapter if that is new."""
    if source is OURS or contents.exists():
        text = contents.read_text(encoding="utf-8")
    else:
        text = _filled("contents.py.txt", package=source.package)
    chapter = name.split("/")[0]
    if chapter not in source.chapters:
        text = text.replace("\n}", f'\n    "{chapter}": {json.dumps(title, ensure_ascii=False)},\n}}', 1)
    return _with_line(text, name)


def _with_line(contents: str, name: str) -> str:
    """The table with a line for the exercise behind the last one of its chapter, or at the end."""
    lines = contents.splitlines(keepends=True)
    chapter = f'    Exercise("{name.split("/")[0]}/'
    listed = [number for number, line in enumerate(lines) if line.startswith(chapter)]
    place = listed[-1] + 1 if listed else lines.index(")\n")
    return "".join([*lines[:place], f'    Exercise("{name}", "easy", 1),\n', *lines[place:]])


def _filled(template: str, **values: str) -> str:
    return Template((TEMPLATES / template).read_text(encoding="utf-8")).substitute(values)
