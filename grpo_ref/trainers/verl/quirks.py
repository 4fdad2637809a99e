"""What verl alone does: clip-cov chooses its tokens with torch's shuffle."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.kernels.surrogates import clip_cov_eligible
from grpo_ref.recipes import Recipe
from grpo_ref.trainers.calls import loss
from grpo_ref.trainers.dialect import Call, Dialect


def _shuffled_loss(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """The loss after torch.manual_seed(record.seed)."""
    noise = _torch_noise(dialect.recipe(**config), record)
    return loss(dialect, config, SimpleNamespace(**vars(record) | {"noise": noise}))


def _torch_noise(recipe: Recipe, record: SimpleNamespace) -> Floats:
    """Noise that lets clip-cov choose what torch.randperm chooses: the first of the shuffle have the least."""
    settings = {name: value for name, value in recipe.surrogate.settings.items() if name != "share"}
    log_ratio = record.log_probs - record.old_log_probs
    arrays = (log_ratio, record.log_probs, record.advantages[..., None], record.mask)
    places = np.flatnonzero(clip_cov_eligible(*arrays, **settings))
    noise = np.ones(record.mask.size)
    noise[places[torch_permutation(len(places), record.seed)]] = np.arange(len(places)) / max(len(places), 1)
    return noise.reshape(record.mask.shape)


def torch_permutation(size: int, seed: int) -> list[int]:
    """torch.randperm(size) on the CPU: a shuffle by the raw 32-bit numbers of a Mersenne twister."""
    draws = np.random.RandomState(seed).randint(0, 2**32, size=size, dtype=np.uint32)
    order = list(range(size))
    for place in range(size - 1):
        other = place + int(draws[place]) % (size - place)
        order[place], order[other] = order[other], order[place]
    return order


CALLS: dict[str, Call] = {"loss with torch's shuffle": _shuffled_loss}
"""What only verl's recorded cases hold."""
