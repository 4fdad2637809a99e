"""Functions that compute the metrics that trainers log, one module for each trainer."""

from collections.abc import Mapping

from conformance.measured import Metric
from conformance.metrics import (
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
    torchtune,
    trl,
    tunix,
    understand_r1_zero,
    verl,
)

METRICS_OF_TRAINER: Mapping[str, Mapping[str, Metric]] = {
    "trl": trl.METRICS,
    "verl": verl.METRICS,
    "open_instruct": open_instruct.METRICS,
    "rlinf": rlinf.METRICS,
    "openrlhf": openrlhf.METRICS,
    "nemo_rl": nemo_rl.METRICS,
    "slime": slime.METRICS,
    "easy_r1": easy_r1.METRICS,
    "skyrl": skyrl.METRICS,
    "prime_rl": prime_rl.METRICS,
    "areal": areal.METRICS,
    "ms_swift": ms_swift.METRICS,
    "roll": roll.METRICS,
    "understand_r1_zero": understand_r1_zero.METRICS,
    "torchtune": torchtune.METRICS,
    "tunix": tunix.METRICS,
}
"""Each trainer with its metrics, by the name that is logged."""
