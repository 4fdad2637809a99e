"""Chapter 6: the whole objective."""
