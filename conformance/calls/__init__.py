"""Functions that compute the numbers of recorded cases, one module for each trainer."""

from collections.abc import Mapping

from conformance.calls import (
    areal,
    easy_r1,
    ms_swift,
    nemo_rl,
    open_instruct,
    openrlhf,
    prime_rl,
    rlinf,
    roll,
    skyrl,
    slime,
    trl,
    tunix,
    understand_r1_zero,
    verl,
)
from conformance.measured import Call

CALLS_OF_TRAINER: Mapping[str, Mapping[str, Call]] = {
    "trl": trl.CALLS,
    "verl": verl.CALLS,
    "open_instruct": open_instruct.CALLS,
    "rlinf": rlinf.CALLS,
    "openrlhf": openrlhf.CALLS,
    "nemo_rl": nemo_rl.CALLS,
    "slime": slime.CALLS,
    "easy_r1": easy_r1.CALLS,
    "skyrl": skyrl.CALLS,
    "prime_rl": prime_rl.CALLS,
    "areal": areal.CALLS,
    "ms_swift": ms_swift.CALLS,
    "roll": roll.CALLS,
    "understand_r1_zero": understand_r1_zero.CALLS,
    "tunix": tunix.CALLS,
}
"""Each trainer with the calls that only its cases have, or that differ from those in `common.CALLS`."""
