"""Compare what versions of OpenRLHF compute with their own code: python losses_openrlhf.py CHECKOUT

CHECKOUT is a clone with its tags, and torch has to be installed. `PolicyLoss` and `compute_approx_kl` of each
release from 0.6.1 on are run as they are; the script exits with 1 and names each loss that is another here.
"""

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from grpo_ref.explain.dialect import numbered
from grpo_ref.explain.dialects.openrlhf import DIALECT
from grpo_ref.loss import policy_loss

FILES = ("openrlhf/models/utils.py", "openrlhf/models/loss.py")
NAMES = ("masked_mean", "compute_approx_kl", "aggregate_loss", "PolicyLoss")
FIRST = (0, 6, 1)
"""In 0.6.0 the penalty had an argument of another name."""
GENERATOR = np.random.default_rng(7)
SHAPE = (2, 3, 6)
LENGTHS = GENERATOR.integers(1, 7, SHAPE[:2])
MASK = (np.arange(SHAPE[2]) < LENGTHS[..., None]).astype(float)
OLD = -GENERATOR.exponential(1.0, SHAPE)
NEW, SAMPLER, REFERENCE = (OLD + spread * GENERATOR.normal(size=SHAPE) for spread in (0.4, 0.6, 6.0))
ADVANTAGES = np.broadcast_to(GENERATOR.normal(size=(*SHAPE[:2], 1)), SHAPE)
WINDOW = {"enable_vllm_is_correction": True, "vllm_is_truncated_threshold": [0.7, 1.4]}
CAP = {"enable_vllm_is_correction": True, "vllm_is_truncated_threshold": 1.4}
GSPO = {"policy_loss_type": "gspo"}
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"eps_clip_low_high": [0.1, 0.3]},
    {"dual_clip": 1.2},
    GSPO,
    WINDOW,
    CAP,
    GSPO | WINDOW,
    GSPO | CAP,
    WINDOW | {"use_icepop": True},
    WINDOW | {"vllm_is_correction_type": "icepop"},
    WINDOW | {"vllm_is_correction_type": "seq-mask-tis"},
)
"""Flags; a version that does not have them, or refuses their values, is not asked."""


def main(checkout: str) -> int:
    """Say what is different, a line each; 1 if anything is."""
    told, count = [], 0
    for tag in _git(checkout, "tag", "--list", "v*").split():
        if numbered(tag[1:]) >= FIRST:
            theirs, dialect = names(checkout, tag), DIALECT.at(tag[1:])
            for label, ours, expected in (*losses(dialect, theirs), *penalties(dialect, theirs)):
                count += 1
                if not np.allclose(ours, expected, rtol=1e-6, atol=1e-7):
                    told.append(f"OpenRLHF {tag}: {label} is {expected}, and {ours} here")
    print("\n".join(told) or f"no difference in {count} losses and penalties")
    return bool(told)


def names(checkout: str, tag: str) -> dict[str, Any]:
    """The functions and the class of a release, executed without what is around them."""
    space: dict[str, Any] = {}
    exec("from typing import *\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F", space)
    for file in FILES:
        tree = ast.parse(_git(checkout, "show", f"{tag}:{file}"))
        body = [node for node in tree.body if getattr(node, "name", "") in NAMES]
        exec(compile(ast.Module(body, type_ignores=[]), file, "exec"), space)
    return space


def losses(dialect: Any, theirs: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """The flags, and the loss with its gradient here and there, for all flags that the version takes."""
    for flags in SETTINGS:
        if flags.keys() & dialect.foreign:
            continue
        try:
            recipe, expected = dialect.recipe(**flags, init_kl_coef=0.0), _theirs(theirs["PolicyLoss"], flags)
        except ValueError:
            continue
        others = {"old_log_probs": OLD, "rollout_log_probs": SAMPLER}
        ours = policy_loss(NEW, ADVANTAGES, MASK, recipe=recipe, **others)
        yield str(flags), [ours.loss, *ours.gradient.ravel()], expected


def _theirs(policy_loss_class: Any, flags: dict[str, Any]) -> list[float]:
    """Their loss with its gradient."""
    low, high = flags.get("eps_clip_low_high", (0.2, 0.2))
    arguments = {"clip_eps": low, "clip_eps_low": low, "clip_eps_high": high} | flags
    taken = inspect.signature(policy_loss_class.__init__).parameters
    module = policy_loss_class(**{name: value for name, value in arguments.items() if name in taken})
    rows = {
        name: torch.tensor(array.reshape(-1, SHAPE[2]), requires_grad=name == "log_probs")
        for name, array in {
            "log_probs": NEW,
            "old": OLD,
            "advantages": ADVANTAGES,
            "sampler": SAMPLER,
        }.items()
    }
    mask = torch.tensor(MASK.reshape(-1, SHAPE[2]))
    given = {"rollout_log_probs": rows["sampler"]} if "rollout_log_probs" in _forward(module) else {}
    found = module(rows["log_probs"], rows["old"], rows["advantages"], action_mask=mask, **given)
    loss = found[0] if isinstance(found, tuple) else found
    loss.backward()
    return [loss.item(), *rows["log_probs"].grad.numpy().ravel()]


def _forward(module: Any) -> Any:
    return inspect.signature(module.forward).parameters


def penalties(dialect: Any, theirs: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """The values of each penalty here and there, far from the reference too."""
    for name in ("k1", "k2", "k3"):
        ours = dialect.recipe(kl_estimator=name).penalty(log_probs=NEW, ref_log_probs=REFERENCE).value
        pair = (torch.tensor(array) for array in (NEW, REFERENCE))
        yield name, ours, theirs["compute_approx_kl"](*pair, kl_estimator=name).numpy()


def _git(checkout: str, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", checkout, *arguments], capture_output=True, text=True, check=True
    ).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
