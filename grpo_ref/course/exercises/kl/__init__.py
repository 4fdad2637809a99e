"""Chapter 4: how far from the reference."""
