"""The version of the package, which is that of grpo_ref."""

__version__ = "0.1.0"
