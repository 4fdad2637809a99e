"""The site that `make site` builds from the documentation, the docstrings, the recipes and the notebooks."""
