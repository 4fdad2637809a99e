"""Watch the trainers: compare the files that decide their objectives with the recorded ones.

`tracked.toml` names, for each trainer, the version that was recorded, its files and their hashes. This package is
beside the distribution `grpo-conformance` and not in its wheel. Run it in a clone of the repository:

    PYTHONPATH=conformance python -m watch --help
"""
