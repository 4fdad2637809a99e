"""Shared code of all experiments: arms, predictions, statistics, verdicts, results, sweeps and toy tasks."""
