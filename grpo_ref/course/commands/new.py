"""`grpo-ref dev new`: begin an exercise, in a package of your own or in the course itself."""

import json
import re
from importlib.util import find_spec
from pathlib import Path
from string import Template

import click

from grpo_ref.course.contents import CHAPTERS, EXERCISES, OURS, source_at, source_of
from grpo_ref.course.source import CONTENTS, ID, Source
from grpo_ref.files import replace_text

TEMPLATES = Path(__file__).with_name("templates")
FILES = ("statement.md", "answer.py", "right.py", "tests.py", "wrong.py")
"""Files of a new exercise."""


@click.command("new", epilog="Example:  grpo-ref dev new advantages/median_centered")
@click.argument("name")
@click.option(
    "--chapter-title",
    "title",
    default="",
    help="Title of a new chapter, to begin it in a package of your own.",
)
@click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    default=".",
    help="The checkout of grpo_ref, or the folder of a package of your own, which may be new.",
)
def command(name: str, title: str, root: Path) -> None:
    """Begin the exercise NAME, as in CHAPTER/FUNCTION.

    This writes the folder of the exercise, with all files to be filled in. It also adds the exercise to the
    table of contents, as the last of its chapter. In a folder that is not a checkout of grpo_ref, it begins
    a package of your own, named after the folder.
    """
    source = _source(root)
    _require_room(name, title, source)
    folder = root / source.path / "exercises"
    contents, chapter = folder / CONTENTS, name.split("/")[0]
    values = {"id": name, "name": name.split("/")[1]}
    texts = {folder / name / file: _filled(f"{file}.txt", **values) for file in FILES}
    if source is OURS:
        texts[folder / name / "__init__.py"] = f'"""Exercise {name}."""\n'
    elif not contents.exists():
        texts |= _begun_package(source.package, root)
    if chapter not in source.chapters:
        texts[folder / chapter / "chapter.md"] = _filled("chapter.md.txt")
    for path in texts:
        if path.exists():
            raise click.UsageError(f"{path} exists already; choose another name or remove the file")
    texts[contents] = _listing(contents, name, title)
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, text)
        click.echo(f"written: {path}")
    click.echo(f"next: fill in the TODOs, and choose the exercise's place in {contents}")
    at = "" if root == Path(".") else f" --root {root}"
    commands = (f"attack {name}{at}", f"build{at}", f"check {name}{at} --table")
    click.echo("then: " + " && ".join(f"grpo-ref dev {each}" for each in commands))


def _source(root: Path) -> Source:
    """Return the source whose checkout the folder is, or a new, empty package."""
    source = source_at(root)
    if source is not OURS or (root / OURS.path).is_dir():
        return source
    package = re.sub(r"\W", "_", root.resolve().name.lower())
    spec = find_spec(package) if package.isidentifier() else None
    if not package.isidentifier() or (spec is not None and spec.origin is not None):
        raise click.UsageError(
            f"the package is named after its folder, but {package!r} is invalid or taken; rename the folder"
        )
    return Source(package, root / package)


def _require_room(name: str, title: str, source: Source) -> None:
    """Check that the name is valid and free, and that its chapter exists or is begun."""
    chapter, _, function = name.partition("/")
    known = chapter in source.chapters
    if not ID.fullmatch(name) or (source is OURS and not known):
        raise click.UsageError(
            f"expected NAME as CHAPTER/FUNCTION, with a chapter of {', '.join(source.chapters)}; got {name!r}"
        )
    if not known and chapter in CHAPTERS:
        owner = source_of(chapter).package
        raise click.UsageError(f"{chapter} is a chapter of {owner}; choose a chapter name of your own")
    if not known and not title:
        raise click.UsageError(f"{chapter} is a new chapter; add its title with --chapter-title TITLE")
    for each in EXERCISES.values():
        if each.name == function and each.id != name:
            raise click.UsageError(f"{each.id} has this name; answers are identified by it, choose another")


def _begun_package(package: str, root: Path) -> dict[Path, str]:
    """Return the files that make a folder a package."""
    return {
        root / "pyproject.toml": _filled("pyproject.toml.txt", package=package),
        root / package / "__init__.py": _filled("package.py.txt", package=package),
    }


def _listing(contents: Path, name: str, title: str) -> str:
    """Return the table of contents with the exercise as the last of its chapter, which may be new."""
    text = contents.read_text(encoding="utf-8") if contents.exists() else ""
    chapter, _, exercise = name.partition("/")
    listed = re.search(rf"(?ms)^\[{chapter}\]$.*?^exercises = \[(.*?)\]", text)
    if listed is None:
        quoted = json.dumps(title, ensure_ascii=False)
        return f'{text}\n[{chapter}]\ntitle = {quoted}\nexercises = ["{exercise}"]\n'.lstrip()
    names = [*re.findall(r'"(.*?)"', listed[1]), exercise]
    line = ", ".join(f'"{each}"' for each in names)
    if "\n" in listed[1]:
        line = "\n" + "".join(f'    "{each}",\n' for each in names)
    return text[: listed.start(1)] + line + text[listed.end(1) :]


def _filled(template: str, **values: str) -> str:
    return Template((TEMPLATES / template).read_text(encoding="utf-8")).substitute(values)
