"""Sphinx's settings for the Chinese pages: see `website.chinese`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from website.conf import *  # noqa: F403  (Sphinx reads the names of this module)

extensions = ["myst_nb", "sphinx_design", "website.latex"]
language = "zh_CN"
locale_dirs = [str(Path(__file__).parent)]
gettext_compact = False
html_static_path = ["../static"]
html_favicon = "../static/icon.svg"
templates_path = ["../templates"]
html_additional_pages = {}
html_sidebars = {"**": []}
html_theme_options = {**html_theme_options, "show_prev_next": False}  # noqa: F405
