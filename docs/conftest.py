"""Exclude four files from the doctests: they need Sphinx, which the extra `docs` installs."""

collect_ignore = ["website/build.py", "website/conf.py", "website/latex.py", "website/search_index.py"]
