"""The trainers' dialects: their own keys and defaults give the recipe that each one computes."""

from grpo_ref.trainers import open_instruct, openrlhf, rlinf, trl, understand_r1_zero, verl
from grpo_ref.trainers.dialect import Dialect

DIALECTS: dict[str, Dialect] = {
    module.DIALECT.name: module.DIALECT
    for module in (trl, verl, open_instruct, rlinf, openrlhf, understand_r1_zero)
}
"""Every dialect by name."""
