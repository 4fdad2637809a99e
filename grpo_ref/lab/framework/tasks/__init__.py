"""Toy tasks that several claims share, one file for each task, with the measures of these claims."""
