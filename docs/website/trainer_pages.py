"""A page for each trainer, made from its dialect, and a page that compares all trainers."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from joblib import Memory, Parallel, delayed
from public_names import first_line

from grpo_ref.explain.dialect import Dialect, flat, numbered
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.errata.entry import entries
from grpo_ref.explain.trap import Trap
from grpo_ref.explain.yaml_values import as_yaml
from grpo_ref.parity.replay import Verdict, read, shipped, verdicts
from grpo_ref.recipes import Slot
from grpo_ref.recipes.titles import title_of
from grpo_ref.web.explain import trap_anchor
from website.docstrings import cited
from website.key_table import aliases, key_table, keys_beyond
from website.places import to_kernel
from website.trainer_history import has_history, history_page
from website.trainer_keys import Everywhere, Nearest, code, differing, keys, title
from website.transcripts import transcript
from website.tree import CACHE, write


def write_trainers(code: str, nearest: dict[str, Everywhere]) -> None:
    """Write a page for each trainer, and the page that compares them.

    Args:
      code: hash of the code. A cached result is used only if its hash is the same.
      nearest: nearest configuration of each trainer, for each recipe.
    """
    computed = Memory(CACHE, verbose=0).cache(_computed)
    pages = Parallel(n_jobs=-1)(delayed(computed)(name, code) for name in DIALECTS)
    for name, (before, after) in zip(DIALECTS, pages, strict=True):
        write(f"trainers/{name}.md", "\n\n".join([before, _recipes(name, nearest), after, _below(name)]))
        if has_history(DIALECTS[name]):
            write(f"trainers/{name}_changes.md", history_page(DIALECTS[name]))
    write("trainers/index.md", _index(nearest))


def _computed(name: str, code: str) -> tuple[str, str]:
    """Compute the slow parts of a page: the text before the table of recipes, and the text after it."""
    dialect, page = DIALECTS[name], f"trainers/{name}"
    before = [_head(dialect), _defaults(dialect, page), _keys(dialect, page), _traps(dialect)]
    return "\n\n".join(filter(None, before)), "\n\n".join([_recorded(dialect), _commands(dialect)])


def _head(dialect: Dialect) -> str:
    module = import_module(f"grpo_ref.explain.dialects.{dialect.name}")
    keys = _count(len(dialect.keys.defaults), "key")
    earlier = sum(is_of_earlier(dialect, trap) for trap in dialect.traps)
    traps = _count(len(dialect.traps) - earlier, "trap") + f" and {earlier} of earlier versions" * bool(
        earlier
    )
    summary = f"This page describes {keys} that can change the objective, {'and ' * (not earlier)}{traps}."
    changes = (
        f" [What changed when](../trainers/{dialect.name}_changes.md) lists the differences of"
        f" {_count(len(dialect.history.releases), 'other version')}."
        if has_history(dialect)
        else " Only this version is described."
    )
    return f"# {title(dialect)}\n\n{first_line(module.__doc__)} {summary}{changes}"


def _below(name: str) -> str:
    """Return the hidden table of contents that puts the page of changes below the trainer's page."""
    return f"```{{toctree}}\n:hidden:\n\n{name}_changes\n```\n" if has_history(DIALECTS[name]) else ""


