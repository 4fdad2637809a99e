"""A page for each trainer, made from its dialect, and one that compares them by objective."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from joblib import Memory, Parallel, delayed
from public_names import first_line

from grpo_ref.explain.dialect import Dialect, flat
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.replay import Verdict, read, shipped, verdicts
from grpo_ref.explain.trap import Trap
from grpo_ref.explain.yaml_values import as_yaml
from grpo_ref.recipes import Slot
from website.docstrings import cited
from website.key_table import aliases, key_table, keys_beyond
from website.places import to_kernel
from website.trainer_keys import Everywhere, differing, keys, title
from website.transcripts import transcript
from website.trap_finder import anchor
from website.tree import CACHE, write


def write_trainers(code: str, nearest: dict[str, Everywhere]) -> None:
    """Write a page for each trainer, and the one that compares them.

    Args:
      code: what is kept from the last time is used only if this hash of the code is the same.
      nearest: of each recipe, the nearest configuration of each trainer.
    """
    computed = Memory(CACHE, verbose=0).cache(_computed)
    pages = Parallel(n_jobs=-1)(delayed(computed)(name, code) for name in DIALECTS)
    for name, (before, after) in zip(DIALECTS, pages, strict=True):
        write(f"trainers/{name}.md", "\n\n".join([before, _recipes(name, nearest), after, ""]))
    write("trainers/index.md", _index(nearest))


def _computed(name: str, code: str) -> tuple[str, str]:
    """What takes long of a page: what stands before its recipes, and what stands after them."""
    dialect, page = DIALECTS[name], f"trainers/{name}"
    before = [_head(dialect), _defaults(dialect, page), _keys(dialect, page), _traps(dialect)]
    return "\n\n".join(filter(None, before)), "\n\n".join([_recorded(dialect), _commands(dialect)])


def _head(dialect: Dialect) -> str:
    module = import_module(f"grpo_ref.explain.dialects.{dialect.name}")
    told = f"{len(dialect.defaults)} keys change the objective, and {len(dialect.traps)} traps are known."
    return f"# {title(dialect)}\n\n{first_line(module.__doc__)} {told}"


def _defaults(dialect: Dialect, page: str) -> str:
    recipe = dialect.recipe()
    rows = (
        f"| {part} | {_shown(getattr(recipe, part), page)} |" for part in recipe.parts() if part != "source"
    )
    return "\n".join(
        ["## What it computes by default", "", "| part | what stands there |", "|---|---|", *rows]
    )


def _shown(value: object, page: str) -> str:
    parts = value if isinstance(value, tuple) and any(map(callable, value)) else (value,)
    return (
        ", ".join(
            to_kernel(slot.kernel, str(slot), page=page)
            for slot in (each if isinstance(each, Slot) else Slot(each) for each in parts if callable(each))
        )
        or f"`{value}`"
    )


def _keys(dialect: Dialect, page: str) -> str:
    beyond = keys_beyond(dialect)
    others = ", ".join(f"`{key}`" for key in sorted(dialect.others))
    sections = [
        f"## Its keys\n\n{KEYS}\n\n:::{{div}} keys\n{key_table(dialect, page)}\n:::",
        aliases(dialect),
        f"These cannot be expressed by a recipe here:\n\n{beyond}" if beyond else "",
        f":::{{dropdown}} {len(dialect.others)} keys that do not touch the objective\n{others}\n:::"
        if others
        else "",
    ]
    return "\n\n".join(filter(None, sections))


KEYS = (
    "Of a key with a few values, each is shown with what it changes from the default, and with the other keys"
    " that it needs. Of a number, the settings of our kernels that it decides."
)


def _traps(dialect: Dialect) -> str:
    found = (f"({anchor(dialect, place)})=\n{_trap(trap)}" for place, trap in enumerate(dialect.traps))
    return "\n\n".join(["## Its traps", *found]) if dialect.traps else ""


def _trap(trap: Trap) -> str:
    """One trap: its name, what happens and what to do, a configuration on each side of it, and the source."""
    example, near = (
        " ".join(f"{key}={value}" for key, value in flat(each).items()) for each in (trap.example, trap.near)
    )
    sides = f"| in the trap | outside |\n|---|---|\n| `{example}` | `{near or 'the defaults'}` |"
    return f"### {trap.name}\n\n{trap.text}\n\n{sides}\n\nSource: {cited(trap.source)}."


def _typed(config: Mapping[str, Any]) -> list[str]:
    """A configuration as it is typed after a command."""
    return [f"{key}={as_yaml(value)}" for key, value in flat(config).items()]


def _recipes(name: str, nearest: dict[str, Everywhere]) -> str:
    rows = (
        f"| [{recipe}](../recipe/{recipe}.md) | {keys(found[name])} | {_difference(recipe, name, found)} |"
        for recipe, found in nearest.items()
    )
    table = "\n".join(["| recipe | keys | what differs |", "|---|---|---|", *rows])
    return f"## The recipes in its words\n\n{RECIPES_ABOUT}\n\n:::{{div}} wide\n{table}\n:::"


RECIPES_ABOUT = (
    "The configuration that comes nearest to each recipe, as `grpo-ref convert` finds it, and the parts that"
    " differ all the same. What is not said stays at the trainer's default. The parts are compared by their"
    " numbers on a batch without empty completions, where neither the eps of a denominator nor a bound that"
    " no ratio reaches makes a difference."
)


def _difference(recipe: str, dialect: str, found: Everywhere) -> str:
    return ", ".join(differing(recipe, dialect, found[dialect])) or "nothing"


def _recorded(dialect: Dialect) -> str:
    found: dict[tuple[str, str], list[Verdict]] = {}
    for file in _files(dialect):
        cases = {case["id"]: case for case in read(file)[1]}
        for verdict in verdicts(file):
            case = cases[verdict.id]
            what = f"{case['call']}, refused" if "refused" in case else case["call"]
            found.setdefault((what, case.get("commit", dialect.version)), []).append(verdict)
    rows = (_record(call, commit, group) for (call, commit), group in found.items())
    head = ["| what | recorded from | cases | that agree | off by at most |", "|---|---|---|---|---|"]
    return f"## Its recorded numbers\n\n{RECORDED}\n\n" + "\n".join([*head, *rows])


RECORDED = (
    "Numbers of the trainer's own code, computed anew from its configuration while this site was built, as"
    " `grpo-ref parity` does it. Errors are relative to the largest recorded magnitude."
    " [How they were recorded](../more/trainers.md)."
)


def _files(dialect: Dialect) -> list[Path]:
    return [file for file in shipped() if file.parent.name == dialect.name]


def _record(call: str, commit: str, group: list[Verdict]) -> str:
    agree, worst = sum(each.passed for each in group), max(each.error for each in group)
    return f"| {call} | {commit} | {len(group)} | {agree} | {worst:.0e} |"


def _commands(dialect: Dialect) -> str:
    key, values = next(iter(dialect.choices.items()))
    plain = {key: next(value for value in values if value != dialect.defaults[key])}
    trapped = _typed(next((trap.example for trap in dialect.traps), plain))
    other = next(name for name in DIALECTS if name != dialect.name)
    chosen = [argument for pair in _typed(plain) for argument in ("--set", pair)]
    checked = transcript(
        "check", "my_loss:loss", "--dialect", dialect.name, *chosen, files={"my_loss.py": MY_LOSS}
    )
    parts = {
        f"What does a configuration of {title(dialect)} optimize?": transcript(
            "explain", dialect.name, *trapped
        ),
        "How would another trainer say it?": transcript(
            "convert", "--from", dialect.name, "--to", other, *_typed(plain)
        ),
        "Does my own loss compute the same?": f"{CHECKED}\n\n```python\n{MY_LOSS}```\n\n{checked}",
    }
    told = "\n\n".join(f"### {question}\n\n{answer}" for question, answer in parts.items())
    return f"## The commands\n\n{told}"


CHECKED = "Let `my_loss.py` hold PPO's clipped loss, averaged over all tokens:"
MY_LOSS = """import numpy as np


