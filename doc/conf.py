"""Settings of the documentation's site: ``python -m sphinx -W -n doc doc/_build``."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import site_pages

import skdisc

os.environ.setdefault("OMP_NUM_THREADS", "1")

project = "skdisc"
author = "The skdisc developers"
copyright = "The skdisc developers. BSD 3-Clause license"
version = release = skdisc.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.extlinks",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinxcontrib.bibtex",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "auto_examples/*.ipynb",
    "**/sg_execution_times.rst",
    "sg_execution_times.rst",
]
templates_path = ["_templates"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r"(?!skdisc).*")]  # their inventories need a network

# Pages in Markdown, which also read well without a site.
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist", "attrs_inline"]
myst_heading_anchors = 4
mathjax_path = "mathjax/tex-svg.js"

extlinks = {"doi": ("https://doi.org/%s", "doi:%s")}

# Pages of the public names.
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
default_role = "code_or_name"
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": site_pages.runnable_examples(),
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "ignore_repr_types": r"Display|matplotlib",  # the picture is shown
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 10_000,
    "plot_gallery": "True",
    "parallel": 2,
    "doc_module": ("skdisc",),
    "backreferences_dir": "generated/backreferences",
    "reset_modules": ("matplotlib",),
    "default_thumb_file": str(Path(__file__).parent / "audit" / "page.png"),
}

html_theme = "pydata_sphinx_theme"
html_title = "skdisc"
html_static_path = ["_static", "generated/static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_context = {"default_mode": "auto"}
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "skdisc"},
    "header_links_before_dropdown": 5,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": False,
}
html_sidebars = {"index": []}


def setup(app):
    """Connect what makes pages of the package and adapts those of the repository."""
    site_pages.connect(app)
