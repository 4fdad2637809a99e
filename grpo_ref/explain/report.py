"""`grpo_ref.explain`: the objective of a launch file as a report, for scripts and notebooks."""

from dataclasses import replace
from os import PathLike

from grpo_ref.explain.command_line import launched
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.explanation import Report, dialect_of, report


def explain(
    *config: str | PathLike[str],
    trainer: str = "",
    version: str = "",
    ignore_typos: bool = False,
    strict: bool = False,
) -> Report:
    """Read a training configuration and report which objective it optimizes. Nothing is run.

    Args:
      config: a file (shell script, YAML, JSON, TOML, Python, notebook or log), or a launch line, or settings
        such as "loss_type=dapo"; settings after a file change it.
      trainer: the trainer, such as "trl". Default: found from the content.
      version: the trainer's version, such as "0.14.0". Default: the version in the file, or the newest
        version that accepts all keys.
      ignore_typos: if true, do not stop at a key that looks like a typo of one that matters.
      strict: if true, refuse a file that the version would refuse, instead of adding a caution.

    Returns:
      Report; print it, or read `sentence`, `recipe`, `warnings` and `data()`.

    Raises:
      ValueError: if the configuration cannot be read, belongs to no known trainer, or is refused.

    >>> from grpo_ref import explain
    >>> found = explain("loss_type=dr_grpo", trainer="trl")
    >>> found.recipe.parts()["aggregate"]
    'fixed_length'
    >>> len(found.warnings)
    2
    """
    found = [launch for _, launch in launched([str(part) for part in config], trainer)]
    if len(found) != 1:
        raise ValueError(f"expected one configuration, got {len(found)}")
    launch = found[0]
    if version:
        dialect, launch = DIALECTS[launch.trainer].at(version), replace(launch, version=version)
    else:
        dialect, launch = dialect_of(launch)
    return report(dialect, launch, strict=not ignore_typos, lenient=not strict)
