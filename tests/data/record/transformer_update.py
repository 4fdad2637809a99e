"""Losses and gradients of a transformer's update, as PyTorch's autograd has them.

    PYTHONPATH=tests python tests/data/record/transformer_update.py

writes `tests/data/transformer_update.json`: for each recipe the batch, and loss and gradients of two steps of
SGD on it. Recorded with PyTorch 2.13 on a CPU, in float64.
"""

import json
from pathlib import Path

import numpy as np
from small_network import beginning, letters, small_network
from torch_update import LOSSES, TEMPERATURE, two_steps
from writing import rounded

from grpo_ref.learning.policies.parameters import views
from grpo_ref.learning.rollout import draw

LEARNING_RATES = {"grpo": 0.1, "dapo": 3.0, "gspo": 0.001, "cispo": 3.0}
"""So large that the second step finds ratios on both sides of the bounds."""


def main():
    """Write the file, one recipe on a line."""
    task, network = letters(), small_network()
    policy, _, state = beginning(network, temperature=TEMPERATURE)
    actor = policy.at(state.params, TEMPERATURE)
    drawn = draw(task, actor, [np.random.default_rng([0, 0])], prompts=4, group_size=4)
    batch = {"prompt_tokens": task.prompt_tokens[drawn.prompts[0]].tolist()}
    batch |= {name: getattr(drawn, name)[0].tolist() for name in ("tokens", "mask", "rewards")}
    start, ref = (views(params[0], network.shapes()) for params in (state.params, state.ref_params))
    lines = {"batch": batch, "temperature": TEMPERATURE}
    for recipe in LOSSES:
        rate = LEARNING_RATES[recipe]
        steps = two_steps(recipe, network, start, ref, batch, rate)
        found = [
            {"loss": loss, "gradients": {name: slope.tolist() for name, slope in slopes.items()}}
            for loss, slopes in steps
        ]
        lines[recipe] = {"learning_rate": rate, "steps": rounded(found)}
    text = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in lines.items())
    path = Path(__file__).parents[1] / "transformer_update.json"
    path.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
