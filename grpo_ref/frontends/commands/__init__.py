"""The commands of `grpo-ref`, one file each."""
