"""The transformer by hand beside the same one in PyTorch and JAX: both ways, sampling, a whole GRPO update.

Two layers, four heads, float32, one thread each (the Makefile sets them). The gradients of all sides are
compared before anything is timed. Ours in the update is `train` as it stands, with two metrics; all
metrics take a third more. A peer that is not installed is left out, and that is said.
Last, several seeds trained as one array, beside as many trainings of one seed after the other.
"""

import argparse
import importlib.util
import json
import os
import statistics
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measure import heading, interleaved, machine, spread, versions
from neural_peers import PEERS, Actions, Work

from grpo_ref import RECIPES, TASKS, config_for, iter_train
from grpo_ref.fast.transformer import fast_network
from grpo_ref.learning.policies.kinds import network_for
from grpo_ref.learning.policies.neural import NeuralActor, NeuralPolicy
from grpo_ref.learning.policies.parameters import joined, views
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.learning.policies.transformer import Transformer
from grpo_ref.learning.rollout import draw
from grpo_ref.learning.state import Update

WORKS = ("forward and backward", "sampling", "update")
WIDTHS = (64, 128)
GROWTH = {"batch": (16, 64, 256), "width": (32, 64, 128, 256), "length": (16, 64, 256)}
"""Sizes of one pass of forward and backward, the others at batch 64, width 64, length 32."""
SEEDS = (1, 2, 4, 8)


def main() -> None:
    """Check, time, and print tables; write the figures if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    arguments = parser.parse_args()
    heading("transformer, two layers, four heads, float32, one thread")
    print("  " + ", ".join(f"{name} {version}" for name, version in versions(PEERS).items()))
    figures: dict[str, Any] = {"machine": machine() | versions(PEERS), "load": os.getloadavg()[0]}
    for width in WIDTHS:
        figures[f"width {width}"] = compared(work_of(width=width), f"width {width}", WORKS, arguments.rounds)
    for what, sizes in GROWTH.items():
        for size in sizes:
            title = f"{what} {size}"
            work = work_of(**{what: size})
            figures[title] = compared(work, title, WORKS[:1], arguments.rounds)
    figures["seeds"] = seeds_together(arguments.rounds)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


def work_of(*, batch: int = 64, width: int = 64, length: int = 32) -> Work:
    """64 x 32 tokens both ways; an update of 16 prompts of 6 tokens, 8 completions of 10 tokens each."""
    network = Transformer(vocabulary=14, context=max(length, 16), width=width)
    generator = np.random.default_rng(0)
    weights = {name: x.astype(np.float32) for name, x in network.init(generator).items()}
    tokens, prompts = (generator.integers(14, size=shape) for shape in ((batch, length), (16, 6)))
    return Work(network, weights, tokens, prompts, 8, 10, generator.integers(2, size=(16, 8)).astype(float))


def compared(work: Work, title: str, works: tuple[str, ...], rounds: int) -> dict[str, Any]:
    """Milliseconds of every side, printed with how many times longer than ours the others take."""
    sides: dict[str, Actions] = {"ours": ours(work)}
    for name, (module, prepare) in PEERS.items():
        if importlib.util.find_spec(module):
            sides[name] = prepare(work)
    check(sides)
    found: dict[str, Any] = {}
    print(f"\n{title}")
    for what in works:
        actions = {name: side[what] for name, side in sides.items()}
        for action in actions.values():
            action()  # compiles, and fills the caches
        seconds = interleaved(actions, rounds)
        found[what] = {name: [1e3 * one for one in of] for name, of in seconds.items()}
        for name, of in found[what].items():
            medians, least = (over(of) / over(found[what]["ours"]) for over in (statistics.median, min))
            times = f"{medians:5.2f} by medians {least:5.2f} by minima"
            print(f"  {what:22}{name:16}{spread(of, 1):>24} ms   {times}")
    return found


def seeds_together(rounds: int) -> dict[str, Any]:
    """Milliseconds of an update of names for each number of seeds, over as many updates of one seed."""
    print("\nnames, an update of 16 prompts with 16 completions each, two metrics")
    actions = {f"seeds {seeds}": partial(next, names_updates(seeds)) for seeds in SEEDS}
    for action in actions.values():
        action()
    seconds = interleaved(actions, rounds)
    found = {name: [1e3 * one for one in of] for name, of in seconds.items()}
    for (name, of), seeds in zip(found.items(), SEEDS, strict=True):
        medians, least = (over(of) / (seeds * over(found["seeds 1"])) for over in (statistics.median, min))
        times = f"{medians:5.2f} by medians {least:5.2f} by minima"
        print(f"  {name:22}{spread(of, 1):>24} ms   {times} of as many single ones")
    return found


def names_updates(seeds: int) -> Iterator[Update]:
    """Updates without end of so many seeds, from a network that has imitated nothing."""
    task = TASKS["names"]()
    network = network_for(task, "transformer")
    weights = joined(network.init(np.random.default_rng(0)), network.shapes()).astype(np.float32)
    config = config_for(task, "transformer", updates=10**9, seeds=seeds)
    recipe = replace(RECIPES["grpo"], kl_coef=0.0)
    return iter_train(
        task, recipe, config, policy=NeuralPolicy(network, weights), metrics=("reward", "length")
    )


def check(sides: dict[str, Actions]) -> None:
    """Stop unless all sides have the same gradient, to 1e-5 of its largest number."""
    gradients = {name: side["forward and backward"]() for name, side in sides.items()}
    for gradient in gradients.values():
        for name, ours in gradients["ours"].items():
            theirs = np.asarray(gradient[name]).reshape(ours.shape)
            np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-5 * abs(ours).max())


def ours(work: Work) -> Actions:
    """Our side."""
    network, shapes = fast_network(work.network), work.network.shapes()
    flat = joined(work.weights, shapes)[None]
    weights = views(flat, shapes)
    tokens, targets = work.tokens[None], np.roll(work.tokens, -1, 1)

    def both_ways() -> Any:
        logits, kept = network.forward(weights, tokens)
        slope = policy_of(logits).probs
        slope[0, np.arange(len(targets))[:, None], np.arange(targets.shape[1]), targets] -= 1.0
        return network.pull_back(weights, kept, slope / targets.size)

    task = TASKS["sums"]()
    actor, generators = NeuralActor(network, flat, 1.0), [np.random.default_rng(0)]
    config = config_for(task, updates=10**9, prompts=16)
    recipe, policy = replace(RECIPES["grpo"], kl_coef=0.0), NeuralPolicy(network, flat[0])
    updates = iter_train(task, recipe, config, policy=policy, metrics=("reward", "length"))
    return {
        "forward and backward": both_ways,
        "sampling": lambda: draw(task, actor, generators, prompts=16, group_size=8),
        "update": lambda: next(updates),
    }


if __name__ == "__main__":
    main()
