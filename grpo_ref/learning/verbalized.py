"""Verbalized sampling: ask a model for several answers with their probabilities, and draw from those.

A model that always gives its favorite answer can often still name the others, and a group whose completions
are all alike teaches nothing. `verbalized_sample` needs no training and no access to log-probabilities, only
text in and text out; for GRPO it draws the G completions of a group.

    task -> verbalized_prompt -> model -> parse_answers -> draw_answer

Zhang et al. 2025, Verbalized sampling (arXiv:2510.01171).
"""

import math
import re
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

FORM = "[response] (probability: 0.00)"
"""How an answer is to be written, as the prompt says it; nobody gives this answer."""
NUMBER = r"(?P<number>[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?)\s*(?P<percent>%?)"
PROBABILITY = re.compile(r"\(\s*prob(?:ability)?\s*[:=]\s*" + NUMBER + r"\s*\)", re.IGNORECASE)
MENTION = re.compile(r"\(\s*prob(?:ability)?\b[^)]*\)?", re.IGNORECASE)
BULLET = re.compile(r"^\s*(?:\d+[.)]|[-*\u2022])(?:\s+|$)")


class Answers(NamedTuple):
    """A distribution over answers.

    Attributes:
      responses: the answers, in the order of the text.
      probs: their probabilities, which sum to 1.
    """

    responses: tuple[str, ...]
    probs: tuple[float, ...]


def verbalized_sample(
    model: Callable[[str], str], task: str, *, uniforms: Sequence[float], n: int = 5
) -> tuple[str, ...]:
    r"""Answers drawn from the distribution that a model states, in place of samples of its own.

    The model is asked once, for n answers with their probabilities; every uniform number draws one of them.

    Args:
      model: text in, text out.
      task: what is asked.
      uniforms: random numbers in [0, 1), one per answer that is wanted; G of them make a group.
      n: how many answers the model is to name, at least 1.

    Returns:
      As many answers as there are uniform numbers.

    Raises:
      ValueError: if n is less than 1, a number is out of range, or the model's text cannot be read.

    >>> def model(text):
    ...     return text + "\n1. tea (probability: 0.75)\n2. coffee (probability: 0.25)"  # repeats the prompt
    >>> verbalized_sample(model, "Name a drink.", uniforms=[0.2, 0.7, 0.9], n=2)
    ('tea', 'tea', 'coffee')
    """
    answers = parse_answers(model(verbalized_prompt(task, n)))
    return tuple(draw_answer(answers, uniform=uniform) for uniform in uniforms)


def verbalized_prompt(task: str, n: int = 5) -> str:
    """The prompt that asks for n answers with their probabilities.

    Args:
      task: what is asked.
      n: how many answers, at least 1.

    Raises:
      ValueError: if n is less than 1.

    >>> print(verbalized_prompt("Name a color.", 2))
    Name a color.
    <BLANKLINE>
    Give 2 different responses, each with the probability with which you would give it. The probabilities sum
    to 1. One response per line, in the form: [response] (probability: 0.00)
    """
    if n < 1:
        raise ValueError(f"n: expected at least 1 response, got {n}")
    return (
        f"{task}\n\nGive {n} different responses, each with the probability with which you would give it."
        f" The probabilities sum to 1.\nOne response per line, in the form: {FORM}"
    )


def parse_answers(text: str, *, tolerance: float = 0.05) -> Answers:
    r"""The answers and probabilities in a model's text.

    An answer ends with its probability in parentheses; it may be numbered, bulleted, in brackets or quotes,
    and run over several lines; a probability may be in per cent. What stands after the last probability is
    ignored, and so is a line before the first answer that ends with a colon, and the prompt where the text
    begins with it. The probabilities are divided by their sum.

    Args:
      text: what the model wrote.
      tolerance: how far the sum of the probabilities may be from 1 without a warning.

    Raises:
      ValueError: if there is no answer, an answer is empty, a probability is unreadable, negative or above 1,
        or all are 0.

    Warns:
      UserWarning: if the sum is further from 1 than the tolerance.

    >>> parse_answers("1. tea (probability: 0.75)\n2. coffee (probability: 0.25)")
    Answers(responses=('tea', 'coffee'), probs=(0.75, 0.25))
    """
    text = text.rpartition(FORM)[2]
    found = list(PROBABILITY.finditer(text))
    strange = [match.group() for match in MENTION.finditer(text) if not PROBABILITY.fullmatch(match.group())]
    if strange:
        raise ValueError(f"expected (probability: number), got {strange[0]!r}")
    if not found:
        raise ValueError("expected answers of the form '[response] (probability: 0.00)', found none")
    edges = [0, *(match.end() for match in found)]
    responses = [_response(text[begin : match.start()]) for begin, match in zip(edges, found, strict=False)]
    probs = [_probability(match) for match in found]
    for number, response in enumerate(responses, start=1):
        if not response:
            raise ValueError(f"answer {number} is empty")
    total = math.fsum(probs)
    if total == 0.0:
        raise ValueError("expected probabilities that sum to 1, got a sum of 0")
    if abs(total - 1.0) > tolerance:
        warnings.warn(f"the probabilities sum to {total:g}, not to 1, and were divided by it", stacklevel=2)
    return Answers(tuple(responses), tuple(prob / total for prob in probs))


def draw_answer(answers: Answers, *, uniform: float) -> str:
    """The first answer whose cumulative probability is larger than a uniform number.

    Args:
      answers: from `parse_answers`.
      uniform: in [0, 1).

    Raises:
      ValueError: if the number is out of range.

    >>> draw_answer(Answers(("tea", "coffee"), (0.75, 0.25)), uniform=0.8)
    'coffee'
    """
    if not 0.0 <= uniform < 1.0:
        raise ValueError(f"uniform: expected 0 <= uniform < 1, got {uniform}")
    below = 0.0
    for response, prob in zip(answers.responses, answers.probs, strict=True):
        below += prob
        if uniform < below:
            return response
    return next(r for r, p in zip(answers.responses[::-1], answers.probs[::-1], strict=True) if p > 0.0)


def _response(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].rstrip().endswith(":"):
        lines = lines[1:]
    joined = BULLET.sub("", "\n".join(line.strip() for line in lines)).strip()
    for left, right in (("[", "]"), ('"', '"'), ("\u201c", "\u201d")):
        if len(joined) > 1 and joined.startswith(left) and joined.endswith(right):
            joined = joined[1:-1].strip()
    return joined.strip(",; ")


def _probability(match: re.Match[str]) -> float:
    number = float(match["number"].replace(",", ".")) / (100.0 if match["percent"] else 1.0)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"expected a probability between 0 and 1, got {match.group()!r}")
    return number
