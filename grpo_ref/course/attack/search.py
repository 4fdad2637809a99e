"""Inputs of the domain that are fit to judge by, and the few of them that tell all wrong answers apart."""

from collections.abc import Mapping, Sequence

from grpo_ref.course.grading.domain.domain import Draw
from grpo_ref.course.grading.rights import Candidate, Rights, domain_of

TIMES = 3
"""Each wrong answer is to fail on so many of the inputs kept."""
PREFER_SMALL = 0.25
"""How much small inputs are preferred: the gain of an input counts by its size to the minus this power."""


def pool(rights: Rights, seed: int, count: int) -> tuple[list[Candidate], dict[str, list[Draw]]]:
    """The draws of the domain that are fit to judge by, small ones first; and the others by reason."""
    candidates, refused = [], dict[str, list[Draw]]()
    for draw in domain_of(rights.problem).draws(seed, count):
        found = rights.candidate(draw)
        if isinstance(found, str):
            refused.setdefault(found, []).append(draw)
        else:
            candidates.append(found)
    return sorted(candidates, key=lambda each: each.size), refused


def cover(kills: Mapping[str, Sequence[int]], sizes: Sequence[int], times: int = TIMES) -> list[int]:
    """Few inputs on which each wrong answer fails so many times, or as often as it can.

    Greedy: the input that helps most, small ones preferred, until nothing helps.

    Args:
      kills: wrong answer -> the inputs on which it fails.
      sizes: of the inputs.
      times: how often each wrong answer is to fail.

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
