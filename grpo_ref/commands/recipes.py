"""`grpo-ref recipes`: list the algorithms by their differences from GRPO."""

from collections.abc import Iterator, Mapping

import click

import grpo_ref
from grpo_ref.recipes.identity import objective_id
from grpo_ref.render.choices import Name
from grpo_ref.render.output import columns, plain_option

BASE = "grpo"
LEGEND = {
    "reward": "a change of the verifier's reward, made first",
    "keep": "the groups that take part; training resamples the other groups",
    "admit": "the completions or tokens that take part in the loss; the others are masked out",
    "advantage": "how much better a completion is than the other completions of its group",
    "ddof": "a setting of the advantage: the variance of a group of G rewards has the divisor G - ddof",
    "level": "one importance ratio per token, or one per completion",
    "surrogate": "the contribution of each token to the objective, such as PPO's clip",
    "corrections": "constant weights, such as those for a sampler that differs from the learner",
    "penalty": "the estimate of the KL to the reference policy",
    "kl_coef": "the weight of the penalty; at 0 there is none",
    "aggregate": "the weight of each token in the loss",
    "distill": "the share of a teacher in the advantages",
}
"""Part of a recipe, or setting of a part -> its meaning. The legend comes before the recipes."""
HEADING = "Textbook forms"
"""Heading of the recipes that come last."""
NOTE = (
    "Papers and trainers do not compute these formulas. A book chapter on GRPO prints them under the names of"
    " published algorithms. They are kept for its readers."
)
"""Text below the heading."""
MORE = "grpo-ref recipes NAME shows every part of a recipe."
"""Last line of the list."""


@click.command("recipes", epilog="Example:  grpo-ref recipes dapo")
@click.argument("name", type=Name("recipe", lambda: grpo_ref.RECIPES), required=False)
@click.option("--markdown", is_flag=True, help="Print the tables as Markdown.")
@plain_option
def command(name: str | None, markdown: bool, plain: bool) -> None:
    """List the algorithms by their differences from GRPO, or show every part of one of them."""
    if name is not None:
        recipe = grpo_ref.RECIPES[name]
        identity = objective_id(recipe)
        if plain:
            lines = [
                f"{part}: {text}." for part, text in {**recipe.parts(), "objective ID": identity}.items()
            ]
        else:
            lines = [str(recipe), f"{'ID':10} {identity}"]
        click.echo("\n".join(lines))
    elif markdown:
        click.echo(as_markdown())
    elif plain:
        click.echo(_as_lines())
    else:
        click.echo(_as_list(), nl=False)


def as_markdown() -> str:
    """Return the algorithms as a table in Markdown, and the textbook forms as another table below it."""
    legend = [f"* `{part}`: {meaning}" for part, meaning in LEGEND.items()]
    tables = [
        [f"| `{name}` | {_difference(name, recipe)} | {recipe.source} |" for name, recipe in recipes.items()]
        for recipes in (grpo_ref.recipes.CATALOG, grpo_ref.recipes.TEXTBOOK_FORMS)
    ]
    head = ["| recipe | what it is | source |", "|---|---|---|"]
    textbook = ["", f"## {HEADING}", "", NOTE, "", *head, *tables[1]]
    return "\n".join([*legend, "", *head, *tables[0], *textbook, "", MORE])


def _as_lines() -> str:
    """Return the algorithms as text without columns, with the textbook forms below their heading."""
    catalog, textbook = (
        [f"{name}: {text}." for name, text in _descriptions(recipes)]
        for recipes in (grpo_ref.recipes.CATALOG, grpo_ref.recipes.TEXTBOOK_FORMS)
    )
    legend = [f"{part}: {meaning}." for part, meaning in LEGEND.items()]
    return "\n".join([*legend, *catalog, f"{HEADING}:", NOTE, *textbook, MORE])


def _as_list() -> str:
    """Return the list of the algorithms, as wide as the terminal, with the textbook forms at the end."""
    formatter = click.HelpFormatter(width=columns())
    formatter.write_dl(list(LEGEND.items()))
    formatter.write_paragraph()
    formatter.write_dl(list(_descriptions(grpo_ref.recipes.CATALOG)))
    with formatter.section(HEADING):
        formatter.write_text(NOTE)
        formatter.write_paragraph()
        formatter.write_dl(list(_descriptions(grpo_ref.recipes.TEXTBOOK_FORMS)))
    formatter.write_paragraph()
    formatter.write_text(MORE)
    return formatter.getvalue()


def _descriptions(recipes: Mapping[str, "grpo_ref.Recipe"]) -> Iterator[tuple[str, str]]:
    """Generate each name with its differences from GRPO and its source."""
    for name, recipe in recipes.items():
        yield name, f"{_difference(name, recipe).replace('`', '')}. {recipe.source}"


def _difference(name: str, recipe: "grpo_ref.Recipe") -> str:
    if name == BASE:
        parts = {part: text for part, text in recipe.parts().items() if part != "source"}
        return ", ".join(f"{part} = `{text}`" for part, text in parts.items())
    changes = ", ".join(f"{part} = `{text}`" for part, text in recipe.differences(grpo_ref.GRPO).items())
    return f"{BASE}, but {changes}"
