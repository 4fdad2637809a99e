"""The YAML files of torchtune bd2a0fc7c (April 2026) for its two recipes of GRPO, synchronous and asynchronous."""

LOSSES = "torchtune.dev.grpo.loss"
TOKEN, BATCH, SIMPLE, CHUNKED = (
    f"{LOSSES}.{name}"
    for name in ("GRPOLoss", "GRPOCompletionLoss", "GRPOSimpleLoss", "GRPOWithChunkedOutputLoss")
)
LINEAR = "torchtune.dev.rl.linear_grpo_loss.LinearGRPOLoss"
OF_LINEAR = ("num_output_chunks", "ignore_index", "mask_pre_projection")
"""Settings that only `LinearGRPOLoss` has."""
