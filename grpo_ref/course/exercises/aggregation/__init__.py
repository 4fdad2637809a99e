"""Chapter 5: how much each token counts."""
