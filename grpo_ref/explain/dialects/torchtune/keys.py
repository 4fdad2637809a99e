"""The YAML files of torchtune bd2a0fc7c (April 2026) for its two recipes of GRPO, synchronous and asynchronous."""

from grpo_ref.explain.settings import Settings

LOSSES = "torchtune.dev.grpo.loss"
TOKEN, BATCH, SIMPLE, CHUNKED = (
    f"{LOSSES}.{name}"
    for name in ("GRPOLoss", "GRPOCompletionLoss", "GRPOSimpleLoss", "GRPOWithChunkedOutputLoss")
)
LINEAR = "torchtune.dev.rl.linear_grpo_loss.LinearGRPOLoss"
OF_LINEAR = ("num_output_chunks", "ignore_index", "mask_pre_projection")
"""Settings that only `LinearGRPOLoss` has."""


def component(settings: Settings) -> str:
    """Return the full name of the loss. A module of torchtune.dev that was moved counts under its name here."""
    given: str = settings["loss._component_"]
    known = {name.rpartition(".")[2]: name for name in (TOKEN, BATCH, SIMPLE, CHUNKED, LINEAR)}
    return known.get(given.rpartition(".")[2], given) if str(given).startswith("torchtune.dev.") else given
