"""The site: what `make site` makes of the documentation, the docstrings, the recipes and the notebooks."""
