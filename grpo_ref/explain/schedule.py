"""The schedule of a launch: updates per batch of completions, staleness, sampling and rewards.

The keys are in the table `[schedule]` of each trainer's `keys.toml`. Nothing is said of a number that the launch does not
give and that has no default there.
"""

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, NamedTuple

from grpo_ref.explain.dialect import COMPLETIONS, PASSES, Dialect
from grpo_ref.explain.launch.values import Unknown


class Line(NamedTuple):
    """One fact of the schedule.

    Attributes:
      name: "updates", "staleness", "sampling" or "rewards".
      text: the fact, in a sentence.
      evidence: the keys that it rests on, with their values.
      value: the number of updates per batch; None for the other facts.
    """

    name: str
    text: str
    evidence: tuple[str, ...]
    value: float | None = None


class _Reader:
    """Look up the keys of a schedule in a launch, and note which were used."""

    def __init__(self, dialect: Dialect, keys: Mapping[str, Any], are_all_there: bool) -> None:
        self.dialect = dialect
        self.table = dialect.keys.schedule
        self.keys = keys
        self.are_all_there = are_all_there
        self.used: list[str] = []
        self.defaulted: set[str] = set()

    def number(self, name: str) -> Any:
        """Return the value of a setting of the schedule; its default if it is not given; None if it is unknown."""
        key, *default = self.table.get(name, ("",))
        if not key:
            return None
        for given, value in self.keys.items():
            if given == key or given.endswith(f".{key}") or self.dialect.key(given) == key:
                if isinstance(value, Unknown) or value is None:
                    return None
                self.used.append(f"{given} = {value}")
                return value
        if default and self.are_all_there:
            self.defaulted.add(name)
            self.used.append(f"{key} = {default[0]}, the default")
            return default[0]
        return None


def setting(dialect: Dialect, keys: Mapping[str, Any], name: str, *, are_all_there: bool = True) -> Any:
    """Return the value of a setting of the schedule, such as "prompts"; its default if it is not given; None if unknown.

    Args:
      dialect: dialect of the trainer.
      keys: all keys of the launch.
      name: name of the setting in `[schedule]` of the trainer's `keys.toml`.
      are_all_there: false if a file of keys is missing, so that no default is certain.
    """
    return _Reader(dialect, keys, are_all_there).number(name)


def schedule(
    dialect: Dialect, config: Mapping[str, Any], keys: Mapping[str, Any], missing: bool
) -> list[Line]:
    """Return the facts of a launch's schedule.

    Args:
      dialect: dialect of the trainer.
      config: the keys that matter to the objective, with known values.
      keys: all keys of the launch.
      missing: true if a file of keys is missing, so that no default is certain.
    """
    return [
        *_updates(_Reader(dialect, keys, not missing), dialect, config),
        *_staleness(_Reader(dialect, keys, not missing)),
        *_sampling(_Reader(dialect, keys, are_all_there=False), dialect),
        *_rewards(_Reader(dialect, keys, are_all_there=False)),
    ]


