"""What all experiments share: arms and predictions, statistics, verdicts, stored results, sweeps, toy tasks."""
