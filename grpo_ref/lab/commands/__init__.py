"""The command experiment."""
