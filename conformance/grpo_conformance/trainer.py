"""Find the recorded cases of a trainer's configuration: level 4."""

import json
from functools import cache
from typing import Any

from grpo_conformance import RECORDINGS
from grpo_conformance.choices import Configuration, not_recorded
from grpo_conformance.release import PROJECTS, fixed
from grpo_conformance.release import vectors_of as releases_vectors
from grpo_conformance.vector import Vector, numbers

TRAINERS = tuple(sorted(path.stem for path in RECORDINGS.glob("*.json") if path.stem != "inputs"))
"""Trainers with recorded cases."""


def is_trainer(name: str) -> bool:
    """Return true if a name is that of a trainer or, with `==`, of a release."""
    return name.partition("==")[0] in TRAINERS


BESIDE = ("num_generations", "rollout.n", "group_size")
"""Keys of a configuration that only say how the arrays are grouped."""


def vectors_of(name: str, keys: dict[str, Any]) -> list[Vector]:
    """Return the recorded losses of a trainer's configuration.

    Args:
      name: the trainer, or a release such as "trl==1.9.0".
      keys: its configuration keys.

    Raises:
      ValueError: if nothing was recorded; the message says what there is.
    """
    trainer, _, release = name.partition("==")
    if release:
        if trainer not in PROJECTS:
            expected = ", ".join(f"{project}==RELEASE" for project in PROJECTS)
            raise ValueError(
                f"{name}: releases were recorded as {expected}; of {trainer} one commit, as {trainer!r}"
            )
        return releases_vectors(trainer, release, keys)
    losses = [case for case in _cases(trainer) if case["call"] == "loss" and "loss" in case]
    chosen = [case for case in losses if _full(trainer, case["config"]) == _full(trainer, keys)]
    if not chosen:
        recorded = [
            Configuration(_without_sizes(case["config"]), _full(trainer, case["config"])) for case in losses
        ]
        raise not_recorded(name, _without_sizes(keys), recorded)
    # A loss that takes one advantage per completion cannot take one per token, which a few cases have.
    made = [_vector(trainer, case) for case in chosen]
    return [vector for vector in made if vector.inputs["advantages"].ndim == 1]


def defaults_of(name: str) -> dict[str, Any]:
    """Return the keys of a trainer or a release, with the values that they have unless they are given.

    >>> defaults_of("trl==1.9.0")["epsilon"]
    0.2
    """
    trainer, _, release = name.partition("==")
    return dict(fixed(trainer) if release else _defaults()[trainer])


def _full(trainer: str, config: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration with the trainer's defaults for all keys that are recorded."""
    return {**_defaults()[trainer], **_without_sizes(config)}


@cache
def _defaults() -> dict[str, dict[str, Any]]:
    path = RECORDINGS.parent / "trainer_defaults.json"
    table: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return {trainer: _without_sizes(keys) for trainer, keys in table.items()}


def _without_sizes(config: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key not in BESIDE}


@cache
def _cases(trainer: str) -> list[dict[str, Any]]:
    """Return the recorded cases of a trainer, each with the arrays that it names."""
    cases = []
    for folder in (RECORDINGS, RECORDINGS / "by_hand", RECORDINGS / "algorithms"):
        path = folder / f"{trainer}.json"
        if not path.is_file():
            continue
        document = json.loads(path.read_text(encoding="utf-8"))
        arrays = document["inputs"]
        if isinstance(arrays, str):
            arrays = json.loads((path.parent / arrays).read_text(encoding="utf-8"))
        cases += [{**case, "arrays": {**arrays, **case.get("inputs", {})}} for case in document["cases"]]
    return cases


def _vector(trainer: str, case: dict[str, Any]) -> Vector:
    """Return a recorded loss as a vector."""
    inputs = {name: numbers(case["arrays"][source]) for name, source in case["given"].items()}
    inputs.setdefault("old_log_probs", inputs["log_probs"].copy())
    inputs = {"log_probs": inputs.pop("log_probs"), **inputs, "group_size": case["arrays"]["group_size"]}
    return Vector(
        level=4,
        name=trainer,
        id=case["id"],
        settings=case["config"],
        inputs=inputs,
        expected={"loss": numbers(case["loss"]), "gradient": numbers(case["grad_logp"])},
        rtol=max(case.get("rtol", 1e-6), 1e-5 if case.get("dtype") == "float32" else 1e-6),
        detached=True,
        origins=(
            {"trainer": trainer, "version": case.get("commit", "see RECORDINGS.md"), "case": case["id"]},
        ),
    )
