"""The map of links: which steps, exercises, recipes, claims, notebooks, symptoms and kernels belong together.

The map is collected from the front matter of the exercises, the links in the text of each page, the names of
kernels in the code, and `docs/links.toml` for links that a program cannot find. A link leads both ways. Pages
show it as "See also" (`website.see_also`).
"""

import ast
import inspect
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from package_map import KERNELS, PUBLIC, REFERENCE

from grpo_ref.course.contents import OURS
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.lab import EXPERIMENTS
from grpo_ref.recipes import CATALOG, RECIPES, Recipe
from grpo_ref.recipes.titles import title_of as recipe_title
from grpo_ref.web.symptoms import anchor
from website import claims
from website.links import CHAPTER_PAGES, COURSE, EXERCISES, ID, LINK
from website.parts import Part, definitions, own_parts, parts_of
from website.places import anchor_of, documented, page_of
from website.tree import NOTEBOOKS, PAGES, ROOT

KINDS = ("derivation", "chapter", "exercise", "recipe", "claim", "notebook", "symptom", "kernel")
"""Kinds of entries, in the order in which a page lists them."""
FOLDERS = {
    "derivation": "derivation",
    "chapter": "chapters",
    "recipe": "recipe",
    "claim": "experiments",
    "notebook": "notebooks",
}
"""Kind -> folder of its pages in the site."""
MAPPED = [f"grpo_ref.{package}" for package in (*KERNELS, "loss", "objective")]
"""The modules of the kernels, and the two modules that combine kernels."""
SYMPTOMS = (ROOT / "docs/howto/symptoms.md").resolve()
DECLARED, LINKED, SHARED = 8.0, 4.0, 1.0
"""Strength of a link that an author declared, of a link in the text of a page, and of a shared part.

For a shared kernel, it is divided by the number of entries that share the kernel.
"""
WEAKEST = 0.2
"""Links up to this strength are dropped: their kernel is used nearly everywhere."""
MANY = {"chapter": 2, "kernel": 3}
"""Maximum number of links of a kind on one page, if it is not `USUAL`."""
USUAL = 5


class Node(NamedTuple):
    """An entry of the map: its kind, and its name within the kind.

    The names are those of files (derivation, chapter, notebook), ids (exercise), names in the code (recipe,
    claim, kernel) and anchors (symptom).
    """

    kind: str
    name: str

    @property
    def title(self) -> str:
        """The title in words."""
        return titles()[self]

    @property
    def address(self) -> str:
        """Address from the root of the site."""
        if self.kind == "exercise":
            return f"{COURSE}#{self.name}"
        if self.kind == "symptom":
            return f"howto/symptoms.html#{self.name}"
        if self.kind == "kernel":
            return f"{page_of(PUBLIC[self.name])}.html#{anchor_of(self.name)}"
        return f"{FOLDERS[self.kind]}/{self.name}.html"


def node(text: str) -> Node:
    """Return the entry with a kind and a name: `node("exercise/kl/k3")`.

    Raises:
      ValueError: if there is no such entry.
    """
    kind, _, name = text.partition("/")
    entry = Node(kind, name)
    if entry not in titles():
        raise ValueError(f"{text!r} is not an entry of the map of links: expected KIND/NAME, KIND in {KINDS}")
    return entry


@cache
def titles() -> dict[Node, str]:
    """Return every entry with its title, by kind, in the order of the course, pipeline or file names."""
    named = {
        "derivation": {path.stem: heading(_text(path)) for path in _steps()},
        "chapter": {path.parent.name: heading(_text(path)) for path in _chapters()},
        "exercise": {each: PROBLEMS[each].title for each in OURS.ids},
        "recipe": {name: recipe_title(name) for name in CATALOG},
        "claim": {name: claims.title_of(name) for name in claims.TESTED},
        "notebook": {Path(path).stem: heading(_script(path)) for path in NOTEBOOKS},
        "symptom": {anchor(title): title for title in symptoms()},
        "kernel": {name: name for _, name in kernels()},
    }
    return {Node(kind, name): title for kind in KINDS for name, title in named[kind].items()}


