"""Traps: configurations of prime-rl with effects that their author is unlikely to expect."""

from grpo_ref.explain.dialects.prime_rl.keys import PENALTY, TAUGHT, WEIGHTS
from grpo_ref.explain.settings import Settings
from grpo_ref.explain.trap import Trap


def _penalized(s: Settings) -> bool:
    return any(s[f"{PENALTY}{name}"] is not None for name in ("type", *WEIGHTS))


def _groups_of_one(s: Settings) -> bool:
    settings = s
    sources = [source for source in settings["train.source"] or [{}] if isinstance(source, dict)]
    if any((source.get("algo") or {}).get("type", settings["algo.type"]) in TAUGHT for source in sources):
        return False  # a teacher judges each token, and nothing is compared within a group
    return all(source.get("group_size", settings["group_size"]) == 1 for source in sources)


TRAPS = (
    Trap(
        "group_size is 1: nothing is trained",
        lambda s, given: _groups_of_one(s),
        "group_size is 1 by default. A completion is then its own mean, every advantage is 0, and"
        " completions with advantage 0 are removed from the batch. So nothing is ever trained, and the run"
        " stops after some empty batches.",
        "prime-rl orchestrator.py of the configs, group_size; algo/grpo.py",
        {},
        {"group_size": 8},
    ),
    Trap(
        "dppo_mask_high compares probabilities, not ratios",
        lambda s, given: bool({"loss.dppo_mask_low", "loss.dppo_mask_high", "loss.ipo_threshold"} & given),
        "The threshold is on the change of the token's probability, not of the ratio. 0.28 excludes a"
        " token that went from 0.5 to 0.79, but never a token with a probability below 0.28, whatever its"
        " ratio. The ratio itself has no limit, although the documentation shows one.",
        "prime-rl loss.py, default_loss_fn; docs/algorithms.md",
        {"loss.dppo_mask_high": 0.28},
        {"loss.adv_tau": 0.5},
    ),
    Trap(
        "kl_tau is a KL to the sampler, not to a reference",
        lambda s, given: "loss.kl_tau" in given and s["loss.kl_tau"] > 0.0,
        "kl_tau weights the squared log-ratio to the sampling policy, so it limits staleness and"
        " mismatch. There is no reference model, and nothing keeps the policy near its beginning.",
        "prime-rl loss.py, default_loss_fn",
        {"loss.kl_tau": 0.01},
        {"loss.kl_tau": 0.0},
    ),
    Trap(
        "Completions with advantage 0 leave the denominator",
        lambda s, given: "train.filter_zero_advantages" in given and s["train.filter_zero_advantages"],
        "Completions with advantage 0 are removed after the batch is full, and their tokens leave the"
        " denominator: the fewer groups have different rewards, the larger the step of each. Their pull to"
        " the sampler is removed too. Equal rewards that are not simple fractions, such as 0.1 in a group"
        " of 7, differ from their float32 mean by a rounding error and stay.",
        "prime-rl train_sink.py, _prune_zero_advantages",
        {"train.filter_zero_advantages": True},
        {"train.filter_zero_advantages": False},
    ),
    Trap(
        "length_penalty is a fraction of the group's mean reward",
        lambda s, given: _penalized(s),
        "If all completions fail, the length penalty is 0. If all are right, it is largest. With a"
        " negative mean it rewards length. It is divided by the longest of the group, so one very long"
        " completion makes it small for the others. Its terms for input and turns do nothing in groups"
        " that agree in them.",
        "prime-rl algo/grpo.py, score_group",
        {f"{PENALTY}type": "linear"},
        {},
    ),
    Trap(
        "algo.type=max_rl gives nothing if the mean is not positive",
        lambda s, given: s["algo.type"] == "max_rl",
        "max_rl divides by the group's mean reward. A group whose mean is 0 or negative gets nothing,"
        " even if its rewards differ. With rewards of -1 and 1, that is every group in which at least half"
        " fail.",
        "prime-rl algo/max_rl.py",
        {"algo.type": "max_rl"},
        {"algo.type": "grpo"},
    ),
    Trap(
        "loss.type=ipo also masks tokens that could move back",
        lambda s, given: s["loss.type"] == "ipo",
        "ipo excludes a token that moved far in either direction, so a token that moved against its"
        " advantage is not brought back. The IPO of other authors, a loss on pairs of answers, is"
        " unrelated.",
        "prime-rl loss.py, ipo_loss_fn",
        {"loss.type": "ipo"},
        {"loss.type": "default"},
    ),
)
"""The traps, in the order in which they are reported."""
