"""A page for each recipe, made from the code: its difference first, then its formulas, picture and keys."""

from package_map import PUBLIC

from grpo_ref.plots import as_svg, surrogate_figure
from grpo_ref.recipes import CATALOG, CHAPTER, RECIPES, Recipe
from grpo_ref.tasks import TASKS
from website.docstrings import cited
from website.kept import of_each_recipe
from website.learning_curves import SETTINGS, Learned, learned_alike, picture
from website.mentions import exercises_about, experiments_about
from website.parts import Part, definitions, own_kernels, own_parts, parts_of
from website.places import to_line
from website.proofs import proof_links, proofs_of
from website.trainer_keys import Everywhere, table, title
from website.trap_finder import traps_of
from website.tree import ROOT, write


def write_recipes(code: str, nearest: dict[str, Everywhere], learned: dict[str, Learned]) -> None:
    """Write a page for each recipe, and the gallery.

    Args:
      code: what is kept from the last time is used only if this hash of the code is the same.
      nearest: of each recipe, the nearest configuration of each trainer.
      learned: the rewards of each recipe on each task.
    """
    for name, svg in of_each_recipe(_drawn, code).items():
        write(f"recipe/{name}.svg", svg)
        write(f"recipe/{name}-learning.svg", picture(learned, name, definitions()[name].parent))
        write(f"recipe/{name}.md", _page(name, nearest[name], learned))
    write("recipe/index.md", _gallery())


def _drawn(name: str, code: str) -> str:
    """What takes long: the picture of a recipe."""
    return as_svg(surrogate_figure(RECIPES[name].surrogate)).decode()


def _page(name: str, nearest: Everywhere, learned: dict[str, Learned]) -> str:
    sections = (
        _head(name),
        _difference(name),
        _formulas(name),
        _picture(name),
        _learning(name, learned),
        _code(name),
    )
    known = (_trainers(nearest), _traps(name, nearest), _proofs(name), _further(name))
    return "\n\n".join(filter(None, [*sections, *known])) + "\n"


def _head(name: str) -> str:
    return f"# {_title(name)}\n\n{cited(RECIPES[name].source)}."


def _title(name: str) -> str:
    return name.upper().replace("_", " ")


def _difference(name: str) -> str:
    parent = definitions()[name].parent
    if not parent:
        return "## What it is\n\nThe others are written as their differences from this one.\n\n" + _all(
            RECIPES[name]
        )
    changes, base = RECIPES[name].differences(RECIPES[parent]), _texts(RECIPES[parent])
    rows = (f"| {part} | `{text}` | `{base.get(part, 'none')}` |" for part, text in changes.items())
    told = "\n".join([f"| part | {name} | [{parent}]({parent}.md) |", "|---|---|---|", *rows])
    return f"## Its difference from {parent}\n\n{told}"


def _texts(recipe: Recipe) -> dict[str, str]:
    texts = recipe.parts()
    return texts | {"kl_coef": str(recipe.kl_coef)}


def _all(recipe: Recipe) -> str:
    rows = (f"| {part} | `{text}` |" for part, text in recipe.parts().items() if part != "source")
    return "\n".join(["| part | what stands there |", "|---|---|", *rows])


def _formulas(name: str) -> str:
    parent = definitions()[name].parent
    theirs = {part.text for part in parts_of(RECIPES[parent])} if parent else set()
    parts = "\n\n".join(_formula(part, is_own=part.text not in theirs) for part in parts_of(RECIPES[name]))
    return f"## Its formulas, part by part\n\n{parts}"


def _formula(part: Part, *, is_own: bool) -> str:
    kernel = part.kernel.__name__
    shown = f"[`{part.text}`](#grpo_ref.{kernel})" if kernel in PUBLIC else f"`{part.text}`"
    mark = " {bdg-primary}`its own`" * is_own
    formula = f"\n\n```{{raw}} html\n{part.formula}\n```" if part.formula else ""
    return f"**{part.name}** · {shown}{mark}\n\n{_prose(part.sentence)}{formula}"


def _prose(sentence: str) -> str:
    return sentence.replace("*", r"\*").replace("_", r"\_") if "`" not in sentence else sentence


def _picture(name: str) -> str:
    part = RECIPES[name].surrogate
    alt = f"Value and slope of {part} against the ratio, for a good token and a bad one."
    return f"## One token: value and slope\n\n![{alt}]({name}.svg)\n\n{READING}"


READING = (
    "Left, what one token adds to the objective; right, how strongly it pushes its own log-probability. Where"
    " the slope is zero, the token still counts and no longer learns. Dotted: no clipping at all. Each"
    " completion has one token here, and the token had probability 0.2 when it was sampled."
)


