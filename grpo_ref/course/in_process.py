"""Grade inside this process, for debuggers: an exception can be examined where it happened.

There is no sandbox, so the verdict is not official.
"""

import bdb
import importlib.util
import pdb
from collections.abc import Callable
from pathlib import Path

import click

from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.problem import Problem
from grpo_ref.course.grading.report import DEFAULT_SEED, Report
from grpo_ref.course.grading.submission import missing


def grade_in_process(
    problem: Problem,
    path: Path,
    *,
    seed: int = DEFAULT_SEED,
    on_error: Callable[[str, BaseException], object] | None = None,
) -> Report:
    """Import a student's file and grade its function.

    Args:
      problem: the exercise.
      path: the student's file.
      seed: seed of the random inputs.
      on_error: called with a test's name and the exception that failed the test.

    Raises:
      Exception: any exception that importing the file raises.
      AttributeError: if the file lacks the function.
    """
    spec = importlib.util.spec_from_file_location("submission", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded as a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, problem.function):
        raise AttributeError(missing(problem.function, list(vars(module))))
    return grade(problem, getattr(module, problem.function), seed=seed, on_error=on_error)


def post_mortem(test: str, error: BaseException) -> None:
    """Print the name of the test and the exception, then open a debugger where the exception happened.

    Raises:
      click.exceptions.Exit: if the student quits, here or in a debugger that the file itself opened.
    """
    leave_if_quit(test, error)
    click.echo(f"{test}: {error!r}", err=True)
    debugger = pdb.Pdb()
    debugger.reset()
    debugger.interaction(None, error.__traceback__)
    if debugger.quitting:
        raise click.exceptions.Exit(1)


def leave_if_quit(test: str, error: BaseException) -> None:
    """End the command if the exception comes from quitting a debugger that a breakpoint in the file opened.

    Raises:
      click.exceptions.Exit: with status 1.
    """
    if isinstance(error, bdb.BdbQuit):
        raise click.exceptions.Exit(1)
