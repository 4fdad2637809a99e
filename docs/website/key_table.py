"""The table of a trainer's keys: the effect and the default of each."""

from typing import Any

from grpo_ref.explain.description import explain
from grpo_ref.explain.dialect import Dialect
from grpo_ref.recipes import Slot
from grpo_ref.web.explain import key_anchor
from website.key_effects import Change, Effect, effects_of_choices, effects_of_number, has_choices
from website.places import to_kernel
from website.trainer_keys import code

DEFAULT = "This is the default."
"""The description of a key that `explain` has nothing else to report about."""


def key_table(dialect: Dialect, page: str) -> str:
    """Return a Markdown table of every key that changes the objective.

    Args:
      dialect: dialect of the trainer.
      page: name of the page that the table is on.
    """
    rows = (
        f"| {_named(dialect, key)} | {_default(dialect, key, value)} | {_about(dialect, key, page)} |"
        for key, value in dialect.keys.defaults.items()
        if key not in dialect.keys.behaviours
    )
    return "\n".join(["| key | default | effect |", "|---|---|---|", *rows])


def _named(dialect: Dialect, key: str) -> str:
    """Return the full path of a key, as it is pasted into a command, with an anchor."""
    return f'<span id="{key_anchor(key)}">{code(dialect.path(key))}</span>'


def _default(dialect: Dialect, key: str, value: Any) -> str:
    """Return the trainer's own default, and the value that is assumed here if it is another one."""
    own = dialect.keys.table[key].own_default
    return code(repr(value)) if own is None else f"{code(repr(own))}<br>assumed here: {code(repr(value))}"


def _about(dialect: Dialect, key: str, page: str) -> str:
    lines = _choices(dialect, key, page) if has_choices(dialect, key) else _number(dialect, key, page)
    [(_, _, description)] = explain(dialect, {key: dialect.keys.defaults[key]}).keys
    first = [description] if description != DEFAULT else []
    return "<br>".join([*first, *lines]) or "On its own, this key changes no part of the recipe."


def _choices(dialect: Dialect, key: str, page: str) -> list[str]:
    return [_choice(effect, page) for effect in effects_of_choices(dialect, key)]


def _choice(effect: Effect, page: str) -> str:
    beside = ", ".join(code(f"{key}={value!r}") for key, value in effect.beside.items())
    changes = ", ".join(f"{change.part} = {_now(change, page)}" for change in effect.changes)
    return f"• {code(repr(effect.value))}{' with ' * bool(beside)}{beside}: {changes}"


def _now(change: Change, page: str) -> str:
    now = change.now
    return to_kernel(now.kernel, str(now), page=page) if isinstance(now, Slot) else code(_plain(now))


def _plain(value: Any) -> str:
    return "none" if value == () else str(value)


def _number(dialect: Dialect, key: str, page: str) -> list[str]:
    """Return the settings that a number determines, each with the kernels that have it."""
    kernels: dict[Any, dict[str, None]] = {}
    parts: dict[str, list[str]] = {}
    for change in (change for effect in effects_of_number(dialect, key) for change in effect.changes):
        kernel = change.now.kernel if isinstance(change.now, Slot) else None
        kernels.setdefault((change.part, kernel), {}).update(dict.fromkeys(change.settings))
    for (part, kernel), settings in kernels.items():
        names = " and ".join(f"`{name}`" for name in settings)
        link = to_kernel(kernel, kernel.__name__, page=page) if kernel else f"`{part}`"
        parts.setdefault(f"{part}: {names} of " if names else "", []).append(link)
    return [f"• {head}{', '.join(links)}" for head, links in parts.items()]


def keys_beyond(dialect: Dialect) -> str:
    """Return a Markdown table of the keys that no recipe can express, or nothing."""
    rows = [
        f"| {_named(dialect, name)} | {code(repr(key.neutral))} | {key.effect} |"
        for name, key in dialect.keys.inexpressible.items()
    ]
    return (
        "\n".join(["| key | no effect at | effect at other values |", "|---|---|---|", *rows]) if rows else ""
    )


def aliases(dialect: Dialect) -> str:
    """Return a sentence that lists the other names of keys, or nothing."""
    others = {alias: key for alias, key in dialect.keys.names.items() if alias != key}
    names = ", ".join(f"`{alias}` for `{key}`" for alias, key in others.items())
    return f"Other accepted names: {names}." if names else ""
