"""Faster code for the same numbers: many seeds at once, and losses of large vocabularies from logits.

Nothing here is needed to understand the rest of the library.
"""
