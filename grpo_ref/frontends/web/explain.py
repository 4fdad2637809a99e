"""`grpo-ref explain` in a page: the same report, on a configuration that was pasted."""

from typing import Any

from grpo_ref.frontends.config_file import known, pasted
from grpo_ref.frontends.explanation import pieces
from grpo_ref.trainers import DIALECTS, explain


def trainers() -> dict[str, str]:
    """The dialects by name, each with the version that it describes."""
    return {name: dialect.version for name, dialect in DIALECTS.items()}


def explained(trainer: str, text: str, skips: bool) -> dict[str, Any]:
    """The report on a configuration, or what is wrong with it.

    Args:
      trainer: name of the dialect.
      text: YAML, JSON or KEY=VALUE pairs.
      skips: whether to go on without unknown keys, as --skip-unknown does.

    Returns:
      "pieces", each with kind, text and name (see `explanation.Piece`), and "skipped", a text for each key;
      or "error", a sentence.
    """
    dialect = DIALECTS[trainer]
    try:
        given = pasted(text)
        skipped = dialect.unknown(given) if skips else []
        explanation = explain(dialect, known(dialect, given) if skips else given)
    except ValueError as error:
        return {"error": str(error)}
    found = [piece._asdict() for piece in pieces(dialect.version, explanation)]
    return {"pieces": found, "skipped": [f"{trainer} has no key {name}" for name in skipped]}
