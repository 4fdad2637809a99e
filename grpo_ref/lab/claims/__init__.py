"""One file per claim; each defines EXPERIMENT, and none imports another."""
