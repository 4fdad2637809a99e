"""Kernels, checks and measures that several trainers share word for word."""
