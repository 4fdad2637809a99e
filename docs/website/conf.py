"""Sphinx's settings for the site: see `website.build`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from website.links import has_course
from website.source_view import resolve

project = "grpo_ref"
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.linkcode",
    "myst_nb",
    "sphinx_design",
    "website.docstrings",
    "website.latex",
    "website.search_index",
    "website.source_view",
]
smartquotes_action = "D"
default_role = "py:obj"
linkcode_resolve = resolve
napoleon_numpy_docstring = napoleon_use_rtype = False
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
add_module_names = False
toc_object_entries_show_parents = "hide"
python_maximum_signature_line_length = 88

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
myst_url_schemes = {
    **dict.fromkeys(("http", "https", "mailto")),
    "source": {"url": "{{path}}"},
    "line": {"url": "{{path}}#{{fragment}}"},
}
nb_execution_mode = "off"  # the outputs are committed
nb_ipywidgets_js = {}
suppress_warnings = ["mystnb.unknown_mime_type", "misc.highlighting_failure"]

html_title = "grpo_ref"
html_theme = "pydata_sphinx_theme"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [(name, {"defer": "defer"}) for name in ("sort.js", "search_form.js")]
templates_path = ["templates"]
html_additional_pages = {"search": "search.html"}
html_use_index = False
html_favicon = "static/icon.svg"
html_show_sourcelink = html_copy_source = False
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "security": [], "changelog": []}
html_theme_options = {
    "navbar_align": "left",
    "navbar_center": [*["course"] * has_course(), "navbar-nav"],
    "header_links_before_dropdown": 7,
    "navbar_persistent": ["search-button"],  # the theme's wide field would wrap the header at 1200 px
    "footer_start": [],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "search_as_you_type": False,  # by the theme; static/search_form.js does it
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
