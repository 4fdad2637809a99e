"""Learning: policies, optimizers, rollouts and the training loop, on tasks small enough to read."""
