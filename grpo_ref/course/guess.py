"""Predict, then run: compare a reader's guess with the result of a notebook's cell, and explain it."""

SIGNIFICANT = 4
"""Significant digits of a printed number."""
NEAR = 0.05
"""Largest relative error of a guess that counts as right."""


def how_far(
    guess: float | str | None, answer: float | str, why: str, *, unit: str = "", within: float = 0.0
) -> str:
    """Return the message for a reader's guess: how far it is from the answer, and the reason.

    Args:
      guess: a number or a word; None if the reader has not guessed yet, and then nothing else is revealed.
      answer: the computed result.
      why: the reason, in a sentence or two.
      unit: unit of the number.
      within: largest absolute error that counts as right too; for an answer that is 0 or noisy.

    >>> print(how_far(1.0, 0.125, "One completion of eight is right."))
    Not quite. Your guess is 1, it is 0.125: you are 0.875 too high.
    Why: One completion of eight is right.
    >>> print(how_far("left", "left", "That is where the mass is."))
    Yes. It is left.
    Why: That is where the mass is.
    """
    if guess is None:
        return "First write a guess above."
    said = _formatted(answer, unit)
    if _is_right(guess, answer, within):
        return f"Yes. It is {said}.\nWhy: {why}"
    off = ""
    if not isinstance(guess, str) and not isinstance(answer, str):
        high = "high" if guess > answer else "low"
        off = f": you are {_formatted(abs(float(guess) - float(answer)), unit)} too {high}"
    return f"Not quite. Your guess is {_formatted(guess, unit)}, it is {said}{off}.\nWhy: {why}"


def _is_right(guess: float | str, answer: float | str, within: float) -> bool:
    if isinstance(guess, str) or isinstance(answer, str):
        return str(guess).strip().lower() == str(answer).strip().lower()
    return bool(abs(float(guess) - float(answer)) <= max(NEAR * abs(float(answer)), within))


def _formatted(value: float | str, unit: str) -> str:
    """Format a number with few digits and its unit, or a word."""
    if isinstance(value, str):
        return value
    return f"{float(value) + 0.0:.{SIGNIFICANT}g} {unit}".rstrip()
