"""The pages of the project, and their places in the site."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"
SOURCES, SITE, CACHE = BUILD / "site-source", BUILD / "site", BUILD / "site-cache"

AUDIENCES = ("student", "instructor", "practitioner", "researcher")
"""Kinds of readers. Each has a tutorial and a guide."""
REFERENCE = (
    *("pipeline", "recipes", "averages", "mismatch", "turns", "distillation", "not_in_this_family"),
    *("neural", "speed", "parity_live"),
    *("glossary", "package_map", "attack", "teach"),
)
ROOT_PAGES = {"SECURITY.md": "security", "CHANGELOG.md": "changelog", "CONTRIBUTING.md": "contributing"}
FOLDER_PAGES = {
    "grpo_ref/explain/README.md": "more/trainers",
    "conformance/RECORDINGS.md": "more/recorded",
    "grpo_ref/course/exercises/README.md": "more/exercises",
    "grpo_ref/course/exercises/GRADING.md": "more/grading",
    "grpo_ref/data/README.md": "more/data",
    "tests/benchmarks/README.md": "more/benchmarks",
}


def _folder(name: str) -> dict[str, str]:
    """Return the pages of a folder of `docs`, by path. README.md or index.md becomes its index.

    The marking scheme is the last page, since it is not for students.
    """
    pages = sorted(
        (ROOT / "docs" / name).glob("*.md"), key=lambda page: (page.stem == "marking-scheme", page)
    )
    names = {page: "index" if page.stem == "README" else page.stem for page in pages}
    return {page.relative_to(ROOT).as_posix(): f"{name}/{place}" for page, place in names.items()}


def _chapters() -> dict[str, str]:
    pages = sorted((ROOT / "exercises").glob("*/README.md"))
    return {page.relative_to(ROOT).as_posix(): f"chapters/{page.parent.name}" for page in pages}


COPIED = {
    **{f"docs/tutorials/{name}.md": f"tutorials/{name}" for name in AUDIENCES},
    **{f"docs/{name}.md": name for name in (*AUDIENCES, *REFERENCE)},
    **_folder("decisions"),
    **_folder("derivation"),
    **_folder("handout"),
    **_folder("howto"),
    **_folder("upstream"),
    **_chapters(),
    **ROOT_PAGES,
    **FOLDER_PAGES,
}
"""Path of each page that is copied -> its name in the site."""

CHINESE = {
    "index": "docs/website/start.md",
    "tutorials/student": "docs/tutorials/student.md",
    "derivation/index": "docs/derivation/index.md",
}
"""Name of each page that has a Chinese translation -> path of its English text."""
CLAIMS = {
    page.relative_to(ROOT).as_posix(): f"experiments/{page.parent.name}"
    for page in sorted((ROOT / "docs/experiments").glob("*/README.md"))
}
"""Path of the page of each claim -> its name in the site."""
EXPERIMENTS = "docs/experiments/README.md"
"""Path of the table of all claims."""
RECIPE_PAGES = "docs/recipe"
NOTEBOOKS = {
    path.relative_to(ROOT).as_posix(): f"notebooks/{path.stem}"
    for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
}
PAGES = {
    **COPIED,
    **NOTEBOOKS,
    **CLAIMS,
    **_folder("recipe"),
    "README.md": "index",
    EXPERIMENTS: "experiments/index",
    "grpo_ref/explain/errata/README.md": "trainers/errata",
}
"""Path of each page that a link may lead to -> its name in the site."""

BELOW = {
    "tutorials/student": ("student", *_chapters().values()),
    "tutorials/instructor": ("teach", "instructor", "handout/index", "attack"),
    "tutorials/practitioner": ("practitioner", "trainers/index"),
    "tutorials/researcher": ("researcher",),
    **{
        f"{name}/index": tuple(page for page in _folder(name).values() if page != f"{name}/index")
        for name in ("decisions", "derivation", "handout", "howto", "upstream")
    },
}
"""Page -> the pages below it in the navigation."""
WIDE = tuple(_folder("derivation").values())
"""Pages without the list of their headings, so that formulas and code have more space."""
MORE = (
    "map",
    "howto/index",
    "pipeline",
    "recipes",
    "averages",
    "turns",
    "mismatch",
    "distillation",
    "not_in_this_family",
    "neural",
    "speed",
    "parity_live",
    "upstream/index",
    "glossary",
    "package_map",
    "decisions/index",
    *ROOT_PAGES.values(),
    *FOLDER_PAGES.values(),
)
"""Pages that the navigation lists nowhere else."""


def contents(pages: tuple[str, ...], *, hidden: bool) -> str:
    """Return a table of contents for the end of a page, or nothing."""
    options = ":hidden:\n" if hidden else ""
    return (
        "\n\n```{toctree}\n" + options + "\n" + "".join(f"/{page}\n" for page in pages) + "```\n"
        if pages
        else ""
    )


def write(place: str, text: str) -> None:
    """Write a file of the sources, unless the file already has this text."""
    path = SOURCES / place
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
