"""Chapter 2: groups and advantages."""
