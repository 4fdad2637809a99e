"""Traps: configurations of prime-rl with effects that their author is unlikely to expect."""

from types import SimpleNamespace

from grpo_ref.explain.dialects.prime_rl.keys import PENALTY, WEIGHTS
from grpo_ref.explain.trap import Trap


def _penalized(s: SimpleNamespace) -> bool:
    return any(vars(s)[f"{PENALTY}{name}"] is not None for name in ("type", *WEIGHTS))


def _groups_of_one(s: SimpleNamespace) -> bool:
    settings = vars(s)
    sources = [source for source in settings["train.source"] or [{}] if isinstance(source, dict)]
    return all(source.get("group_size", settings["group_size"]) == 1 for source in sources)


TRAPS = (
    Trap(
        "Groups of one",
        lambda s, given: _groups_of_one(s),
        "group_size is 1 where it is left out: a completion is its own mean, every advantage is 0, and what has no"
        " advantage is taken out of the batch, so nothing is ever trained. The run stops after some empty batches.",
        "prime-rl orchestrator.py of the configs, group_size; algo/grpo.py",
        {},
        {"group_size": 8},
    ),
    Trap(
        "A threshold that is no clip",
        lambda s, given: bool({"loss.dppo_mask_low", "loss.dppo_mask_high", "loss.ipo_threshold"} & given),
        "The threshold is of the change of the token's probability, not of the ratio: 0.28 leaves out a token that went"
        " from 0.5 to 0.79, and never one of a probability below 0.28, whatever its ratio. The ratio itself has no limit,"
        " though the documentation shows one.",
        "prime-rl loss.py, default_loss_fn; docs/algorithms.md",
        {"loss.dppo_mask_high": 0.28},
        {"loss.adv_tau": 0.5},
    ),
    Trap(
        "A KL to the sampler",
        lambda s, given: "loss.kl_tau" in given and vars(s)["loss.kl_tau"] > 0.0,
        "kl_tau weighs the squared log-ratio to the policy that sampled, so it is about staleness and mismatch. There is"
        " no reference model, and nothing keeps the policy near where it began.",
        "prime-rl loss.py, default_loss_fn",
        {"loss.kl_tau": 0.01},
        {"loss.kl_tau": 0.0},
    ),
    Trap(
        "What does not count does not divide",
        lambda s, given: "train.filter_zero_advantages" in given and vars(s)["train.filter_zero_advantages"],
        "Completions of advantage 0 are taken out after the batch is full, and their tokens out of the number that the"
        " loss is divided by: the fewer groups have contrast, the larger is the step of each. Their pull to the sampler"
        " goes with them. Rewards that agree but are no simple fractions, such as 0.1 in a group of 7, are off their"
        " float32 mean by a rounding and stay in.",
        "prime-rl train_sink.py, _prune_zero_advantages",
        {"train.filter_zero_advantages": True},
        {"train.filter_zero_advantages": False},
    ),
    Trap(
        "A penalty for length that follows the mean reward",
        lambda s, given: _penalized(s),
        "The penalty is a share of the group's mean reward: where all fail it is nothing, where all are right it is"
        " largest, and with a negative mean it rewards length. It is divided by the longest of the group, so an odd long"
        " one makes it small for the others. Its terms for input and turns do nothing in groups that agree in them.",
        "prime-rl algo/grpo.py, score_group",
        {f"{PENALTY}type": "linear"},
        {},
    ),
    Trap(
        "No credit where the mean is not positive",
        lambda s, given: vars(s)["algo.type"] == "max_rl",
        "max_rl divides by the group's mean reward. A group whose mean is 0 or negative gets nothing, even if its"
        " rewards differ; with rewards of -1 and 1 that is every group in which at least half fail.",
        "prime-rl algo/max_rl.py",
        {"algo.type": "max_rl"},
        {"algo.type": "grpo"},
    ),
    Trap(
        "A mask that keeps tokens from coming back",
        lambda s, given: vars(s)["loss.type"] == "ipo",
        "ipo leaves out a token that moved far whichever way it moved, so one that moved against its advantage is not"
        " brought back by it. What is called IPO elsewhere, a loss on pairs of answers, has nothing to do with it.",
        "prime-rl loss.py, ipo_loss_fn",
        {"loss.type": "ipo"},
        {"loss.type": "default"},
    ),
)
"""The traps, in the order in which they are reported."""
