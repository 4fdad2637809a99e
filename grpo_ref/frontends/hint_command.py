"""`grpo-ref hint`: a ladder of hints for one exercise."""

import click

from grpo_ref.frontends.cli import Name
from grpo_ref.problems import PROBLEMS


@click.command("hint", epilog="Example:  grpo-ref hint objective/grpo_objective --steps 2")
@click.argument("name", type=Name("exercise", PROBLEMS))
@click.option(
    "--steps", type=click.IntRange(min=1), default=1, show_default=True, help="How many hints to show."
)
def command(name: str, steps: int) -> None:
    """Show the first hints of an exercise; each step gives more away."""
    hints = PROBLEMS[name].hints
    for step, hint in enumerate(hints[:steps], start=1):
        click.echo(f"{step} of {len(hints)}: {hint}")
    if steps < len(hints):
        click.echo(f"\nmore: grpo-ref hint {name} --steps {steps + 1}")
