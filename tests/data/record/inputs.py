"""The arrays on which all trainers are recorded: `python tests/data/record/inputs.py`.

Twelve completions of up to seven tokens, in groups of four. They look for what vectors of usual numbers hide:
masks with holes and without a token, ratios exactly at the bounds of the clip and at the limits of exp in
float32 and float64, a sampler that reports NaN, groups without contrast. The padding holds random values, so
that code which reads it gives itself away. Written to conformance/grpo_conformance/recordings/inputs.json.
"""

import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).parents[3] / "conformance" / "grpo_conformance" / "recordings" / "inputs.json"
ROWS, TOKENS, GROUP = 12, 7, 4
LENGTHS = (7, 3, 5, 1, 7, 2, 4, 6, 1, 7, 3, 5)
EMPTY = (3, 9)
"""The completions without a token, where the mask says so."""
BOUNDS = np.log([0.8, 1.2, 1.28, 1.272, 0.5, 2.0, 3.0, 5.0])
"""Logarithms of usual bounds: a ratio exactly there."""
EXTREMES = (30.0, -30.0, 20.0, -20.0, 89.0, -104.0, 10.0, -10.0, 300.0, -400.0, 715.0, -750.0)
"""Log-ratios where trainers limit them, and where exp overflows or vanishes in float32 and in float64."""
DIGITS = 6


def inputs() -> dict[str, object]:
    """All arrays by name, with `group_size`."""
    chance = np.random.default_rng(16)
    mask = (np.arange(TOKENS) < np.array(LENGTHS)[:, None]).astype(int)
    old = -chance.gamma(1.5, 0.8, (ROWS, TOKENS)) - 0.01
    policy = np.minimum(old + chance.normal(0.0, 0.35, old.shape), -0.005)
    sampler = np.minimum(old + chance.normal(0.0, 0.3, old.shape), -0.003)
    arrays = {
        "mask": mask,
        "mask_holes": mask * (chance.random(mask.shape) > 0.3),
        "mask_empty": _without(mask, EMPTY),
        "mask_first_empty": _without(mask, (0,)),
        "mask_none": np.zeros_like(mask),
        "mask_single": (np.arange(ROWS * TOKENS) == 8).astype(int).reshape(mask.shape),
        "logp": policy,
        "old_logp": old,
        "logp_at_bounds": old + np.resize(BOUNDS, old.shape),
        "logp_extreme": old + np.resize(EXTREMES, old.shape),
        "logp_limited": old + np.clip(np.resize(EXTREMES, old.shape), -20.0, 20.0),
        "ref_logp": np.minimum(policy + chance.normal(0.0, 0.6, old.shape), -0.004),
        "ref_logp_far": policy + np.resize(EXTREMES, old.shape)[:, ::-1],
        "sampler_logp": sampler,
        "sampler_logp_far": old - np.resize(EXTREMES, old.shape),
        "sampler_logp_nan": np.where(chance.random(old.shape) < 0.2, np.nan, sampler),
        "entropy": chance.gamma(1.5, 0.5, old.shape),
        "entropy_equal": np.full(old.shape, 0.75),
        "advantages": np.array([1.2, -0.7, 0.4, -0.9, 0.0, 0.0, 0.0, 0.0, -1.5, 0.3, 2.0, -0.8]),
        "token_advantages": chance.normal(0.0, 1.0, old.shape),
        "rewards": np.array([1.0, 0.0, 0.5, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.25, -1.0, 1.0]),
        "rewards_some_equal": np.array([1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]),
        "rewards_all_equal": np.full(ROWS, 0.3),
        "rewards_tied": np.array([1.0, 1.0, 0.0, 0.0, 2.0, 2.0, 2.0, -1.0, 0.1, 0.2, 0.3, 0.3]),
        "rewards_huge": np.array([1e8, 0.0, 1e8, 1.0, 1e-8, 0.0, 0.0, 0.0, 3.0, 3.0 + 1e-7, 3.0, 3.0]),
        "rewards_per_func": np.round(chance.choice([0.0, 0.5, 1.0], (ROWS, 3)), 1),
        "rewards_per_func_unknown": np.where(
            chance.random((ROWS, 3)) < 0.3, np.nan, chance.choice([0.0, 0.5, 1.0], (ROWS, 3))
        ),
        "reward_weights": np.array([1.0, 0.5, 2.0]),
    }
    return {"group_size": GROUP, **{name: _plain(array) for name, array in arrays.items()}}


def _without(mask: np.ndarray, rows: tuple[int, ...]) -> np.ndarray:
    """The mask, 0 everywhere in these rows."""
    return np.where(np.isin(np.arange(ROWS), rows)[:, None], 0, mask)


def _plain(array: np.ndarray) -> object:
    """Lists of numbers with a few digits, NaN as text."""
    if array.dtype.kind in "ib":
        return array.tolist()
    return _texts(np.round(array, DIGITS if np.nanmax(np.abs(array)) < 1e3 else 9).tolist())


def _texts(value: object) -> object:
    if isinstance(value, list):
        return [_texts(each) for each in value]
    return "nan" if value != value else value


if __name__ == "__main__":
    FILE.write_text(json.dumps(inputs(), indent=1) + "\n", encoding="utf-8")
    print(f"wrote {FILE.name}")
