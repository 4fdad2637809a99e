"""Cases of the live comparison: a configuration in the trainer's keys, and the batches that it runs on."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats


class Absent(Exception):
    """A release lacks a key of a case, as `explain` says. The message names the keys."""


class Case(NamedTuple):
    """One configuration.

    Attributes:
      name: name of the case.
      keys: keys of the trainer's configuration with their values. A release gets those that it has.
      own: the keys that the case is about. A release that lacks one of them cannot run the case.
      scripted: further orders to the runner, such as to pretend that vLLM samples.
      on: variant of the batches, such as "plain" or "holes".
      call, function: for cases of a single function, what is called and under which name.
    """

    name: str
    keys: Mapping[str, Any]
    own: tuple[str, ...]
    scripted: Mapping[str, Any]
    on: str
    call: str = ""
    function: str = ""


def case_of(entry: Mapping[str, Any]) -> Case:
    """Return the case of an entry as `grpo_conformance.releases` describes it."""
    return Case(
        entry["case"],
        entry["keys"],
        tuple(entry["own"]),
        entry.get("scripted", {}),
        entry["on"],
        entry.get("call", ""),
        entry.get("name", ""),
    )


class Batch(NamedTuple):
    """One batch of B completions in groups of G, up to T tokens long.

    Attributes:
      number: place of the batch in the run, from 0.
      group_size: G.
      rewards: (B,), or (B, K) of K reward functions; NaN where a function did not answer.
      ended: (B,) false for a truncated completion.
      lengths: (B,) tokens of each completion.
      advantages: (B,) as they are given to a loss, if a case calls one without computing them.
      mask, log_probs, old_log_probs, ref_log_probs, rollout_log_probs: (B, T), log-probabilities in nats.
    """

    number: int
    group_size: int
    rewards: Floats
    ended: Floats
    lengths: Floats
    mask: Floats
    log_probs: Floats
    old_log_probs: Floats
    ref_log_probs: Floats
    rollout_log_probs: Floats
    advantages: Floats | None = None

    def grouped(self, array: Floats) -> Floats:
        """Return an array of B completions in groups: (P, G, ...)."""
        return array.reshape(-1, self.group_size, *array.shape[1:])


def batch_of(number: int, arrays: Mapping[str, Any]) -> Batch:
    """Return a batch from its lists. None is NaN, and non-finite numbers may be text."""
    named = {name: numbers(arrays[name]) for name in Batch._fields if name in arrays and name != "group_size"}
    return Batch(number=number, group_size=arrays["group_size"], **named)


def numbers(value: Any) -> Floats:
    """Convert nested lists to an array. None is NaN, and non-finite numbers may be text."""
    if isinstance(value, list):
        return np.array([numbers(each) for each in value], dtype=np.float64)
    return np.array("nan" if value is None else value, dtype=np.float64)


def rows_of(record: SimpleNamespace, rows: slice) -> SimpleNamespace:
    """Return a record of (1, n, ...) arrays of some completions, from one of (B, ...) arrays."""
    return SimpleNamespace(**{name: array[rows][None] for name, array in vars(record).items()})