def _updates(read: _Reader, dialect: Dialect, config: Mapping[str, Any]) -> Iterator[Line]:
    """Yield the number of optimizer steps on each batch of completions, and whether a clip can act."""
    given = {dialect.key(key) for key in config}
    counts = {dialect.keys.concepts[name] for name in (COMPLETIONS, PASSES) if name in dialect.keys.concepts}
    if not read.are_all_there and not counts <= given:
        return
    group = dialect.concept(COMPLETIONS, config)
    prompts, completions = read.number("prompts"), read.number("completions")
    if completions is None and all(isinstance(each, int) for each in (prompts, group)):
        completions = prompts * group
    steps = read.number("updates")
    if "updates" in read.defaulted and any("mini_batch" in key and "micro" not in key for key in read.keys):
        return  # another release or a fork has the number of updates in a key of its own
    if steps is None:
        steps = _ratio(completions, read.number("completions_per_update"))
    if steps is None:
        steps = _ratio(prompts, read.number("prompts_per_update"))
    passes = dialect.concept(PASSES, config, 1)
    if (
        not isinstance(steps, (int, float))
        or not isinstance(passes, (int, float))
        or steps <= 0
        or completions == 0
    ):
        return
    total = prod((steps, passes))
    if total <= 0 or total != round(total):
        return
    batch = f"{_number(completions)} completions" if isinstance(completions, (int, float)) else "completions"
    if isinstance(prompts, int) and isinstance(group, int):
        batch += f" ({prompts} prompts of {group})"
    if total <= 1:
        text = (
            f"1 update per batch of {batch}. If the old log-probabilities are those of the policy that is updated, every"
            " ratio is 1 and a clip cannot act."
        )
    else:
        text = f"{_number(total)} updates per batch of {batch}. From the second one on, the ratio leaves 1 and a clip can act."
    yield Line("updates", text, tuple(read.used), total)


def _ratio(whole: Any, part: Any) -> float | None:
    if isinstance(whole, (int, float)) and isinstance(part, (int, float)) and part > 0:
        return max(1.0, whole / part)
    return None


def _number(value: float) -> str:
    return f"{value:g}"


def _staleness(read: _Reader) -> Iterator[Line]:
    """Yield a sentence if completions may come from an older policy."""
    is_on, steps = read.number("asynchronous"), read.number("staleness")
    if not is_on and ("asynchronous" in read.table or not steps):
        return
    age = (
        f" up to {steps} step{'s' * (steps != 1)} older"
        if isinstance(steps, (int, float)) and not isinstance(steps, bool)
        else " older"
    )
    yield Line(
        "staleness",
        f"Completions come from a policy that may be{age} than the one that is trained.",
        tuple(read.used),
    )


def _sampling(read: _Reader, dialect: Dialect) -> Iterator[Line]:
    """Yield a sentence if completions are not sampled from the distribution that is trained."""
    temperature, top_p, top_k, min_p = map(read.number, ("temperature", "top_p", "top_k", "min_p"))
    cuts = [
        *([f"top_p {top_p}"] if isinstance(top_p, (int, float)) and 0.0 < top_p < 1.0 else []),
        *([f"top_k {top_k}"] if isinstance(top_k, int) and top_k > 0 else []),
        *([f"min_p {min_p}"] if isinstance(min_p, (int, float)) and min_p > 0.0 else []),
    ]
    if cuts:
        yield Line(
            "sampling",
            f"Completions are sampled with {' and '.join(cuts)}, which is not the distribution that is trained.",
            tuple(read.used),
        )
    if isinstance(temperature, (int, float)) and temperature not in (0, 1):
        key = dialect.keys.schedule["temperature"][0]
        effect = dialect.keys.effects.get(key) or dialect.keys.effects.get(key.rpartition(".")[2], "")
        yield Line(
            "sampling",
            f"Completions are sampled at temperature {temperature:g}. {effect}".strip(),
            tuple(read.used),
        )


def _rewards(read: _Reader) -> Iterator[Line]:
    """Yield the names and weights of the rewards, or the file that computes them."""
    names, weights, file = map(read.number, ("rewards", "weights", "reward_file"))
    if isinstance(names, (list, tuple)) and names:
        listed = [str(name) for name in names]
        if isinstance(weights, (list, tuple)) and len(weights) == len(listed):
            listed = [f"{weight:g} {name}" for name, weight in zip(listed, weights, strict=True)]
        yield Line("rewards", f"The reward is the sum of {', '.join(listed)}.", tuple(read.used))
    elif isinstance(names, str) and names:
        yield Line("rewards", f"The reward is {names}.", tuple(read.used))
    if isinstance(file, str) and file:
        yield Line("rewards", f"The reward is computed in {file}, which is not read.", tuple(read.used))
