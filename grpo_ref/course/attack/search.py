"""Find inputs of the domain that are fit to judge by, and a few of them that catch all wrong answers."""

from collections.abc import Mapping, Sequence

from grpo_ref.course.grading.domain.domain import Draw
from grpo_ref.course.grading.input_checks import Candidate, Rights, domain_of

TIMES = 3
"""Number of chosen inputs on which each wrong answer should fail."""
PREFER_SMALL = 0.25
"""Exponent by which small inputs are preferred: the gain of an input is divided by its size to this power."""


def pool(rights: Rights, seed: int, count: int) -> tuple[list[Candidate], dict[str, list[Draw]]]:
    """Return the sampled inputs that are fit to judge by, small ones first, and the others by reason."""
    candidates, refused = [], dict[str, list[Draw]]()
    for draw in domain_of(rights.problem).draws(seed, count):
        found = rights.candidate(draw)
        if isinstance(found, str):
            refused.setdefault(found, []).append(draw)
        else:
            candidates.append(found)
    return sorted(candidates, key=lambda each: each.size), refused


def cover(kills: Mapping[str, Sequence[int]], sizes: Sequence[int], times: int = TIMES) -> list[int]:
    """Choose few inputs on which each wrong answer fails this many times, or as often as it can.

    The choice is greedy: it adds the input that helps most, with a preference for small ones, until no input
    helps.

    Args:
      kills: wrong answer -> the inputs on which it fails.
      sizes: sizes of the inputs.
      times: how often each wrong answer should fail.

    >>> cover({"a": [0, 1], "b": [1], "c": [2]}, [1, 1, 1], times=1)
    [1, 2]
    """
    open_times = {name: min(times, len(found)) for name, found in kills.items()}
    kills_of: dict[int, list[str]] = {}
    for name, found in kills.items():
        for position in found:
            kills_of.setdefault(position, []).append(name)
    chosen: list[int] = []
    while kills_of and any(open_times.values()):
        best = max(kills_of, key=lambda position: _gain(kills_of[position], open_times, sizes[position]))
        chosen.append(best)
        for name in kills_of.pop(best):
            open_times[name] = max(0, open_times[name] - 1)
    return chosen


def _gain(names: Sequence[str], open_times: Mapping[str, int], size: int) -> float:
    helped = sum(open_times[name] > 0 for name in names)
    return float(helped / (1 + size) ** PREFER_SMALL)
