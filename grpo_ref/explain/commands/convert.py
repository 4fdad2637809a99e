"""Implement `grpo-ref convert`: find the nearest configuration of another trainer."""

import math
import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.render.choices import Name

if TYPE_CHECKING:
    from grpo_ref.explain import Dialect
    from grpo_ref.explain.conversion import Conversion
    from grpo_ref.recipes import Recipe

DIALECT = Name("dialect", lambda: DIALECTS)


@click.command(
    "convert",
    epilog="Example:  grpo-ref convert train.sh --to verl   grpo-ref convert trl loss_type=dr_grpo --to verl",
    context_settings={"ignore_unknown_options": True},
)
@click.argument("config", nargs=-1, type=click.UNPROCESSED)
@click.option("--to", "target", type=DIALECT, required=True, help="The trainer to convert to.")
@click.option("--from", "source", type=DIALECT, help="The trainer of CONFIG, if it cannot be detected.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["keys", "yaml", "line"]),
    default="keys",
    help="Keys with their full paths, nested YAML, or a launch line. The default is keys.",
)
@click.option(
    "--max-length",
    type=click.IntRange(min=1),
    help="The generation budget in tokens. An overlong buffer that is a share of the budget is converted to tokens"
    " by it. The default is the budget in CONFIG, or the trainer's own.",
)
@click.option(
    "--strict", is_flag=True, help="Exit with status 1 if something cannot be expressed, for a check in CI."
)
@click.option("--skip-unknown", is_flag=True, help="Ignore keys that look like typos.")
def command(
    config: tuple[str, ...],
    target: str,
    source: str | None,
    form: str,
    max_length: int | None,
    strict: bool,
    skip_unknown: bool,
) -> None:
    """Print the nearest configuration of another trainer, and what cannot be expressed in it.

    CONFIG is what was launched, as for `grpo-ref explain`: a file, a launch line, or the name of a trainer
    with flags and overrides. Losses are reported on standard error, each with its effect on the gradient of a
    typical batch.
    """
    from grpo_ref.explain.conversion import convert

    try:
        understood = _understood(config, source or "", strict=not skip_unknown)
        conversion = convert(
            understood.dialect, DIALECTS[target], understood.found.config, max_length=max_length
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    click.echo(WRITTEN[form](DIALECTS[target], conversion.config))
    for line in _losses(
        understood.dialect, DIALECTS[target], understood.dialect.recipe(**understood.found.config), conversion
    ):
        click.echo(line, err=True)
    if conversion.refusal:
        click.echo(
            f"{target} would stop with these keys and its other defaults: {conversion.refusal}", err=True
        )
    for key, value in conversion.dropped.items():
        click.echo(f"This key has no counterpart in {target}: {key} = {value}", err=True)
    for each in understood.found.unsure:
        click.echo(
            f"Unknown, so it is omitted: {each.key} = {each.value}, because {each.value.why}", err=True
        )
    for key in understood.found.strangers:
        click.echo(f"{understood.dialect.version} has no key {key}, so it is not converted", err=True)
    is_whole = not (conversion.lost or conversion.dropped or conversion.refusal or understood.found.unsure)
    raise click.exceptions.Exit(1 if strict and not is_whole else 0)


def _understood(config: tuple[str, ...], source: str, *, strict: bool) -> Any:
    """Return the report on the one configuration that is named."""
    from grpo_ref.explain.command_line import launched
    from grpo_ref.explain.explanation import dialect_of, report

    launches = launched(config, source)
    if len(launches) > 1:
        raise ValueError(f"expected one configuration, got {len(launches)}")
    dialect, launch = dialect_of(launches[0][1])
    return report(dialect, launch, strict=strict, lenient=False)


def _losses(source: "Dialect", target: "Dialect", requested: "Recipe", conversion: "Conversion") -> list[str]:
    """Return two lines for each part that is lost: the part with the effect of the loss, and the loss in words."""
    from grpo_ref.explain.conversion import in_places, share_needs_budget
    from grpo_ref.explain.gradient_change import TOKENS
    from grpo_ref.explain.phrases import SPOKEN_WITH, sentences
    from grpo_ref.explain.recipe_differences import contrast

    actual = target.lenient().recipe(**conversion.config)
    phrases = {**source.objective.phrases, **target.objective.phrases}
    before, after = (
        sentences(each, group_size=None, budget=None, entropy_coef=0.0, unknown={}, words=phrases)
        for each in (requested, actual)
    )
    budget = conversion.budget or TOKENS
    differences = contrast(in_places(requested, budget, TOKENS), in_places(actual, budget, TOKENS))
    changes = {each.part: each.change for each in differences}
    lines = []
    for part, (ours, theirs) in conversion.lost.items():
        lines.append(
            f"This cannot be expressed in {target.name}: {part} = {ours}; it has {theirs} instead."
            f"{_effect(changes.get(part, math.nan))}"
        )
        said = SPOKEN_WITH.get(part, part)
        if before[said] != after[said]:
            lines.append(
                f"  In words: {before[said] or 'nothing'}; in {target.name}: {after[said] or 'nothing'}."
            )
    if "reward" in conversion.lost and conversion.budget is None and share_needs_budget(requested):
        lines.append(
            "The length penalty covers a share of the generation budget, and no key states this budget. Give it with"
            " --max-length, so that the share can be converted to tokens."
        )
    return lines


def _effect(change: float) -> str:
    """Return a sentence on a relative change of the gradient; empty if the change is not known."""
    if math.isnan(change):
        return ""
    if change < 1e-12:
        return " The gradient of a typical batch stays the same."
    percent = (
        "less than 0.1"
        if change < 0.001
        else f"{100 * change:.2g}"
        if change < 0.1
        else f"{100 * change:.0f}"
    )
    return f" The gradient of a typical batch changes by {percent} %."


def _keys(dialect: "Dialect", config: Mapping[str, Any]) -> str:
    lines = [f"{dialect.path(key).lstrip('+')}: {_shown(value)}" for key, value in config.items()]
    return "\n".join(lines) or f"# the defaults of {dialect.version}"


def _yaml(dialect: "Dialect", config: Mapping[str, Any]) -> str:
    """Write the configuration as nested YAML, as in the trainer's own files."""
    from grpo_ref.explain.yaml_values import as_nested_yaml

    nested: dict[str, Any] = {}
    for key, value in config.items():
        *groups, name = dialect.path(key).lstrip("+").split(".")
        inner = nested
        for group in groups:
            inner = inner.setdefault(group, {})
        inner[name] = value
    return as_nested_yaml(nested) if nested else f"# the defaults of {dialect.version}"


def _line(dialect: "Dialect", config: Mapping[str, Any]) -> str:
    """Write the configuration as a command, with one key in each line."""
    start, style = dialect.program.command, dialect.program.style
    arguments = _flags(dialect, config) if style == "flags" else _overrides(dialect, config)
    return " \\\n    ".join([start, *arguments])


def _flags(dialect: "Dialect", config: Mapping[str, Any]) -> list[str]:
    """Write the configuration as flags for argparse.

    A list becomes several words. None is the default and is omitted.
    """
    given = [(dialect.path(key), value) for key, value in config.items() if value is not None]
    return [f"--{path} {_arguments(value)}" for path, value in given]


def _arguments(value: Any) -> str:
    values = value if isinstance(value, list) else [value]
    return " ".join(shlex.quote(str(each)) for each in values)


def _overrides(dialect: "Dialect", config: Mapping[str, Any]) -> list[str]:
    """Write the configuration as overrides for Hydra."""
    return [shlex.quote(f"{dialect.path(key)}={_shown(value)}") for key, value in config.items()]


def _shown(value: Any) -> str:
    from grpo_ref.explain.yaml_values import as_yaml

    return as_yaml(value)


WRITTEN: "Mapping[str, Callable[[Dialect, Mapping[str, Any]], str]]" = {
    "keys": _keys,
    "yaml": _yaml,
    "line": _line,
}
