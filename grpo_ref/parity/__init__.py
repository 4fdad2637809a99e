"""Rebuild recorded numbers of the trainers from their configurations, and compare: `grpo-ref parity`."""
