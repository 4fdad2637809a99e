"""A page for each recipe, made from the code: changes, formulas, picture, learning curves and keys."""

from collections.abc import Iterable

from grpo_ref.plots import as_svg, surrogate_figure
from grpo_ref.recipes import CATALOG, RECIPES, TEXTBOOK_FORMS, Recipe
from grpo_ref.recipes.titles import title_of
from grpo_ref.tasks import TASKS
from website.docstrings import cited
from website.kept import of_each_recipe
from website.learning_curves import SETTINGS, Learned, learned_alike, picture
from website.mentions import exercises_about, experiments_about
from website.parts import Part, definitions, own_kernels, own_parts, parts_of
from website.places import to_kernel, to_line
from website.proofs import proof_links, proofs_of
from website.trainer_keys import Everywhere, table, title
from website.trap_finder import traps_of
from website.tree import ROOT, write


def write_recipes(code: str, nearest: dict[str, Everywhere], learned: dict[str, Learned]) -> None:
    """Write a page for each recipe, the gallery, and the list of the textbook forms.

    Args:
      code: hash of the code. A cached result is used only if its hash is the same.
      nearest: nearest configuration of each trainer, for each recipe.
      learned: rewards of each recipe on each task.
    """
    for name, svg in of_each_recipe(_drawn, code).items():
        write(f"recipe/{name}.svg", svg)
        write(f"recipe/{name}-learning.svg", picture(learned, name, definitions()[name].parent))
        write(f"recipe/{name}.md", _page(name, nearest[name], learned))
    write("recipe/index.md", _gallery())
    write("recipe/textbook_forms.md", _textbook_forms())


def _drawn(name: str, code: str) -> str:
    """Draw the picture of a recipe, which is slow."""
    return as_svg(surrogate_figure(RECIPES[name].surrogate)).decode()


def _page(name: str, nearest: Everywhere, learned: dict[str, Learned]) -> str:
    sections = (
        _head(name),
        _changes(name),
        _formulas(name),
        _picture(name),
        _learning(name, learned),
        _code(name),
    )
    known = (_trainers(nearest), _traps(name, nearest), _proofs(name), _further(name))
    return "\n\n".join(filter(None, [*sections, *known])) + "\n"


def _head(name: str) -> str:
    return f"# {title_of(name)}\n\n{cited(RECIPES[name].source)}."


def _changes(name: str) -> str:
    parent = definitions()[name].parent
    if not parent:
        lead = "This recipe is not derived from another one."
        return f"## Parts\n\n{lead}\n\n{_all(RECIPES[name])}"
    changes, base = RECIPES[name].differences(RECIPES[parent]), _texts(RECIPES[parent])
    rows = (f"| {part} | `{text}` | `{base.get(part, 'none')}` |" for part, text in changes.items())
    head = f"| part | {title_of(name)} | [{title_of(parent)}]({parent}.md) |"
    table = "\n".join([head, "|---|---|---|", *rows])
    return f"## What changes from {title_of(parent)}\n\n{table}"


def _texts(recipe: Recipe) -> dict[str, str]:
    texts = recipe.parts()
    return texts | {"kl_coef": str(recipe.kl_coef)}


def _all(recipe: Recipe) -> str:
    rows = (f"| {part} | `{text}` |" for part, text in recipe.parts().items() if part != "source")
    return "\n".join(["| part | kernel or value |", "|---|---|", *rows])


def _formulas(name: str) -> str:
    parent = definitions()[name].parent
    inherited = {part.text for part in parts_of(RECIPES[parent])} if parent else set()
    sections = (
        _formula(part, is_new=bool(parent) and part.text not in inherited, page=f"recipe/{name}")
        for part in parts_of(RECIPES[name])
    )
    return "## Formulas\n\n" + "\n\n".join(sections)


def _formula(part: Part, *, is_new: bool, page: str) -> str:
    link = to_kernel(part.kernel, part.text, page=page)
    mark = " {bdg-primary}`changed`" * is_new
    formula = f"\n\n```{{raw}} html\n{part.formula}\n```" if part.formula else ""
    return f"**{part.name}** · {link}{mark}\n\n{_prose(part.sentence)}{formula}"


def _prose(sentence: str) -> str:
    return sentence.replace("*", r"\*").replace("_", r"\_") if "`" not in sentence else sentence


def _picture(name: str) -> str:
    part = RECIPES[name].surrogate
    alt = f"Value and slope of {part} against the ratio, for a good token and a bad one."
    return f"## Value and slope of one token\n\n![{alt}]({name}.svg)\n\n{READING}"


READING = (
    "Left: the contribution of one token to the objective. Right: the slope with respect to the"
    " log-probability of the token. Where the slope is zero, the token counts in the value but no longer"
    " moves the policy. Dotted: the surrogate without clipping. In this picture every completion has one"
    " token, sampled with probability 0.2."
)


def _learning(name: str, learned: dict[str, Learned]) -> str:
    parent = definitions()[name].parent
    alike = ", ".join(learned_alike(learned, name, parent)) if parent else ""
    sentences = [
        f"![Mean reward of {name} on each task against the update.]({name}-learning.svg)\n\n{LEARNING}",
        f" Dashed grey line: [{title_of(parent)}]({parent}.md) with the same random numbers." * bool(parent),
        f" On {alike}, both recipes give exactly the same rewards." * bool(alike),
    ]
    command = f"grpo-ref train {next(iter(TASKS))} --recipe {name} {TRAINED}"
    return f"## Learning curves\n\n{''.join(sentences)}\n\n```text\n$ {command}\n```"