@cache
def strengths() -> dict[frozenset[Node], float]:
    """Return the strength of each link."""
    totals: Counter[frozenset[Node]] = Counter()
    for source in (_declared(), _in_texts(), _through_exercises(), _through_parts(), _through_kernels()):
        for (one, other), strength in source:
            if one != other:
                totals[frozenset((one, other))] += strength
    return {pair: strength for pair, strength in totals.items() if strength > WEAKEST}


def related(entry: Node, *, in_full: bool = False) -> dict[str, list[Node]]:
    """Return the linked entries by kind, the most specific first.

    Args:
      entry: an entry of the map.
      in_full: whether to return all of them; by default the first few of a kind.
    """
    order = {each: place for place, each in enumerate(titles())}
    linked = _neighbours()[entry]
    ranked = sorted(linked, key=lambda each: (-linked[each], order[each]))
    groups = {
        kind: [each for each in ranked if each.kind == kind][: None if in_full else MANY.get(kind, USUAL)]
        for kind in KINDS
    }
    return {kind: nodes for kind, nodes in groups.items() if nodes}


@cache
def _neighbours() -> dict[Node, dict[Node, float]]:
    neighbours: dict[Node, dict[Node, float]] = {each: {} for each in titles()}
    for pair, strength in strengths().items():
        one, other = pair
        neighbours[one][other] = neighbours[other][one] = strength
    return neighbours


Pairs = Iterator[tuple[tuple[Node, Node], float]]
"""Two entries, and the strength of the link between them."""


def _declared() -> Pairs:
    """Yield the links of `docs/links.toml`, of the table of contents, and of the exercises' front matter."""
    for kind in KINDS:
        for name, others in declared().get(kind, {}).items():
            for other in others:
                yield (node(f"{kind}/{name}"), node(other)), DECLARED
    for name in OURS.ids:
        for other in front_matter(name):
            yield (Node("exercise", name), other), DECLARED
    for path in _chapters():
        chapter = Node("chapter", path.parent.name)
        notebook = OURS.notebooks.get(chapter.name.partition("_")[2])
        if notebook:
            yield (chapter, Node("notebook", notebook)), DECLARED


@cache
def declared() -> dict[str, dict[str, list[str]]]:
    """Return the content of `docs/links.toml`, without the claims that have no results and so no page yet."""
    content: dict[str, dict[str, list[str]]] = tomllib.loads(_text(ROOT / "docs/links.toml"))
    waiting = {f"claim/{name}" for name in claims.WAITING}
    return {
        kind: {
            name: [other for other in others if other not in waiting]
            for name, others in listed.items()
            if f"{kind}/{name}" not in waiting
        }
        for kind, listed in content.items()
    }


def front_matter(exercise: str) -> list[Node]:
    """Return the chapter, step, recipe, claim, notebook and kernel of an exercise.

    >>> [each.name for each in front_matter("ratios/clipped")]
    ['03_ratios', '04_clip', 'dapo', 'clip_higher', '04_gallery_of_surrogates', 'clipped']
    """
    problem = PROBLEMS[exercise]
    kernel = problem.kernel.rpartition(".")[2]
    named = {
        "chapter": CHAPTER_PAGES[exercise].partition("/")[2],
        "derivation": problem.derivation,
        "recipe": problem.recipe,
        "claim": problem.claim,
        "notebook": problem.notebook,
        "kernel": kernel if Node("kernel", kernel) in titles() else "",
    }
    return [node(f"{kind}/{name}") for kind, name in named.items() if name]


def _in_texts() -> Pairs:
    """Yield the links in the text of the pages. A page of the same kind is only a neighbour in a series."""
    for entry, (text, path) in texts().items():
        for other in dict.fromkeys(linked_in(text, path)):
            if other.kind != entry.kind:
                yield (entry, other), LINKED


