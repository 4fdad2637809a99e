"""The keys of `GRPOConfig`, the arguments of `GRPOTrainer`, TRL 1.16.0, and the keys that its command line reads.

Only `trainer` is not a key of TRL: it names the class that trains. tests/data/record/keys_trl.py compares all
others.
"""

GRPO, GMPO = "GRPOTrainer", "GMPOTrainer"
"""The classes that train. The second one is in `trl.experimental.gmpo`."""
WINDOW_LOSSES = ("dapo", "cispo", "vespo")
"""Loss types that divide by the tokens of the generation batch and compensate for its number of steps."""
