"""Exercise clinic/idle_clip."""