@cache
def texts() -> dict[Node, tuple[str, str]]:
    """Return the text of each page that is written by hand, and the path of its file."""
    steps = {Node("derivation", path.stem): path for path in _steps()}
    chapters = {Node("chapter", path.parent.name): path for path in _chapters()}
    recipes = {Node("recipe", path.stem): path for path in (ROOT / "docs/recipe").glob("*.md")}
    files = {each: path for each, path in {**steps, **chapters, **recipes}.items() if each in titles()}
    return {
        **{each: (_text(path), path.relative_to(ROOT).as_posix()) for each, path in files.items()},
        **{Node("notebook", Path(path).stem): (_script(path), path) for path in NOTEBOOKS},
        **{Node("claim", name): (claims.text_of(name), claims.path_of(name)) for name in claims.TESTED},
        **{
            Node("symptom", anchor(title)): (text, "docs/howto/symptoms.md")
            for title, text in symptoms().items()
        },
    }


def linked_in(text: str, path: str) -> Iterator[Node]:
    """Yield the entries to which a text links. The id of an exercise in backticks becomes a link, too.

    Args:
      text: Markdown.
      path: path of the file that contains the text, from the root of the project.
    """
    for match in LINK.finditer(text):
        target, fragment = match[3], (match[4] or "")[1:]
        file = (ROOT / path).parent / target if target else ROOT / path
        if ":" in target or not file.exists():
            continue
        place = file.resolve().relative_to(ROOT.resolve()).as_posix()
        if place in EXERCISES:
            entry = Node("exercise", EXERCISES[place])
        elif file.resolve() == SYMPTOMS:
            entry = Node("symptom", fragment)
        else:
            folder, _, name = PAGES.get(place, "").partition("/")
            entry = Node(next((kind for kind, each in FOLDERS.items() if each == folder), ""), name)
        if entry in titles():
            yield entry
    for match in ID.finditer(text):
        yield Node("exercise", match[1])


def _through_exercises() -> Pairs:
    """Link the step, recipe, claim and kernel of the same exercise, and each of them to its chapter."""
    for name in OURS.ids:
        others = [each for each in front_matter(name) if each.kind != "notebook"]
        for pair in combinations(others, 2):
            yield pair, SHARED


def _through_parts() -> Pairs:
    """Link each recipe to the pages that explain the parts that it changes."""
    for name in CATALOG:
        for part in dict.fromkeys(part.name for part in changed_parts(name)):
            for page in declared()["parts"].get(part, ()):
                yield (Node("recipe", name), node(page)), SHARED


def _through_kernels() -> Pairs:
    """Link the recipes, exercises, notebooks and claims that use a kernel to the kernel and to each other."""
    for _, kernel in kernels():
        value = documented(kernel)
        users = [
            *(Node("recipe", name) for name in CATALOG if value in introduced(name)),
            *(Node("exercise", name) for name in exercises_about(kernel)),
            *(Node("notebook", name) for name in notebooks_about(kernel)),
            *(Node("claim", name) for name in claims_about(kernel)),
        ]
        many = Counter(each.kind for each in users)
        for user in users:
            yield (Node("kernel", kernel), user), SHARED
        for one, other in combinations(users, 2):
            if one.kind != other.kind:
                yield (one, other), SHARED / (many[one.kind] * many[other.kind])


def changed_parts(recipe: str) -> list[Part]:
    """Return the parts that a recipe changes. A part that is as in GRPO again is not counted.

    >>> [part.text for part in changed_parts("cispo")]
    ['cispo(max_ratio=5.0)']
    """
    usual = {part.text for part in parts_of(RECIPES["grpo"])} if recipe != "grpo" else set()
    return [part for part in own_parts(recipe) if part.text not in usual]


