"""Where everything stands: the pages of the project, and their places in the site."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"
SOURCES, SITE, CACHE = BUILD / "site-source", BUILD / "site", BUILD / "site-cache"

DOORS = ("student", "instructor", "practitioner", "researcher")
"""Each has a tutorial and a guide."""
REFERENCE = ("pipeline", "recipes", "neural", "speed", "glossary", "package_map", "attack", "teach")
ROOT_PAGES = {"SECURITY.md": "security", "CHANGELOG.md": "changelog", "CONTRIBUTING.md": "contributing"}
FOLDER_PAGES = {
    "grpo_ref/explain/README.md": "more/trainers",
    "grpo_ref/course/problems/README.md": "more/problems",
    "grpo_ref/data/README.md": "more/data",
    "tests/benchmarks/README.md": "more/benchmarks",
}


def _folder(name: str) -> dict[str, str]:
    """The pages of a folder of `docs`, of which README.md or index.md is the first."""
    pages = sorted((ROOT / "docs" / name).glob("*.md"))
    names = {page: "index" if page.stem == "README" else page.stem for page in pages}
    return {page.relative_to(ROOT).as_posix(): f"{name}/{place}" for page, place in names.items()}


def _chapters() -> dict[str, str]:
    pages = sorted((ROOT / "exercises").glob("*/README.md"))
    return {page.relative_to(ROOT).as_posix(): f"chapters/{page.parent.name}" for page in pages}


COPIED = {
    **{f"docs/tutorials/{name}.md": f"tutorials/{name}" for name in DOORS},
    **{f"docs/{name}.md": name for name in (*DOORS, *REFERENCE)},
    **_folder("derivation"),
    **_folder("handout"),
    **_folder("howto"),
    **_chapters(),
    **ROOT_PAGES,
    **FOLDER_PAGES,
}
"""The pages that are shown as they are -> their names in the site."""

LABORATORY = "docs/experiments/README.md"
NOTEBOOKS = {
    path.relative_to(ROOT).as_posix(): f"notebooks/{path.stem}"
    for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
}
PAGES = {**COPIED, **NOTEBOOKS, "README.md": "index", LABORATORY: "laboratory/index"}
"""Every page that a link may lead to -> its name in the site."""

BELOW = {
    "tutorials/student": ("student", *_chapters().values()),
    "tutorials/instructor": ("teach", "instructor", "handout/index", "attack"),
    "tutorials/practitioner": ("practitioner", "trainers/index"),
    "tutorials/researcher": ("researcher",),
    **{
        f"{name}/index": tuple(page for page in _folder(name).values() if page != f"{name}/index")
        for name in ("derivation", "handout", "howto")
    },
}
"""Pages that have others below them in the navigation."""
WIDE = tuple(_folder("derivation").values())
"""Pages whose formulas and code take the place of the list of their headings."""
MORE = (
    "map",
    "howto/index",
    "pipeline",
    "recipes",
    "neural",
    "speed",
    "glossary",
    "package_map",
    *ROOT_PAGES.values(),
    *FOLDER_PAGES.values(),
)
"""The pages that stand in no other place."""


def contents(pages: tuple[str, ...], *, hidden: bool) -> str:
    """A table of contents for the end of a page, or nothing."""
    options = ":hidden:\n" if hidden else ""
    return (
        "\n\n```{toctree}\n" + options + "\n" + "".join(f"/{page}\n" for page in pages) + "```\n"
        if pages
        else ""
    )


def write(place: str, text: str) -> None:
    """Write a file of the sources, unless it is there with the same text."""
    path = SOURCES / place
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
