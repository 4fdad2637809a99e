"""Render text, tables, progress, HTML pages and formulas: helpers that the commands of all wings share."""
