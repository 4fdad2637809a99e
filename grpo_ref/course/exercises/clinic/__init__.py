"""Chapter 8: the clinic."""
