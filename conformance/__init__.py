"""Numbers that were recorded by running trainers, and the functions that compute the same numbers with grpo_ref.

README.md beside this file describes the format. `python -m conformance parity` compares all of them.
"""
