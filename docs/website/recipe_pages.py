"""The pages of the recipes: docs/recipe/NAME.md with generated parts, the gallery, and the textbook forms.

A page in docs/recipe has front matter and these marks, which are replaced: `<!-- picture -->`,
`<!-- keys -->` and `<!-- parts -->`. It ends with a list of links, which the related pages continue.
"""

import json
from typing import NamedTuple

from grpo_ref.recipes import CATALOG, RECIPES, TEXTBOOK_FORMS, Recipe
from grpo_ref.recipes.titles import title_of
from website.links import Links
from website.parts import Part, definitions, own_parts, parts_of
from website.places import to_kernel, to_line
from website.proofs import proof_links, proofs_of
from website.recipe_pictures import picture, small_picture
from website.see_also import see_also
from website.trainer_keys import Everywhere, in_trainers
from website.tree import RECIPE_PAGES, ROOT, write

FOLDER = ROOT / RECIPE_PAGES
GROUPS = {
    "The original": ("grpo",),
    "Several parts at once": ("dr_grpo", "dapo", "lite_ppo"),
    "The ratio and its clip": (
        *("gspo", "gspo_token", "gmpo", "cispo", "sapo", "vespo", "intellect_2"),
        *("dppo_tv", "dppo_kl", "dppo_top_tv", "dppo_top_kl", "clip_cov", "kl_cov", "topr", "dro"),
        *("real", "gvpo"),
    ),
    "The advantage": (
        *("two_grpo", "reinforce", "rloo", "remax", "otb", "opo", "gpg", "reinforce_pp"),
        *("reinforce_pp_baseline", "maxrl", "gopo", "pass_at_k", "gdpo", "process_grpo", "gigpo", "mt_grpo"),
    ),
    "The average and the weights of tokens": ("luspo", "high_entropy", "fipo"),
    "Corrections for a sampler that differs from the learner": (
        *("tis", "mis", "icepop", "m2po", "glm_5", "decoupled_ppo"),
    ),
    "A teacher": ("opd", "opd_rl"),
}
"""Group of recipes that change the same thing -> the recipes, in the order of the gallery."""


class Written(NamedTuple):
    """A page in docs/recipe: its front matter and its text."""

    head: dict[str, str]
    text: str


def written(name: str) -> Written:
    """Return the hand-written page of a recipe."""
    return split((FOLDER / f"{name}.md").read_text(encoding="utf-8"))


def split(page: str) -> Written:
    r"""Split a page into its front matter and its text. A value is text, in quotes or without.

    >>> split('---\nname: "DAPO"\npicture: weights\n---\n# DAPO\n')
    Written(head={'name': 'DAPO', 'picture': 'weights'}, text='# DAPO\n')
    """
    _, head, text = page.split("---\n", 2)
    pairs = (line.partition(":") for line in head.splitlines() if line.strip())
    values = ((key.strip(), value.strip()) for key, _, value in pairs)
    return Written(
        {key: json.loads(value) if value[0] == '"' else value for key, value in values}, text.lstrip()
    )


def write_recipes(nearest: dict[str, Everywhere], links: Links) -> None:
    """Write a page for each recipe of a paper or trainer, the gallery, and the page of the textbook forms.

    Args:
      nearest: nearest configuration of each trainer, for each recipe.
      links: rewrites the links of the hand-written pages.
    """
    for name in CATALOG:
        write(f"recipe/{name}.md", _page(name, nearest[name], links))
    write("recipe/index.md", _gallery())
    write("recipe/textbook_forms.md", _textbook_forms())


def _page(name: str, nearest: Everywhere, links: Links) -> str:
    page = f"recipe/{name}"
    head, text = written(name)
    generated = {
        "picture": _raw(picture(name, title_of(name), head.get("picture", ""))),
        "keys": f"{KEYS}\n\n{in_trainers(nearest)}",
        "parts": _parts(name, page),
    }
    text = links.rewritten(text, path=f"{RECIPE_PAGES}/{name}.md", page=page).rstrip()
    for mark, part in generated.items():
        text = text.replace(f"<!-- {mark} -->", part)
    first, _, rest = text.lstrip().partition("\n")
    title = f"```{{title}} {head['title']}\n```"
    return f"{described(head['description'])}\n\n{first}\n\n{title}\n{rest}\n{see_also(page)}\n"


def described(description: str) -> str:
    """Return front matter: the page's description for search engines, and no list of headings, for width."""
    text = json.dumps(description, ensure_ascii=False)
    return (
        f"---\nhtml_theme.sidebar_secondary.remove: true\nmyst:\n  html_meta:\n    description: {text}\n---"
    )


def _raw(html: str) -> str:
    return f"```{{raw}} html\n{html}\n```"


KEYS = (
    "`grpo-ref convert` found these keys. All other keys keep the defaults of the version named. Lengths are"
    " for a budget of 20480 tokens."
)


