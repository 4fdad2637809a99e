"""Verbalized sampling: ask a model for several answers with their probabilities, and sample from these.

A model that always gives its favorite answer can often still name the others. This helps GRPO, because a
group of equal completions has no gradient. `verbalized_sample` needs no training and no log-probabilities,
only a function from text to text. It can sample the G completions of a group.

    task -> verbalized_prompt -> model -> parse_answers -> draw_answer

Zhang et al. 2025, Verbalized sampling (arXiv:2510.01171).
"""

import math
import re
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

FORM = "[response] (probability: 0.00)"
"""Form of an answer, as given in the prompt. A model may repeat the prompt, so this text is not an answer."""
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
    r"""Return answers sampled from a distribution that the model states.

    The model is asked once, for n answers with their probabilities. Each uniform number samples one of them.

    Args:
      model: function from text to text.
      task: the question.
      uniforms: random numbers in [0, 1), one per requested answer; use G of them for a group.
      n: number of different answers that the model is asked for, at least 1.

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
    """Return the prompt that asks for n answers with their probabilities.

    Args:
      task: the question.
      n: number of answers, at least 1.

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
    r"""Read the answers and their probabilities from a model's text.

    An answer ends with its probability in parentheses. It may be numbered, bulleted, in brackets or quotes,
    and span several lines. A probability may be in percent. Text after the last probability is ignored. So
    are a first line that ends with a colon, and the prompt if the text begins with it. The probabilities are
    divided by their sum.

    Args:
      text: the model's output.
      tolerance: largest difference between the sum of the probabilities and 1 without a warning.

    Raises:
      ValueError: if there is no answer, an answer is empty, a probability is unreadable, negative or above 1,
        or all probabilities are 0.

    Warns:
      UserWarning: if the sum is further from 1 than the tolerance.

    >>> parse_answers("1. tea (probability: 0.75)\n2. coffee (probability: 0.25)")
    Answers(responses=('tea', 'coffee'), probs=(0.75, 0.25))
    """
    # If the model repeated the prompt, the answers begin after it. Each answer is the text between two
    # probabilities. A probability that cannot be read is an error: ignoring it would merge two answers.
    text = text.rpartition(FORM)[2]
    matches = list(PROBABILITY.finditer(text))
    strange = [match.group() for match in MENTION.finditer(text) if not PROBABILITY.fullmatch(match.group())]
    if strange:
        raise ValueError(f"expected (probability: number), got {strange[0]!r}")
    if not matches:
        raise ValueError("expected answers of the form '[response] (probability: 0.00)', found none")
    edges = [0, *(match.end() for match in matches)]
    responses = [_response(text[begin : match.start()]) for begin, match in zip(edges, matches, strict=False)]
    probs = [_probability(match) for match in matches]
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
    """Return the first answer whose cumulative probability is larger than a uniform number.

    Args:
      answers: a distribution, as `parse_answers` returns it.
      uniform: a number in [0, 1).

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
    # The probabilities may sum to slightly less than 1. Then the last answer that is possible is meant.
    return next(r for r, p in zip(answers.responses[::-1], answers.probs[::-1], strict=True) if p > 0.0)


def _response(text: str) -> str:
    """Return an answer without its introduction, number or bullet, brackets, quotes and final commas."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].rstrip().endswith(":"):
        lines = lines[1:]
    joined = BULLET.sub("", "\n".join(line.strip() for line in lines)).strip()
    for left, right in (("[", "]"), ('"', '"'), ("\u201c", "\u201d")):
        if len(joined) > 1 and joined.startswith(left) and joined.endswith(right):
            joined = joined[1:-1].strip()
    return joined.strip(",; ")


def _probability(match: re.Match[str]) -> float:
    """Return a matched probability as a number; a comma may be the decimal sign."""
    number = float(match["number"].replace(",", ".")) / (100.0 if match["percent"] else 1.0)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"expected a probability between 0 and 1, got {match.group()!r}")
    return number
