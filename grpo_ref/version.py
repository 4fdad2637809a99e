"""The version of the package."""

__version__ = "0.1.0"
"""The single source of the version; pyproject.toml reads it from here."""
