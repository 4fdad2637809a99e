"""Chapter 3: ratios and clipping."""