def _count(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> _count(1, "trap"), _count(2, "trap")
    ('1 trap', '2 traps')
    """
    return f"{number} {noun}{'s' * (number != 1)}"


def _defaults(dialect: Dialect, page: str) -> str:
    recipe = dialect.recipe()
    rows = (
        f"| {part} | {_shown(getattr(recipe, part), page)} |" for part in recipe.parts() if part != "source"
    )
    table = "\n".join(["| part | kernel or value |", "|---|---|", *rows])
    assumed = [
        f"`{key}` is {code(repr(record.own_default))} in {title(dialect)}, {code(repr(record.default))} here."
        for key, record in dialect.keys.table.items()
        if record.own_default is not None
    ]
    reason = f"{ASSUMED} {' '.join(assumed)}" if assumed else ""
    return "\n\n".join(filter(None, ["## Default objective", reason, table]))


ASSUMED = "The trainer's own defaults do not give an objective of this family, so other values are assumed."


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
    others = ", ".join(f"`{key}`" for key in sorted(dialect.keys.harmless))
    sections = [
        f"## Keys\n\n{KEYS}\n\n:::{{div}} keys\n{key_table(dialect, page)}\n:::",
        aliases(dialect),
        f"No recipe can express these keys:\n\n{beyond}" if beyond else "",
        f":::{{dropdown}} {_count(len(dialect.keys.harmless), 'key')} without effect on the objective"
        f"\n{others}\n:::"
        if others
        else "",
    ]
    return "\n\n".join(filter(None, sections))


KEYS = (
    "For a key with a few values, the table lists each value and the parts of the recipe that it changes."
    " Some values need other keys, which follow the word *with*. For a number, the table lists the settings"
    " of the kernels that it determines. A + before a key is Hydra's mark for a key that the trainer's own"
    " files do not list."
)


def _traps(dialect: Dialect) -> str:
    """Return the traps of today's versions, then those that only earlier versions have."""
    today: list[str] = []
    earlier: list[str] = []
    for place, trap in enumerate(dialect.traps):
        section = earlier if is_of_earlier(dialect, trap) else today
        section.append(f"({trap_anchor(dialect, place)})=\n{_trap(dialect, trap)}")
    sections = {"## Traps": today, f"## Traps of earlier versions\n\n{EARLIER}": earlier}
    return "\n\n".join("\n\n".join([head, *traps]) for head, traps in sections.items() if traps)


EARLIER = "The described version does not have these traps."


def is_of_earlier(dialect: Dialect, trap: Trap) -> bool:
    """Return true if no configuration falls into a trap in the described version or in a later release."""
    return bool(trap.release) and trap.release not in dialect.history.later


def _badge(dialect: Dialect, trap: Trap) -> str:
    """Return the releases that a trap is limited to, as a badge; "" for a trap of the described version."""
    if not trap.release:
        return ""
    if not is_of_earlier(dialect, trap):
        return f"{{bdg-warning}}`from {trap.release} on`\n\n"
    at = numbered(trap.release)
    last = next(last for _, last in dialect.history.spans if at <= numbered(last))
    return f"{{bdg-secondary}}`only up to {last}`\n\n"


def _trap(dialect: Dialect, trap: Trap) -> str:
    """Return one trap: name, releases, effect and remedy, a configuration with and one without it, source."""
    example, near = (
        " ".join(f"{key}={value}" for key, value in flat(each).items()) for each in (trap.example, trap.near)
    )
    sides = f"| falls into the trap | avoids it |\n|---|---|\n| `{example}` | `{near or 'the defaults'}` |"
    entry = next((each for each in entries(dialect.name) if each.title == trap.name), None)
    link = "" if entry is None else f" Erratum: {{ref}}`{entry.id} <{entry.id}>`."
    text = f"{_badge(dialect, trap)}{trap.text}"
    return f"### {trap.name}\n\n{text}\n\n{sides}\n\nSource: {cited(trap.source)}.{link}"


def _typed(config: Mapping[str, Any]) -> list[str]:
    """Return a configuration as arguments of a command."""
    return [f"{key}={as_yaml(value)}" for key, value in flat(config).items()]


def _recipes(name: str, nearest: dict[str, Everywhere]) -> str:
    rows = (
        f"| [{title_of(recipe)}](../recipe/{recipe}.md) | {keys(each[name])} |"
        f" {', '.join(differing(each[name])) or 'none'} |"
        for recipe, each in nearest.items()
    )
    table = "\n".join(["| recipe | keys | differences |", "|---|---|---|", *rows])
    return f"## Recipes\n\n{RECIPES_ABOUT}\n\n:::{{div}} wide\n{table}\n:::"


RECIPES_ABOUT = (
    "The table lists the configuration that `grpo-ref convert` finds for each recipe, and the parts that"
    " still differ. All other keys keep the trainer's defaults. The comparison uses the numbers that the"
    " parts compute on a batch without empty completions. It ignores the eps of a denominator and a bound"
    " that no ratio reaches."
)


def _recorded(dialect: Dialect) -> str:
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for file in _files(dialect):
        cases = {case["id"]: case for case in read(file)[1]}
        for verdict in verdicts(file):
            case = cases[verdict.id]
            call = f"{case['call']}, refused" if "refused" in case else case["call"]
            groups.setdefault((call, case.get("commit", dialect.version)), []).append(verdict)
    rows = (_record(call, commit, group) for (call, commit), group in groups.items())
    head = ["| call | recorded from | cases | cases that agree | largest error |", "|---|---|---|---|---|"]
    return f"## Recorded numbers\n\n{RECORDED}\n\n" + "\n".join([*head, *rows])


RECORDED = (
    "These numbers were recorded from the trainer's own code. The build of this site computes them again"
    " from the configuration, as `grpo-ref parity` does, and compares. Errors are relative to"
    " the largest recorded magnitude. See [how the numbers were recorded](../more/recorded.md)."
)


def _files(dialect: Dialect) -> list[Path]:
    return [file for file in shipped() if file.stem == dialect.name]


def _record(call: str, commit: str, group: list[Verdict]) -> str:
    agree, worst = sum(each.passed for each in group), max(each.error for each in group)
    return f"| {call} | {commit} | {len(group)} | {agree} | {worst:.0e} |"


def _commands(dialect: Dialect) -> str:
    key, values = next(iter(dialect.keys.choices.items()))
    plain = {key: next(value for value in values if value != dialect.keys.defaults[key])}
    trapped = _typed(next((trap.example for trap in dialect.traps), plain))
    other = next(name for name in DIALECTS if name != dialect.name)
    chosen = [argument for pair in _typed(plain) for argument in ("--set", pair)]
    checked = transcript(
        "check", "my_loss:loss", "--dialect", dialect.name, *chosen, files={"my_loss.py": MY_LOSS}
    )
    parts = {
        f"What does a {title(dialect)} configuration optimize?": transcript(
            "explain", dialect.name, *trapped
        ),
        "Which keys does another trainer need?": transcript(
            "convert", "--from", dialect.name, "--to", other, *_typed(plain)
        ),
        "Does your own loss compute the same?": f"{CHECKED}\n\n```python\n{MY_LOSS}```\n\n{checked}",
    }
    answers = "\n\n".join(f"### {question}\n\n{answer}" for question, answer in parts.items())
    return f"## Commands\n\n{answers}"


CHECKED = "Suppose that `my_loss.py` contains PPO's clipped loss, averaged over all tokens:"
MY_LOSS = """import numpy as np


def loss(log_probs, old_log_probs, ref_log_probs, advantages, mask):
    ratio = np.exp(np.where(mask > 0, log_probs - old_log_probs, 0.0))
    gain = np.minimum(ratio * advantages[:, None], np.clip(ratio, 0.8, 1.2) * advantages[:, None])
    return -np.where(mask > 0, gain, 0.0).sum() / max(mask.sum(), 1)
"""


def _index(nearest: dict[str, Everywhere]) -> str:
    pages = "\n".join([*DIALECTS, "errata"])
    sections = [
        WIDE,
        "# Trainers",
        INDEX,
        _trainers(),
        "## Recipes that each trainer can express",
        COMPARED,
        _compared(nearest),
    ]
    return "\n\n".join([*sections, f"```{{toctree}}\n:hidden:\n\n{pages}\n```", ""])


WIDE = "---\nhtml_theme.sidebar_secondary.remove: true\n---"
"""Front matter that removes the list of headings, so that the page is wider."""
INDEX = (
    "Trainers use different keys for the same objective, and the same key for different objectives. The"
    " page of a trainer explains each key, lists the traps, and compares with numbers that the trainer's own"
    " code computed."
    " The [errata](errata.md) list the behaviours of all trainers that surprise, with their releases."
)
COMPARED = (
    "A cell with keys is a configuration that computes the recipe: every part gives the same numbers on a"
    " batch without empty completions, with ratios from 1/8 to 8 and DAPO's generation budget of 20480"
    " tokens. The other cells list the parts for which"
    " the nearest configuration gives other numbers. The page of the recipe shows these parts. Click a"
    " column header to sort."
)


def _trainers() -> str:
    rows = (
        f"| [{title(each)}]({name}.md) | {each.version} | {_history(each)} | {len(each.keys.defaults)}"
        f" | {len(each.traps)} | {sum(len(read(file)[1]) for file in _files(each))} |"
        for name, each in DIALECTS.items()
    )
    return "\n".join(
        ["| trainer | version | since | keys | traps | recorded cases |", "|---|---|---|---|---|---|", *rows]
    )


def _history(dialect: Dialect) -> str:
    """Return the oldest version that is described, with a link to the page of changes."""
    return (
        f"[{dialect.history.releases[0]}]({dialect.name}_changes.md)"
        if has_history(dialect)
        else "only this one"
    )


def _compared(nearest: dict[str, Everywhere]) -> str:
    names = [title(dialect) for dialect in DIALECTS.values()]
    rows = (
        " | ".join([f"| [{title_of(recipe)}](../recipe/{recipe}.md)", *map(_cell, each.values())])
        for recipe, each in nearest.items()
    )
    head = [f"| recipe | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    return ":::{div} sortable compared\n" + "\n".join([*head, *rows]) + "\n:::"


def _cell(conversion: Nearest) -> str:
    lost = differing(conversion)
    return f"differs: {', '.join(lost)}" if lost else keys(conversion)
