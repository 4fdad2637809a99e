"""Small batches on which the named algorithms are recorded: `python tests/data/record/algorithm_batches.py`.

Each batch shows one thing with few tokens, so that a failing test can print it: ratios beyond either clip
with advantages of either sign, completions of different lengths, a hole in the mask, an empty completion,
a padded end. Larger batches mix everything. The padding holds random values. Written to
conformance/grpo_conformance/recordings/algorithms/inputs.json.
"""

import json
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parents[3] / "conformance" / "grpo_conformance" / "recordings" / "algorithms"
DIGITS = 6
NAMES = (
    "log_probs",
    "old_log_probs",
    "ref_log_probs",
    "rollout_log_probs",
    "entropies",
    "advantages",
    "mask",
)
GROUPS = {
    "four completions of two groups": 2,
    "mixed": 3,
    "mixed, an empty completion": 4,
    "mixed, narrow": 3,
}
"""Completions per group, 2 where nothing is said."""

# batch -> ratios to the old policy (N, T), advantages (N,), mask (N, T)
SMALL = {
    "on policy": ([[1.0], [1.0]], [1.5, -0.5], [[1], [1]]),
    "ratios above the clip": ([[1.5], [1.5]], [1.5, -0.5], [[1], [1]]),
    "ratios below the clip": ([[0.5], [0.5]], [1.5, -0.5], [[1], [1]]),
    "ratios far above the clip": ([[7.0], [7.0]], [0.5, -1.5], [[1], [1]]),
    "ratios far below the clip": ([[0.05], [0.05]], [0.5, -1.5], [[1], [1]]),
    "a ratio between the two upper bounds": ([[1.25], [1.25]], [1.0, -1.0], [[1], [1]]),
    "ratios near 1": ([[1.0002], [1.00035]], [1.0, -1.0], [[1], [1]]),
    "advantages of 0": ([[1.5], [0.5]], [0.0, 0.0], [[1], [1]]),
    "different lengths": ([[1.1, 0.95, 1.05], [0.9, 1.0, 1.0]], [1.0, -1.0], [[1, 1, 1], [1, 0, 0]]),
    "a hole in the mask": ([[1.1, 3.0, 0.9], [1.05, 0.95, 1.0]], [1.0, -0.5], [[1, 0, 1], [1, 1, 1]]),
    "an empty completion": ([[1.1, 0.9], [1.0, 1.0]], [1.0, -1.0], [[1, 1], [0, 0]]),
    "padding beyond the longest": (
        [[1.1, 0.9, 1.0, 1.0], [0.95, 1.0, 1.0, 1.0]],
        [1.0, -0.5],
        [[1, 1, 0, 0], [1, 0, 0, 0]],
    ),
    "tokens that cancel": ([[2.0, 0.5], [0.5, 2.0]], [1.0, -1.0], [[1, 1], [1, 1]]),
    "four completions of two groups": (
        [[1.1, 1.0], [0.9, 1.05], [1.3, 0.7], [0.7, 1.3]],
        [1.0, -1.0, 0.5, -0.5],
        [[1, 0], [1, 1], [1, 1], [1, 0]],
    ),
    "no token": ([[1.0], [1.0]], [1.0, -1.0], [[0], [0]]),
}


def batches() -> dict[str, dict[str, np.ndarray]]:
    """Return the arrays of every batch by name."""
    chance = np.random.default_rng(46)
    made = {}
    for name, (ratios, advantages, mask) in SMALL.items():
        made[name] = _filled(np.log(ratios), np.array(advantages), np.array(mask), chance)
    lengths = np.array([8, 3, 5, 1, 7, 4])
    mask = (np.arange(8) < lengths[:, None]).astype(int)
    holes = mask * (chance.random(mask.shape) > 0.2)
    holes[:, 0] = 1
    far = chance.normal(0.0, 0.6, mask.shape)
    advantages = np.array([1.3, -0.4, -0.9, 0.8, -1.6, 0.8])
    made["mixed"] = _filled(far, advantages, holes, chance)
    made["mixed, narrow"] = _filled(far / 500.0, advantages, mask, chance)
    mask = (np.arange(6) < np.array([6, 2, 0, 4, 5, 1, 3, 6])[:, None]).astype(int)
    dead = np.array([1.5, -0.5, -0.5, -0.5, 0.0, 0.0, 0.0, 0.0])
    made["mixed, an empty completion"] = _filled(chance.normal(0.0, 0.4, mask.shape), dead, mask, chance)
    return made


def _filled(
    log_ratios: np.ndarray, advantages: np.ndarray, mask: np.ndarray, chance
) -> dict[str, np.ndarray]:
    """Return all arrays of a batch: a policy with these log-ratios, a reference and a sampler."""
    old = -chance.gamma(2.0, 0.7, log_ratios.shape) - 2.2  # the policy stays below log 1 at a ratio of 7
    policy = old + log_ratios
    policy = np.where(mask == 1, policy, policy + chance.normal(0.0, 0.5, mask.shape))
    arrays = (
        *(
            policy,
            old,
            policy + chance.normal(0.0, 0.5, mask.shape),
            old + chance.normal(0.0, 0.9, mask.shape),
        ),
        *(chance.gamma(1.5, 0.5, mask.shape), advantages, mask),
    )
    return dict(zip(NAMES, arrays, strict=True))


def key(batch: str, array: str) -> str:
    """Return the name of an array in inputs.json."""
    return f"{batch}: {array}"


def inputs() -> dict[str, object]:
    """Return all arrays as they are written."""
    plain: dict[str, object] = {"group_size": 2}
    for batch, arrays in batches().items():
        for name, array in arrays.items():
            rounded = array.tolist() if array.dtype.kind in "ib" else np.round(array, DIGITS).tolist()
            plain[key(batch, name)] = rounded
    return plain


def text() -> str:
    """Return the file, with a line for each array."""
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in inputs().items())
    return f"{{\n{lines}\n}}\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "inputs.json").write_text(text(), encoding="utf-8")
    print(f"wrote {len(batches())} batches")
