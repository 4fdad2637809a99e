"""Functions that compute the numbers of recorded cases, one module for each trainer."""

from collections.abc import Mapping

from grpo_ref.parity.measured import Call, tables_of_trainers

CALLS_OF_TRAINER: Mapping[str, Mapping[str, Call]] = tables_of_trainers(__name__, list(__path__), "CALLS")
"""Each trainer with the calls that only its cases have, or that differ from those in `common.CALLS`."""