def loss(log_probs, old_log_probs, ref_log_probs, advantages, mask):
    ratio = np.exp(np.where(mask > 0, log_probs - old_log_probs, 0.0))
    gain = np.minimum(ratio * advantages[:, None], np.clip(ratio, 0.8, 1.2) * advantages[:, None])
    return -np.where(mask > 0, gain, 0.0).sum() / max(mask.sum(), 1)
"""


def _index(nearest: dict[str, Everywhere]) -> str:
    pages = "\n".join(DIALECTS)
    sections = [
        WIDE,
        "# Trainers",
        INDEX,
        _trainers(),
        "## Who can express which recipe?",
        COMPARED,
        _compared(nearest),
    ]
    return "\n\n".join([*sections, f"```{{toctree}}\n:hidden:\n\n{pages}\n```", ""])


WIDE = "---\nhtml_theme.sidebar_secondary.remove: true\n---"
"""What gives the room beside a page to the page."""
INDEX = (
    "Every trainer has its own words for the same objectives, and the same words for different ones. Each"
    " page has a trainer's keys in our words, its traps, and the numbers that its own code computed."
)
COMPARED = (
    "A cell with keys holds a configuration that computes the recipe: every part gives the same numbers on a"
    " batch without empty completions, with ratios from 1/8 to 8. Any other cell names the parts in which the"
    " configuration that `grpo-ref convert` finds gives other numbers; the page of the recipe tells what"
    " stands there instead. A click on the head of a column sorts by it."
)


def _trainers() -> str:
    rows = (
        f"| [{title(each)}]({name}.md) | {each.version} | {len(each.defaults)} | {len(each.traps)}"
        f" | {sum(len(read(file)[1]) for file in _files(each))} |"
        for name, each in DIALECTS.items()
    )
    return "\n".join(
        ["| trainer | as read in | keys | traps | recorded cases |", "|---|---|---|---|---|", *rows]
    )


def _compared(nearest: dict[str, Everywhere]) -> str:
    names = [title(dialect) for dialect in DIALECTS.values()]
    rows = (
        " | ".join([f"| [{recipe}](../recipe/{recipe}.md)", *(_cell(recipe, name, found) for name in found)])
        for recipe, found in nearest.items()
    )
    head = [f"| recipe | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    return ":::{div} sortable compared\n" + "\n".join([*head, *rows]) + "\n:::"


def _cell(recipe: str, dialect: str, found: Everywhere) -> str:
    lost = differing(recipe, dialect, found[dialect])
    return f"differs: {', '.join(lost)}" if lost else keys(found[dialect])