@cache
def introduced(recipe: str) -> frozenset[object]:
    """Return the kernels of a recipe that its parent and GRPO lack.

    >>> [getattr(kernel, "__name__") for kernel in introduced("cispo")]
    ['cispo']
    """
    inherited = {
        part.kernel
        for name in {definitions()[recipe].parent, "grpo"} - {"", recipe}
        for part in parts_of(RECIPES[name])
    }
    return frozenset(part.kernel for part in parts_of(RECIPES[recipe])) - inherited


@cache
def kernels() -> list[tuple[str, str]]:
    """Return the documented kernels in the order of the pipeline, each with its module."""
    return [
        (path, name) for path in MAPPED for name in REFERENCE[path] if inspect.isfunction(documented(name))
    ]


@cache
def names_in(path: Path) -> frozenset[str]:
    """Return every name that a module uses."""
    names = set()
    for part in ast.walk(ast.parse(_text(path))):
        if isinstance(part, ast.Name):
            names.add(part.id)
        elif isinstance(part, ast.Attribute):
            names.add(part.attr)
    return frozenset(names)


def exercises_about(kernel: str) -> list[str]:
    """Return the exercises that have the name of a kernel, or whose model answer or checks use it."""
    folder = ROOT / "grpo_ref/course/exercises"
    return [each for each in OURS.ids if kernel in {Path(each).name, *names_in(folder / each / "tests.py")}]


def is_written(exercise: str, kernel: str) -> bool:
    """Return True if the model answer of an exercise is a kernel or calls it.

    >>> is_written("kl/k3", "k3"), is_written("kl/k3", "clipped")
    (True, False)
    """
    reference = PROBLEMS[exercise].reference
    code = getattr(reference, "__code__", None)
    return reference is documented(kernel) or (code is not None and kernel in code.co_names)


def notebooks_about(kernel: str) -> list[str]:
    """Return the notebooks that call a kernel.

    >>> notebooks_about("grpo_objective")
    ['01_the_objective']
    """
    return [Path(path).stem for path in NOTEBOOKS if kernel in names_in((ROOT / path).with_suffix(".py"))]


def claims_about(kernel: str) -> list[str]:
    """Return the claims whose experiments compare settings with and without a kernel, or that call it.

    >>> claims_about("ranked")
    ['ordinal']
    """
    value = documented(kernel)
    return [
        name
        for name, claim in claims.TESTED.items()
        if any(
            value in varied(each.name) or kernel in names_in(ROOT / f"grpo_ref/lab/claims/{each.name}.py")
            for each in claim.experiments.values()
        )
    ]


@cache
def varied(experiment: str) -> frozenset[object]:
    """Return the kernels that only some of the compared settings of an experiment use."""
    arms = EXPERIMENTS[experiment].arms.values()
    recipes = [value for each in arms for value in each.settings.values() if isinstance(value, Recipe)]
    parts = [frozenset(part.kernel for part in parts_of(recipe)) for recipe in recipes]
    return frozenset().union(*parts).difference(frozenset.intersection(*parts)) if parts else frozenset()


def heading(text: str) -> str:
    r"""Return the first heading of a text in Markdown.

    >>> heading("---\nkey: value\n---\n# The clip\n\nText")
    'The clip'
    """
    return next(line.removeprefix("# ") for line in text.splitlines() if line.startswith("# "))


@cache
def symptoms() -> dict[str, str]:
    """Return the sections of the page on symptoms by their title."""
    _, *rest = re.split(r"^## (.+)\n", _text(SYMPTOMS), flags=re.MULTILINE)
    return dict(zip(rest[::2], rest[1::2], strict=True))


def _steps() -> list[Path]:
    return sorted((ROOT / "docs/derivation").glob("[0-9]*_*[a-z].md"))


def _chapters() -> list[Path]:
    return sorted((ROOT / "exercises").glob("[0-9]*/README.md"))


def _script(notebook: str) -> str:
    """Return the Markdown of a notebook, read from the notebook's script."""
    lines = _text((ROOT / notebook).with_suffix(".py")).splitlines()
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines if line.startswith("#"))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
