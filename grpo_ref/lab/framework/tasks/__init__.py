"""Toy tasks that several claims share, a file each, with what these claims measure on them."""