TRAINED = " ".join(f"--{setting} {value}" for setting, value in SETTINGS.items())
LEARNING = (
    "The line is the mean of {seeds} runs, and the band is its 95 % interval. Each batch is used for"
    " {epochs} steps, so that there are ratios to clip. All other settings are the task's defaults."
    " {updates} updates show early learning only. The tasks are small, so the curves do not predict the"
    " results of large models."
).format(**SETTINGS)


def _code(name: str) -> str:
    definition = definitions()[name]
    file, line = definition.file, definition.line
    place = to_line(file, line, f"{file.name}, line {line}", page=f"recipe/{name}")
    use = f'recipe = RECIPES["{name}"]\npolicy_loss(log_probs, advantages, mask, recipe=recipe)'
    blocks = "\n\n".join(f"```python\n{text}\n```" for text in (definition.text, use))
    return f"## In code\n\n{blocks}\n\nThe recipe is defined in {place}."


def _trainers(nearest: Everywhere) -> str:
    about = (
        "The table lists the configuration that `grpo-ref convert` finds for each trainer, and the parts"
        " that still differ. All other keys keep the trainer's defaults. See also [all"
        " trainers](../trainers/index.md)."
    )
    return f"## Configuration keys\n\n{about}\n\n:::{{div}} wide\n{table(nearest)}\n:::"


def _traps(name: str, nearest: Everywhere) -> str:
    lines = (
        f"* **{title(dialect)}**, [{trap.name}](#{place}): {trap.text}"
        for dialect, trap, place in traps_of(name, nearest)
    )
    traps = "\n".join(lines)
    return f"## Traps\n\n{TRAPS}\n\n{traps}" if traps else ""


TRAPS = (
    "`grpo-ref explain` warns about these traps. A configuration above falls into them, or they concern a"
    " key that selects a part of this recipe."
)


def _proofs(name: str) -> str:
    page = f"recipe/{name}"
    kernels = dict.fromkeys(part.kernel.__name__ for part in own_parts(name))
    used = {f"`{kernel}`": {kernel} for kernel in kernels} | {"the recipe": {name.upper()}}
    lines = [
        f"* **{tested}**: {proof_links(names, page)}" for tested, names in used.items() if proofs_of(names)
    ]
    every = f"* **every recipe**: {proof_links({'RECIPES'}, page)}"
    return "\n".join(["## Tests", "", *lines, every])


def _further(name: str) -> str:
    names = own_kernels(name)
    exercises = ", ".join(f"[{each}](../chapters/{chapter_of(each)}.md)" for each in exercises_about(names))
    about = {*names, name.upper()} if definitions()[name].parent else {name.upper()}
    experiments = ", ".join(f"[{each}](../experiments/{each}.md)" for each in experiments_about(about))
    lines = [f"* **Exercises:** {exercises}."] * bool(exercises)
    lines += [f"* **Experiments:** {experiments}."] * bool(experiments)
    return "\n".join(["## Next", "", *lines]) if lines else ""


def chapter_of(exercise: str) -> str:
    """Return the folder of an exercise's chapter.

    >>> chapter_of("kl/k3")
    '04_kl'
    """
    return next((ROOT / "exercises").glob(f"*_{exercise.partition('/')[0]}")).name


def _gallery() -> str:
    head = "# Recipes\n\nAn algorithm is a table of parts. A variant replaces some parts of another recipe."
    cards = "::::{grid} 1 1 2 2\n:gutter: 3\n\n" + "\n\n".join(map(_card, CATALOG)) + "\n::::"
    last = (
        "[Textbook forms](textbook_forms.md), which no paper or trainer computes, have a page of their own."
    )
    return "\n\n".join([head, cards, last, _pages([*CATALOG, "textbook_forms"])])


def _textbook_forms() -> str:
    rows = (f"| [{title_of(name)}]({name}.md) | `{name}` | {_changed(name)} |" for name in TEXTBOOK_FORMS)
    table = "\n".join(["| textbook form | recipe | difference |", "|---|---|---|", *rows])
    return "\n\n".join([f"# Textbook forms\n\n{TEXTBOOK}", table, _pages(TEXTBOOK_FORMS)])


TEXTBOOK = (
    "A book chapter on GRPO (2026, not public) prints some algorithms with formulas that differ from the"
    " papers and from every trainer. The names of these recipes begin with `book_`. For real work, use"
    " [the recipes of papers and trainers](index.md)."
)


def _pages(names: Iterable[str]) -> str:
    """Return the hidden table of contents that puts pages into the navigation."""
    lines = "\n".join(names)
    return f"```{{toctree}}\n:hidden:\n\n{lines}\n```\n"


def _card(name: str) -> str:
    image = f":img-top: {name}.svg\n:img-alt: value and slope of {name}"
    head = f":::{{grid-item-card}} {title_of(name)}\n:link: {name}\n:link-type: doc\n{image}"
    return f"{head}\n\n{_changed(name)}\n:::"


def _changed(name: str) -> str:
    """Return a sentence on the parts that differ from those of the parent."""
    parent = definitions()[name].parent
    changes = RECIPES[name].differences(RECIPES[parent]) if parent else {}
    return (
        f"Changes {title_of(parent)}: {', '.join(changes)}." if parent else "Not derived from another recipe."
    )
