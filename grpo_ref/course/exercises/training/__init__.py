"""Chapter 7: training."""
