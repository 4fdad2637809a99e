"""Chapter 1: probabilities and log-probabilities."""
