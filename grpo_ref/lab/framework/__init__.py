"""What all experiments share: arms, predictions, statistics, verdicts, stored results, sweeps, toy tasks."""
