"""Chapter 9: a neural policy."""
