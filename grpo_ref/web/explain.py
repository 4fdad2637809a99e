"""`grpo-ref explain` in a page: the report on a configuration that the reader pasted."""

from typing import Any

from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.explanation import dialect_of, pieces, report
from grpo_ref.explain.launch import Launch, launches


def trainers() -> dict[str, str]:
    """Return the trainers by name, each with the version that is described."""
    return {name: dialect.version for name, dialect in DIALECTS.items()}


def explained(trainer: str, text: str, skips: bool) -> dict[str, Any]:
    """Return the report on a configuration, or the error in it.

    Args:
      trainer: name of the trainer.
      text: a configuration or a script; without any keys, the report is on the trainer's defaults.
      skips: whether to ignore keys that look like typos of important keys, as --skip-unknown does.

    Returns:
      "pieces", each with kind, text and name (see `explanation.Piece`), and "warnings", their number; or
        "error", a sentence.
    """
    try:
        launch = launches(text, trainer=trainer)[0] if text.strip() else Launch(trainer, "", {}, is_sure=True)
        dialect, launch = dialect_of(launch)
        found = list(pieces(report(dialect, launch, strict=not skips)))
    except ValueError as error:
        return {"error": str(error)}
    warnings = next(piece.text for piece in found if piece.kind == "heading" and "warning" in piece.text)
    return {"pieces": [piece._asdict() for piece in found], "warnings": warnings}
