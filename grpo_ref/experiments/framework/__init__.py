"""What all experiments share: arms and predictions, statistics, verdicts, cached results, sweeps."""
