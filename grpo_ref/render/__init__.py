"""Helpers that render text, tables, progress, HTML pages and formulas; all commands share them."""
