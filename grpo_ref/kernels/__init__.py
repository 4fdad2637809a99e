"""Kernels: every step of the pipeline as pure functions of arrays, each value beside its slope."""
