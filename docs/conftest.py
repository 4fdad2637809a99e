"""What of the documentation's code has no doctests to run: it is Sphinx's, whose extra need not be there."""

collect_ignore = ["website/conf.py", "website/latex.py"]
