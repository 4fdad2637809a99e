"""Run the trainer that is installed, and compare it with what `explain` says of its version: `parity --live`."""
