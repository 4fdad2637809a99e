"""The arguments of `swift rlhf --rlhf_type grpo`, ms-swift 4.6.0: `RLHFArguments` and the classes below it.

Those of `transformers.Seq2SeqTrainingArguments` are among them. tests/data/record/keys_ms_swift.py compares all.
"""

from typing import NamedTuple

from grpo_ref.explain.settings import Settings


class Behaviour(NamedTuple):
    """Behaviour that no argument sets and that differs between versions.

    Attributes:
      loss_types: the existing loss types that can be expressed here.
      levels: the values of importance_sampling_level.
      scales: the values of scale_rewards.
      is_limited: true if the penalty's log-ratio and its value have limits.
      checks_sampler: true if some combinations of the sampler's arguments are refused.
      liger_arguments: true if Liger's loss gets the level, the temperatures of sapo and the weights for the sampler.
    """

    loss_types: tuple[str, ...] = ("grpo", "bnpo", "dr_grpo", "dapo", "cispo", "sapo", "real", "fipo")
    levels: tuple[str, ...] = ("token", "sequence", "sequence_token")
    scales: tuple[str | bool, ...] = ("group", "batch", "none", "gdpo")
    is_limited: bool = True
    checks_sampler: bool = True
    liger_arguments: bool = True


BEHAVIOUR = "behaviour"
"""Name of `Behaviour` among the arguments. It is not an argument and cannot be given."""


def behaviour_of(settings: Settings) -> Behaviour:
    """Return the behaviour of the release whose settings these are."""
    return Behaviour(*(settings[f"behaviour.{name}"] for name in Behaviour._fields))