def _learning(name: str, learned: dict[str, Learned]) -> str:
    parent = definitions()[name].parent
    alike = ", ".join(learned_alike(learned, name, parent)) if parent else ""
    said = [
        f"![Mean reward of {name} on each task against the update.]({name}-learning.svg)\n\n{LEARNING}",
        f" Dashed in grey: [{parent}]({parent}.md), with the same random numbers." * bool(parent),
        f" On {alike} the two learn exactly the same." * bool(alike),
    ]
    command = f"grpo-ref train {next(iter(TASKS))} --recipe {name} {TRAINED}"
    return f"## Its learning curve on each task\n\n{''.join(said)}\n\n```text\n$ {command}\n```"


TRAINED = " ".join(f"--{setting} {value}" for setting, value in SETTINGS.items())
LEARNING = (
    "Line and band: the mean over {seeds} runs and its 95 % interval. Every batch is used for {epochs} steps,"
    " so that there are ratios to clip; all else is as the task has it. So few updates show how a recipe sets"
    " out, not where it ends, and tasks as small as these tell little of large models."
).format(**SETTINGS)


def _code(name: str) -> str:
    found = definitions()[name]
    place = to_line(found.file, found.line, f"{found.file.name}, line {found.line}", page=f"recipe/{name}")
    use = f'recipe = RECIPES["{name}"]\npolicy_loss(log_probs, advantages, mask, recipe=recipe)'
    blocks = "\n\n".join(f"```python\n{text}\n```" for text in (found.text, use))
    return f"## In code\n\n{blocks}\n\nIt stands in {place}."


def _trainers(nearest: Everywhere) -> str:
    about = (
        "The configuration of each trainer that comes nearest, as `grpo-ref convert` finds it. What is not"
        " said stays at the trainer's default. [All trainers](../trainers/index.md)."
    )
    return f"## In a trainer's words\n\n{about}\n\n:::{{div}} wide\n{table(nearest)}\n:::"


def _traps(name: str, nearest: Everywhere) -> str:
    lines = (
        f"* **{title(dialect)}**, [{trap.name}](#{place}): {trap.text}"
        for dialect, trap, place in traps_of(name, nearest)
    )
    told = "\n".join(lines)
    return f"## Its traps\n\n{TRAPS}\n\n{told}" if told else ""


TRAPS = (
    "What `grpo-ref explain` warns of: in the configurations above that compute this recipe, and beside the"
    " keys by which a trainer chooses its parts."
)


def _proofs(name: str) -> str:
    page = f"recipe/{name}"
    kernels = dict.fromkeys(part.kernel.__name__ for part in own_parts(name))
    tested = {f"`{kernel}`": {kernel} for kernel in kernels} | {"the recipe": {name.upper()}}
    lines = [
        f"* **{what}**: {proof_links(names, page)}" for what, names in tested.items() if proofs_of(names)
    ]
    every = f"* **every recipe**: {proof_links({'RECIPES'}, page)}"
    return "\n".join(["## Tests that prove it", "", *lines, every])


def _further(name: str) -> str:
    names = own_kernels(name)
    exercises = ", ".join(f"[{each}](../chapters/{chapter_of(each)}.md)" for each in exercises_about(names))
    found = experiments_about({*names, name.upper()} if definitions()[name].parent else {name.upper()})
    experiments = ", ".join(f"[{each}](../laboratory/{each}.md)" for each in found)
    lines = [f"* **Write it yourself:** {exercises}." if exercises else ""]
    lines += [
        f"* **Tested claims in which it or a part of its own takes part:** {experiments}."
        if experiments
        else ""
    ]
    shown = "\n".join(filter(None, lines))
    return f"## Further\n\n{shown}" if shown else ""


def chapter_of(exercise: str) -> str:
    """The folder of an exercise's chapter.

    >>> chapter_of("kl/k3")
    '04_kl'
    """
    return next((ROOT / "exercises").glob(f"*_{exercise.partition('/')[0]}")).name


def _gallery() -> str:
    cards = [f"## {title}\n\n{_cards(recipes)}" for title, recipes in GROUPS.items()]
    pages = "\n".join(RECIPES)
    head = "# Recipes\n\nEach algorithm is a table of parts, and a variant its difference from another one."
    return "\n\n".join([head, *cards, f"```{{toctree}}\n:hidden:\n\n{pages}\n```", ""])


GROUPS = {"The algorithms of the papers": CATALOG, "Forms that only the textbook has": CHAPTER}


def _cards(recipes: dict[str, Recipe]) -> str:
    return "::::{grid} 1 1 2 2\n:gutter: 3\n\n" + "\n\n".join(map(_card, recipes)) + "\n::::"


def _card(name: str) -> str:
    parent = definitions()[name].parent
    changes = RECIPES[name].differences(RECIPES[parent]) if parent else {}
    told = f"{parent}, but {', '.join(changes)}" if parent else "what the others are compared with"
    image = f":img-top: {name}.svg\n:img-alt: value and slope of {name}"
    return f":::{{grid-item-card}} {_title(name)}\n:link: {name}\n:link-type: doc\n{image}\n\n{told}\n:::"
