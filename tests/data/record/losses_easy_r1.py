"""Compare what EasyR1 computed month by month with its own code: python losses_easy_r1.py CHECKOUT

CHECKOUT is a clone of hiyouga/EasyR1, and torch has to be installed. `compute_policy_loss` and the KL of each
month are run as they are; the script exits with 1 and names each loss that is another here.
"""

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from losses_openrlhf import ADVANTAGES, MASK, NEW, OLD, REFERENCE, SHAPE

from grpo_ref.explain.dialects.easy_r1 import DIALECT
from grpo_ref.loss import policy_loss

MONTHS = [(year, month) for year in (2025, 2026) for month in range(1, 13)][1:19]
FILES = ("verl/utils/torch_functional.py", "verl/trainer/core_algos.py")
NAMES = ("masked_mean", "average_loss", "compute_policy_loss", "kl_penalty", "compute_kl")
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"clip_ratio": 0.1},
    {"clip_ratio_low": 0.1, "clip_ratio_high": 0.4},
    {"clip_ratio_dual": 1.2},
    {"loss_avg_mode": "seq"},
    {"loss_type": "cispo"},
    {"loss_type": "gspo", "loss_avg_mode": "seq"},
    {"loss_type": "gspo_token", "loss_avg_mode": "seq"},
    {"loss_type": "sapo", "tau_negative": 1.5},
)
"""Keys; a month that does not have them, or refuses their values, is not asked."""


def moments(checkout: str) -> Iterator[tuple[str, str]]:
    """Yield the end of each month, and each release, with its commit."""
    for year, month in MONTHS:
        after = f"{year + month // 12}-{month % 12 + 1:02d}-01T00:00:00"
        yield f"{year}.{month}", _git(checkout, "rev-list", "-1", f"--before={after}", "HEAD").strip()
    yield from ((release, release) for release in DIALECT.history.aliases)


def _git(checkout: str, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", checkout, *arguments], capture_output=True, text=True, check=True
    ).stdout


def main(checkout: str) -> int:
    """Say what is different, a line each; 1 if anything is."""
    told, count = [], 0
    for name, commit in moments(checkout):
        theirs, dialect = functions(checkout, commit), DIALECT.at(name)
        for label, ours, expected in (*losses(dialect, theirs), *penalties(dialect, theirs)):
            count += 1
            if not np.allclose(ours, expected, rtol=1e-6, atol=1e-7):
                told.append(f"EasyR1 {name}: {label} is {expected}, and {ours} here")
    print("\n".join(told) or f"no difference in {count} losses and penalties")
    return bool(told)


def functions(checkout: str, commit: str) -> dict[str, Any]:
    """Their functions without what is around them; `VF` and `verl_F` are the module of `masked_mean`."""
    space: dict[str, Any] = {}
    imports = "import numpy as np, torch, torch.nn.functional as F\nfrom typing import *\nfrom types import *"
    exec(imports, space)
    for file in FILES:
        tree = ast.parse(_git(checkout, "show", f"{commit}:{file}"))
        body = [node for node in tree.body if getattr(node, "name", "") in NAMES]
        exec(compile(ast.Module(body, type_ignores=[]), file, "exec"), space)
        space["VF"] = space["verl_F"] = space["SimpleNamespace"](masked_mean=space["masked_mean"])
    return space


def losses(dialect: Any, theirs: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """The keys, and the loss with its gradient here and there, for all keys that the month takes."""
    coef = "kl_coef" if "kl_loss_coef" in dialect.keys.behaviours else "kl_loss_coef"
    for keys in SETTINGS:
        try:
            recipe = dialect.recipe(**keys, **{coef: 0.0})
        except ValueError:
            continue
        ours = policy_loss(NEW, ADVANTAGES, MASK, recipe=recipe, old_log_probs=OLD)
        settings = {**dialect.keys.defaults, **keys}
        yield str(keys), [ours.loss, *ours.gradient.ravel()], _theirs(theirs["compute_policy_loss"], settings)


def _theirs(loss_of: Any, settings: dict[str, Any]) -> list[float]:
    """Their loss with its gradient."""
    rows = {name: torch.tensor(array.reshape(-1, SHAPE[2])) for name, array in INPUTS.items()}
    rows["log_probs"].requires_grad_()
    mask, policy = rows["mask"], rows["log_probs"]
    given = rows | settings | {"log_prob": policy, "old_log_prob": rows["old_log_probs"]}
    given |= {"eos_mask": mask, "response_mask": mask, "cliprange": settings["clip_ratio"]}
    taken = [
        name for name, each in inspect.signature(loss_of).parameters.items() if each.kind != each.VAR_KEYWORD
    ]
    loss = loss_of(**{name: given[name] for name in taken})[0]
    loss.backward()
    return [loss.item(), *policy.grad.numpy().ravel()]


INPUTS = {"log_probs": NEW, "old_log_probs": OLD, "advantages": ADVANTAGES, "mask": MASK}


def penalties(dialect: Any, theirs: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """The values of each penalty in the loss here and there, far from the reference too."""
    key = "kl_penalty" if "kl_loss_type" in dialect.keys.behaviours else "kl_loss_type"
    switch = {} if "use_kl_loss" in dialect.keys.behaviours else {"use_kl_loss": True}
    kl = theirs.get("compute_kl") or theirs["kl_penalty"]
    for name in ("kl", "abs", "mse", "low_var_kl"):
        recipe = dialect.recipe(**{key: name}, **switch)
        ours = recipe.penalty(log_probs=NEW, ref_log_probs=REFERENCE).value
        yield name, ours, kl(torch.tensor(NEW), torch.tensor(REFERENCE), name).numpy()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
