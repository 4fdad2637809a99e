"""The claims of the literature that are tested, one file each."""
