"""The command `grpo-ref`: a table of subcommands, each imported only when it is asked for."""

import errno
import importlib
import os
from typing import Any, NamedTuple

import click


class Entry(NamedTuple):
    """Module of a subcommand, and its line in `--help`, which is shown without importing the module."""

    module: str
    summary: str


COMMANDS = {
    "train": Entry("grpo_ref.commands.train", "Train on a task and show what was learned."),
    "plot": Entry("grpo_ref.commands.plot", "Draw the training dynamics of one run or several."),
    "experiment": Entry(
        "grpo_ref.lab.commands.experiment", "Test the claims of the literature over many seeds."
    ),
    "notebooks": Entry("grpo_ref.commands.notebooks", "Copy the notebooks and open Jupyter."),
    "init": Entry("grpo_ref.course.commands.init", "Write the exercises of the course into a folder."),
    "list": Entry("grpo_ref.course.commands.list", "List the exercises and what you have reached."),
    "grade": Entry("grpo_ref.course.commands.grade", "Grade exercises and show what is wrong with them."),
    "grade-class": Entry(
        "grpo_ref.course.commands.grade_class", "Grade what a whole class handed in, in a sandbox."
    ),
    "gradescope": Entry(
        "grpo_ref.course.commands.gradescope", "Build an autograder to upload to Gradescope."
    ),
    "web": Entry("grpo_ref.web.command", "Open the whole course in a browser."),
    "watch": Entry("grpo_ref.course.commands.watch", "Grade an exercise whenever it is saved."),
    "hint": Entry("grpo_ref.course.commands.hint", "Show hints for an exercise, a step at a time."),
    "reset": Entry("grpo_ref.course.commands.reset", "Start an exercise again; your work is kept beside it."),
    "solution": Entry("grpo_ref.course.commands.solution", "Show the model answer of an exercise."),
    "dev": Entry("grpo_ref.course.commands.dev", "For authors of exercises: prove and build them."),
    "explain": Entry(
        "grpo_ref.explain.commands.explain", "Say what a trainer's configuration really optimizes."
    ),
    "audit": Entry(
        "grpo_ref.explain.commands.audit", "Say which launch files were touched by an entry of the errata."
    ),
    "convert": Entry(
        "grpo_ref.explain.commands.convert", "Give the nearest configuration in another trainer's keys."
    ),
    "diagnose": Entry("grpo_ref.diagnose.command", "Read a training log and report what happened."),
    "parity": Entry("grpo_ref.parity.command", "Compare with numbers recorded from trainers."),
    "mcp": Entry("grpo_ref.agents.command", "Serve explain, convert, audit and diagnose to an agent (MCP)."),
    "check": Entry("grpo_ref.commands.check", "Compare your own loss function with a recipe."),
    "recipes": Entry("grpo_ref.commands.recipes", "List the algorithms by their differences."),
}


class Commands(click.Group):
    """The group of subcommands; each is imported when it is called, so `--help` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one subcommand."""
        if cmd_name not in COMMANDS:
            from grpo_ref.render.choices import suggestion  # only for a mistake: `--help` stays quick

            ctx.fail(f"no command is called {cmd_name!r}. {suggestion(cmd_name, COMMANDS)}")
        command: click.Command = importlib.import_module(COMMANDS[cmd_name].module).command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a subcommand; where a file or a package cannot be used, say which and why in one line."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.ClickException):
            raise
        except _broken_package() as error:
            raise click.ClickException(str(error)) from error
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            named = error.filename is not None
            raise click.ClickException(
                f"{error.filename}: {error.strerror}" if named else str(error)
            ) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table of subcommands, from the summaries here."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])


def _broken_package() -> type[Exception]:
    """Import the error of a package when there is an error, and not before: `--help` stays quick."""
    from grpo_ref.course.source import BrokenPackage

    return BrokenPackage


@click.command(cls=Commands, epilog="Example:  grpo-ref train names --kl-coef 0.2")
@click.version_option(package_name="grpo-ref")
@click.pass_context
def main(context: click.Context) -> None:
    """The GRPO family in readable NumPy: train toy tasks, solve the exercises, compare the algorithms."""
    if os.environ.get("NO_COLOR"):
        context.color = False
