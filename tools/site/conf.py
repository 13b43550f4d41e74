"""Sphinx's configuration of the site; `build.py` calls it. Nothing in the pages comes from another place."""

from crawlmill import __version__

project = "Crawlmill"
author = "the Crawlmill contributors"
version = release = __version__

extensions = ["myst_parser"]
root_doc = "index"
exclude_patterns = ["policies"]
nitpicky = True

myst_heading_anchors = 4  # as GitHub names headings
myst_links_external_new_tab = False
suppress_warnings = ["misc.highlighting_failure"]  # output with … in it is not quite JSON

html_theme = "furo"
html_title = f"Crawlmill {release}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_show_search_summary = False  # it would be fetched, which a browser refuses to pages from files
