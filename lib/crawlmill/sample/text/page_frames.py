"""Templates of the beginnings and ends of pages, complete or broken.

In addition to the usual slots they have `title`, `charset`, `lang`, `host` and `here` (the page's own address).
"""

from __future__ import annotations

from crawlmill.sample.text.fragments import Template
from crawlmill.sample.text.links import Head, Link
from crawlmill.sample.text.triples import Triple

__all__ = ["ENDINGS", "HEADS", "SMALL_PAGE"]

HEADS = (
    Template(
        """<!DOCTYPE html>
<html lang="[[lang]]">
<head>
<meta charset="[[charset]]">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>[[title]]</title>
<meta name="description" content="[[text]]">
<meta property="og:title" content="[[title]]">
<link rel="canonical" href="[[here]]">
<link rel="stylesheet" type="text/css" href="/assets/[[token]].css">
<script src="/assets/[[token2]].js" defer></script>
<style>body{margin:0}a>b{color:red}</style>
</head>
<body class="page-[[number]]">
<header><h1>[[title]]</h1></header>
<main>
""",
        tags="html head meta*4 title link*2 script style body header h1 main",
        text="[[title]]",
        links=(
            Link("link", "[[here]]", {"rel": "canonical"}),
            Link("link", "/assets/[[token]].css", {"rel": "stylesheet", "type": "text/css"}),
            Link("script", "/assets/[[token2]].js", {"defer": ""}),
        ),
        triples=(Triple("rdfa", "<>", "<http://ogp.me/ns#title>", '"[[title]]"@[[lang]]'),),
        head=Head(
            "[[title]]",
            metas=(
                {"charset": "[[charset]]"},
                {"name": "viewport", "content": "width=device-width, initial-scale=1"},
                {"name": "description", "content": "[[text]]"},
                {"property": "og:title", "content": "[[title]]"},
            ),
        ),
    ),
    Template(
        """<?xml version="1.0" encoding="[[charset]]"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="[[lang]]"><head><title>[[title]]</title>
<meta http-equiv="Content-Type" content="text/html; charset=[[charset]]" />
<base href="http://[[host]]/" /><link rel="shortcut icon" href="/favicon.ico" />
</head><body><div id="wrapper"><h1>[[title]]</h1>
""",
        tags="html head title meta base link body div h1",
        text="[[title]]",
        links=(Link("link", "/favicon.ico", {"rel": "shortcut icon"}),),
        head=Head(
            "[[title]]",
            metas=({"http-equiv": "Content-Type", "content": "text/html; charset=[[charset]]"},),
            base="http://[[host]]/",
        ),
    ),
    Template(
        """<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">
<HTML><HEAD><META HTTP-EQUIV="content-type" CONTENT="text/html; charset=[[charset]]">
<META NAME="generator" CONTENT="<none>"><TITLE>[[title]] <b>not bold</b> <!-- nor this --></TITLE>
<SCRIPT LANGUAGE="JavaScript"><!--
if (top.location < "") document.write("<BASE TARGET=_top>"); // [[token]]
//--></SCRIPT></HEAD>
<BODY BGCOLOR="#FFFFFF"><CENTER><H1>[[label]]</H1></CENTER>
""",
        tags="html head meta*2 title script body center h1",
        text="[[label]]",
        head=Head(
            "[[title]] <b>not bold</b> <!-- nor this -->",
            "b not bold b nor this",
            metas=(
                {"http-equiv": "content-type", "content": "text/html; charset=[[charset]]"},
                {"name": "generator", "content": "<none>"},
            ),
        ),
    ),
    Template(
        "<h1>[[title]]</h1>\n<p>[[text]] [[text2]]\n",  # without head and body, as HTML allows
        tags="h1 p",
        text="[[title]]\n[[text]] [[text2]]",
        head=Head(),
    ),
)

_FOOTER = """<footer><p>&#169; 2026 <a href="/">[[label]]</a> [[token]] [[token2]] <!-- served in [[number]] ms --></p>
<p class=note>[[text]]</p></footer>
"""
_FOOTER_TAGS = " footer p*2 a"
_FOOTER_TEXT = "© 2026 [[label]] [[token]] [[token2]]\n[[text]]"
_FOOTER_LINKS = (Link("a", "/", text="[[label]]"),)


def _ending(last: str, tags: str = "", text: str = "", words: str = "") -> Template:
    return Template(_FOOTER + last, tags + _FOOTER_TAGS, _FOOTER_TEXT + text, f"2026 {words}", _FOOTER_LINKS)


# The first is how most pages end. Nothing after an unclosed comment, script, tag or attribute value counts.
ENDINGS = (
    _ending("</main></body>\n</html>\n"),
    _ending("</BODY></HTML>\n<!-- [[token3]] -->"),
    _ending(""),
    _ending("<!-- never closed <b><i>[[token3]]</i>\n</body></html>\n"),
    _ending("<script>var last = '<b>[[token3]]</b>';\n</body></html>\n", "script"),
    _ending("<ul><li><ins class='never closed>[[token3]]</ins></ul>\n</body></html>\n", "ul li"),
    _ending("<ol><i", "ol"),
    _ending("<tt></tt><", "tt", "\n<"),
    _ending("<style>b{}</styles><b>\n</body>", "style"),
    _ending("<plaintext>[[label2]]</plaintext><b>", "plaintext", "\n[[label2]]</plaintext><b>", "plaintext b"),
)

# The body of a redirect or an error.
SMALL_PAGE = Template(
    """<html>
<head><title>[[title]]</title></head>
<body>
<center><h1>[[title]]</h1></center>
<hr><center>[[label]]</center>
<p>[[text]] <A HREF="[[here]]">[[label2]]</A>.</p>
</body>
</html>
""",
    tags="html head title body center*2 h1 hr p a",
    text="[[title]]\n[[label]]\n[[text]] [[label2]].",
    links=(Link("a", "[[here]]", text="[[label2]]"),),
    head=Head("[[title]]"),
)
