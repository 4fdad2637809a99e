"""Read the test vectors: inputs, the numbers that a trainer computed from them, and who computed them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
FOLDER = Path(__file__).parent / "vectors"
LEVELS = {
    1: "advantages and averages",
    2: "losses of the family",
    3: "penalties, and corrections for the sampler",
    4: "trainers and their releases",
}
"""Level -> the subject of its vectors."""
PLACES = {"advantages": 1, "averages": 1, "losses": 2, "penalties": 3, "corrections": 3}
"""Folder of vectors -> its level. Level 4 is in `recordings` and `releases`."""


@dataclass(frozen=True)
class Vector:
    """One test case.

    Attributes:
      level: 1 to 4, a key of `LEVELS`.
      name: the algorithm, such as "dapo", or the trainer, such as "trl".
      id: description of the case, unique among those of its name.
      settings: values of the algorithm's settings, such as {"clip_low": 0.2, "clip_high": 0.28}.
      inputs: arrays and whole numbers by name. The arrays have N completions of T tokens; those of a group are
        neighbours.
      expected: "loss", a number, and "gradient" with respect to the first of the inputs; or "value", an array.
      rtol: relative tolerance: the precision of the recorded numbers.
      detached: true if a factor of the loss is held constant, so that its gradient is not its derivative.
      origins: who computed the numbers: trainer, version, platform, call, config, precision and case.
      apart: largest difference between these, relative to the largest number.
    """

    level: int
    name: str
    id: str
    settings: Mapping[str, Any]
    inputs: Mapping[str, Any]
    expected: Mapping[str, Any]
    rtol: float
    detached: bool
    origins: tuple[Mapping[str, Any], ...]
    apart: float = 0.0

    @property
    def tokens(self) -> int:
        """Number of tokens, or of rewards if there is no mask."""
        counted = self.inputs.get("mask", next(iter(self.inputs.values())))
        return int(counted.sum()) if "mask" in self.inputs else int(np.size(counted))


def names(level: int | None = None) -> list[str]:
    """Return the names that have vectors, of one of the levels 1 to 3 or of all."""
    return [name for name, path in _paths().items() if level in (None, PLACES[path.parent.name])]


def vectors(level: int | None = None, name: str | None = None) -> Iterator[Vector]:
    """Yield the vectors of the levels 1 to 3, those with the fewest tokens first for each name.

    Args:
      level: 1, 2 or 3; None for all.
      name: the name of an algorithm, or one of its aliases; None for all.

    Raises:
      ValueError: if the level or the name is unknown.

    >>> from grpo_conformance import vectors
    >>> vector = next(vectors(name="dapo"))
    >>> sorted(vector.inputs), sorted(vector.expected)
    (['advantages', 'log_probs', 'mask', 'old_log_probs'], ['gradient', 'loss'])
    """
    if level is not None and level not in PLACES.values():
        raise ValueError(
            f"level: expected 1, 2 or 3, got {level!r}; level 4 is asked for by the name of a trainer"
        )
    chosen = names(level) if name is None else [full_name(name)]
    for each in chosen:
        if level in (None, document(each)["level"]):
            yield from _vectors_of(each)


def document(name: str) -> dict[str, Any]:
    """Return the file of a name as it is: formula, settings, source and cases.

    Raises:
      ValueError: if the name is unknown; the message lists the names.
    """
    read: dict[str, Any] = _read(_paths()[full_name(name)])
    return read


def full_name(name: str) -> str:
    """Return the name of which this is an alias, or the name itself.

    Raises:
      ValueError: if the name is unknown; the message lists the names.

    >>> full_name("bnpo")
    'dapo'
    """
    if name in _paths():
        return name
    if name in _aliases():
        return _aliases()[name]
    known = "; ".join(f"level {level}: {', '.join(names(level))}" for level in sorted({*PLACES.values()}))
    raise ValueError(f"name: expected one of {known}; or a trainer (level 4); got {name!r}")


def numbers(value: Any) -> Any:
    """Convert nested lists of JSON to an array. Non-finite numbers are text, missing ones are null.

    >>> numbers([[1, "nan"], [None, "-inf"]])
    array([[  1.,  nan],
           [ nan, -inf]])
    """
    if isinstance(value, list):
        return np.array([numbers(each) for each in value], dtype=np.float64)
    return float("nan") if value is None else float(value)


@cache
def _paths() -> dict[str, Path]:
    files = (path for place in PLACES for path in sorted((FOLDER / place).glob("*.json")))
    return {path.stem: path for path in files}


@cache
def _aliases() -> dict[str, str]:
    return {alias: name for name in _paths() for alias in _read(_paths()[name])["aliases"]}


@cache
def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def _vectors_of(name: str) -> tuple[Vector, ...]:
    about = document(name)
    return tuple(
        Vector(
            level=about["level"],
            name=name,
            id=case["id"],
            settings=case["settings"],
            inputs={
                key: value if isinstance(value, int) else numbers(value)
                for key, value in case["inputs"].items()
            },
            expected={key: numbers(value) for key, value in case["expected"].items()},
            rtol=case["rtol"],
            detached=about["detached"],
            origins=tuple(case["origins"]),
            apart=case["apart"],
        )
        for case in about["cases"]
    )
