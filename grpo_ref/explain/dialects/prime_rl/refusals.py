"""The checks of prime-rl's configuration classes, and settings that cannot be expressed here."""

from collections.abc import Mapping
from typing import Any

from grpo_ref.explain.dialect import flat, one_of
from grpo_ref.explain.dialects.common.refusals import expect
from grpo_ref.explain.dialects.prime_rl.keys import ELSEWHERE, OF_TEACHER, PENALTY, SOURCE, TAUGHT, WEIGHTS

RANGE: dict[str, Any] = {"type": "advantage_range", "reject_min": 0.0, "reject_max": 0.0}
"""Keys of a gate, with the defaults."""


def check(settings: Mapping[str, Any]) -> None:
    """Raise a ValueError for settings that prime-rl refuses.

    Args:
      settings: every key with its value.

    prime-rl `DefaultLossConfig`, `IPOLossConfig`, `LinearLengthPenaltyConfig`, `OrchestratorConfig`.
    """
    _check_algorithm(settings)
    _check_loss(settings)


def _check_algorithm(settings: Mapping[str, Any]) -> None:
    algorithm = settings["algo.type"]
    if algorithm in ELSEWHERE:
        raise ValueError(f"algo.type = {algorithm!r} cannot be expressed here. {ELSEWHERE[algorithm]}")
    one_of("algo.type", algorithm, dict.fromkeys(("grpo", "max_rl", *TAUGHT)))
    penalty = {name: settings[f"{PENALTY}{name}"] for name in ("type", *WEIGHTS)}
    given = [name for name, value in penalty.items() if value is not None]
    expect(
        algorithm == "grpo" or not given,
        f"{PENALTY}{''.join(given[:1])}: prime-rl refuses it without algo.type='grpo'",
    )
    one_of(f"{PENALTY}type", penalty.pop("type"), {None: None, "linear": None})
    for name, value in penalty.items():
        _expect_positive(f"{PENALTY}{name}", value)
        expect(value != float("inf"), f"{PENALTY}{name}: expected a finite number, got {value}")


def _check_loss(settings: Mapping[str, Any]) -> None:
    kind = settings["loss.type"]
    if kind == "custom":
        raise ValueError(
            "loss.type = 'custom' cannot be expressed here. The loss is the user's own function."
        )
    keys = {
        "default": ("loss.dppo_mask_low", "loss.dppo_mask_high"),
        "ipo": ("loss.ipo_threshold",),
    }
    own: tuple[str, ...] = one_of("loss.type", kind, keys)
    for key in {key for names in keys.values() for key in names} - {*own}:
        expect(settings[key] is None, f"{key}: prime-rl refuses it with loss.type={kind!r}")
    for key in (*own, "loss.adv_tau", "loss.kl_tau"):
        expect(settings[key] is not None, f"{key}: expected a number, got None")
        _expect_positive(key, settings[key])


def check_run(settings: Mapping[str, Any]) -> None:
    """Raise a ValueError for settings that stop a run of prime-rl but do not change the objective.

    Args:
      settings: every key with its value.
    """
    count, size = settings["group_size"], settings["batch_size"]
    both = size is not None and settings["token_batch_size"] is not None
    expect(not both, "batch_size: not with token_batch_size")
    size = 128 if size is None and settings["token_batch_size"] is None else size
    expect(size is None or size % count == 0, f"batch_size: {size} is not divisible by group_size, {count}")
    high = settings["concurrency.max_inflight"]
    for key in ("concurrency.initial_inflight", "concurrency.max_inflight"):
        expect(settings[key] is None or settings[key] >= count, f"{key}: less than group_size, {count}")
    for key in ("concurrency.initial_inflight", "concurrency.min_inflight"):
        value = settings[key]
        expect(value is None or high is None or value <= high, f"{key}: more than concurrency.max_inflight")


def chosen(settings: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[tuple[float, float], ...]]:
    """Return the settings of the source of tasks, and the ranges of its gates.

    Args:
      settings: every key with its value.

    Returns:
      The settings, overridden by those of the sources; (reject_min, reject_max) of each gate.

    Raises:
      ValueError: if the sources differ, or if their settings are refused.
    """
    told = [_of_source(settings, source) for source in settings["train.source"] or [{}]]
    gated = any(ranges and own["algo.type"] in TAUGHT for own, ranges in told)
    expect(not gated, "curriculum.gates: a gate reads advantages, and a teacher gives none to a completion")
    if any(one != told[0] for one in told):
        raise ValueError(
            "train.source: the sources are trained in more than one way; give one of them at a time"
        )
    return told[0]


def _of_source(
    settings: Mapping[str, Any], source: Any
) -> tuple[dict[str, Any], tuple[tuple[float, float], ...]]:
    """Return the settings of one source.

    Its algorithm replaces the common one completely, with all its keys.
    """
    expect(isinstance(source, Mapping), f"train.source: expected tables, got {source!r}")
    unknown = sorted({*source} - {*SOURCE})
    expect(not unknown, f"train.source: no key {', '.join(unknown)} in a source")
    own = {**settings, "group_size": source.get("group_size", settings["group_size"])}
    if source.get("algo"):
        own |= {key: None for key in own if key.startswith("algo.")} | {"algo.type": "grpo"}
        given = flat({"algo": source["algo"]})
        elsewhere = ELSEWHERE.get(given.get("algo.type", "grpo"))
        if elsewhere:
            raise ValueError(
                f"train.source: algo.type = {given['algo.type']!r} cannot be expressed here. {elsewhere}"
            )
        if given.get("algo.type") in TAUGHT:
            given = {key: value for key, value in given.items() if not key.startswith(OF_TEACHER)}
        expect({*given} <= {*own}, f"train.source: no key {', '.join(sorted({*given} - {*own}))}")
        own |= given
    gates = ((source.get("curriculum") or {}).get("gates") or {}).values()
    return own, tuple(map(_range, gates))


def _range(gate: Mapping[str, Any]) -> tuple[float, float]:
    """Return the range of a gate."""
    expect({*gate} <= {*RANGE}, f"train.source: no key {', '.join(sorted({*gate} - {*RANGE}))} in a gate")
    told = RANGE | dict(gate)
    one_of("type of a gate", told["type"], {"advantage_range": None})
    low, high = told["reject_min"], told["reject_max"]
    expect(low <= high, f"reject_min: expected at most reject_max, got {low} and {high}")
    return float(low), float(high)


def _expect_positive(key: str, value: float | None) -> None:
    expect(value is None or value >= 0.0, f"{key}: expected a number >= 0, got {value}")
