"""Data files; README.md says where they come from."""
