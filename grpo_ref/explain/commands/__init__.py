"""The commands explain, convert and parity, one file each."""
