"""Run every release of a trainer on one grid of configurations, and compare the gradients."""
