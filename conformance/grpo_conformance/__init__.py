"""Numbers that were recorded by running the GRPO trainers, and tests of your own loss against them."""

from pathlib import Path

RECORDINGS = Path(__file__).parent / "recordings"
"""Folder of the recorded cases: `TRAINER.json`, and `by_hand/TRAINER.json` for those written one by one."""
