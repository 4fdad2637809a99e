"""Kernels and checks that several trainers share word for word."""
