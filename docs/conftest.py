"""Exclude three files from the doctests: they need Sphinx, which the extra `docs` installs."""

collect_ignore = ["website/conf.py", "website/latex.py", "website/search_index.py"]
