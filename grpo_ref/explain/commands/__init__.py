"""The commands explain and convert, one file each."""