def _parts(name: str, page: str) -> str:
    """Return the section with identifiers and formulas of all parts, the definition, and the tests."""
    definition = definitions()[name]
    own = {part.text for part in own_parts(name)} if definition.parent else set()
    rows = (
        f"| {part.name} | {to_kernel(part.kernel, part.text, page=page)} |"
        f" {'changed' if part.text in own else ''} |"
        for part in parts_of(RECIPES[name])
    )
    parent = f"[{title_of(definition.parent)}]({definition.parent}.md)" if definition.parent else ""
    table = "\n".join([f"| part | kernel | {f'from {parent}' if parent else ''} |", "|---|---|---|", *rows])
    formulas = "\n\n".join(_formula(part, page) for part in parts_of(RECIPES[name]))
    place = to_line(definition.file, definition.line, definition.file.name, page=page)
    use = f'policy_loss(log_probs, advantages, mask, recipe="{name}", old_log_probs=old_log_probs)'
    sections = (
        f"## Parts\n\nIn `grpo_ref` the recipe has the name `{name}`: `{use}`. It is defined in {place}.",
        f":::{{div}} parts\n{table}\n:::",
        f"::::{{dropdown}} Definition and formulas of the parts\n"
        f"```python\n{definition.imports}\n\n{definition.text}\n```\n\n{formulas}\n::::",
        f"::::{{dropdown}} Tests\n{_proofs(name, page)}\n::::",
    )
    return "\n\n".join(sections)


def _formula(part: Part, page: str) -> str:
    link = to_kernel(part.kernel, part.text, page=page)
    formula = f"\n\n{_raw(part.formula)}" if part.formula else ""
    return f"**{part.name}** · {link}\n\n{_prose(part.sentence)}{formula}"


def _prose(sentence: str) -> str:
    return sentence.replace("*", r"\*").replace("_", r"\_") if "`" not in sentence else sentence


def _proofs(name: str, page: str) -> str:
    kernels = dict.fromkeys(part.kernel.__name__ for part in own_parts(name))
    used = {f"`{kernel}`": {kernel} for kernel in kernels} | {"the recipe": {name.upper()}}
    lines = [
        f"* **{tested}**: {proof_links(names, page)}" for tested, names in used.items() if proofs_of(names)
    ]
    return "\n".join([*lines, f"* **every recipe**: {proof_links({'RECIPES'}, page)}"])


# ---- the gallery ---------------------------------------------------------------------------------


def _gallery() -> str:
    groups = "\n\n".join(
        f"## {group}\n\n::::{{grid}} 1 2 3 4\n:gutter: 3\n:class-container: gallery\n\n"
        + "\n\n".join(map(_card, names))
        + "\n::::"
        for group, names in GROUPS.items()
    )
    head = described(
        f"{len(CATALOG)} algorithms of the GRPO family: each loss in one formula, the difference from GRPO,"
        " NumPy, and the keys of trainers."
    )
    pages = "\n".join([*CATALOG, "textbook_forms"])
    tree = f"```{{toctree}}\n:hidden:\n\n{pages}\n```\n"
    return "\n\n".join([head, "# Recipes", GALLERY, groups, LAST, tree])


GALLERY = (
    "GRPO and the algorithms that change it, grouped by what they change. Each picture shows what the recipe"
    " changes: solid lines are the recipe, dashed grey lines are GRPO. Blue lines are good tokens or right"
    " answers, orange lines are bad tokens or wrong answers."
)
LAST = "[Textbook forms](textbook_forms.md), which no paper or trainer computes, have a page of their own."


def _card(name: str) -> str:
    head = written(name).head
    head_line = f":::{{grid-item-card}} {title_of(name)}\n:link: {name}\n:link-type: doc"
    return f"{head_line}\n\n{_raw(small_picture(name, head.get('picture', '')))}\n\n{head['summary']}\n:::"


# ---- the textbook forms --------------------------------------------------------------------------


def _textbook_forms() -> str:
    head = described("GRPO's variants as a book chapter prints them, beside the published algorithms.")
    sections = "\n\n".join(map(_textbook_form, TEXTBOOK_FORMS))
    return f"{head}\n\n# Textbook forms\n\n{TEXTBOOK}\n\n{sections}\n"


TEXTBOOK = (
    "A book chapter on GRPO (2026, not public) prints some algorithms with formulas that differ from the"
    " papers and from every trainer. The names of these recipes begin with `book_`. For real work, use"
    " [the recipes of papers and trainers](index.md)."
)


def _textbook_form(name: str) -> str:
    published = name.removeprefix("book_")
    changes, base = RECIPES[name].differences(CATALOG[published]), _texts(CATALOG[published])
    rows = (f"| {part} | `{text}` | `{base.get(part, 'none')}` |" for part, text in changes.items())
    head = f"| part | textbook form | [{title_of(published)}]({published}.md) |"
    table = "\n".join([head, "|---|---|---|", *rows])
    new = {part.text for part in parts_of(CATALOG[published])}
    formulas = "\n\n".join(
        _formula(part, "recipe/textbook_forms") for part in parts_of(RECIPES[name]) if part.text not in new
    )
    lead = f"`{name}`: {RECIPES[name].source}."
    return "\n\n".join([f"({name})=\n## {title_of(published)}", lead, table, formulas])


def _texts(recipe: Recipe) -> dict[str, str]:
    return recipe.parts() | {"kl_coef": str(recipe.kl_coef)}
