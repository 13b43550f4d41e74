"""Templates of markup that is easily counted wrong: comments, raw text, attribute values, foreign content, broken tags.

Each begins and ends in the tokenizer's data state, so fragments can be combined in any order. Others, such as an
unclosed comment, only occur at the end of a page.
"""

from __future__ import annotations

from crawlmill.sample.text.fragments import Template
from crawlmill.sample.text.links import Link

__all__ = ["ODD"]

ODD = (
    Template("<!-- <table><tr><td>[[number]]</td></tr></table> -->\n<!-- [[token]] -- > <q> -->\n", tags=""),
    Template("<!--><s>[[label]]</s><!---><u>[[label2]]</u>\n", tags="s u", text="[[label]] [[label2]]"),
    Template("<!-- [[label]] --!><em>[[label2]]</em><!-- a--b <b> ---->\n", tags="em", text="[[label2]]"),
    Template(
        """<!--[if lt IE 9]><script src="/html5shiv.js"></script><![endif]-->
<![if !IE]><p>[[text]]</p><![endif]>
""",
        tags="p",
        text="[[text]]",
    ),
    Template(
        """<a title="<img src=x>" href='[[url]]' data-y="it's > that" data-x=<hr>[[label]]</a
><A HREF=[[token]]/>[[label2]]</A>
""",
        tags="a*2",
        text="[[label]] [[label2]]",
        links=(
            Link("a", "[[url]]", {"title": "<img src=x>", "data-y": "it's > that", "data-x": "<hr"}, "[[label]]"),
            Link("a", "[[token]]/", text="[[label2]]"),
        ),
    ),
    Template(
        "<textarea rows=3 name=t><b>[[label]]</b> <!-- <i> </textareas> </textarea><kbd>[[label2]]</kbd>\n",
        tags="textarea kbd",
        text="[[label2]]",
    ),
    Template(
        """<iframe src="[[url]]" width=1><p>no</p></iframe><noembed><em>no</em></noembed><noframes><tt>no</noframes>
<xmp><h1>no</h1></xmp >
""",
        tags="iframe noembed noframes xmp",
        links=(Link("iframe", "[[url]]", {"width": "1"}),),
    ),
    Template(
        """<svg viewBox="0 0 9 9" xmlns:xlink="http://www.w3.org/1999/xlink"><title>t</title><style>.a{}</style>
<linearGradient id="g[[number]]"/><path d="M[[number2]],0"/><svg:rect/>
<foreignObject><p>[[label]]</p></foreignObject></svg>
""",
        tags="svg title style lineargradient path svg:rect foreignobject p",
        text="[[label]]",
    ),
    Template(
        "<math><mi>x</mi><mo>&lt;</mo><mn>[[number]]</mn></math><ruby>[[label]]<rp>(<rt>[[label2]]<rp>)</ruby>\n",
        tags="math mi mo mn ruby rp*2 rt",
        text="x<[[number]]\n[[label]]([[label2]])",
        words="x",
    ),
    Template(
        "<my-element a><x.y:z w=1><o:p>&nbsp;</o:p></x.y:z></My-Element><MY-ELEMENT/>\n",
        tags="my-element*2 x.y:z o:p",
    ),
    Template(
        "<p>1<2 <3 < [[number]] <> </> <_a> <1b> &lt;c></p>\n",
        tags="p",
        text="1<2 <3 < [[number]] <> <_a> <1b> <c>",
        words="1 2 3 _a 1b c",
    ),
    Template("<div<p>[[label]]</div<p><b <i>[[label2]]</b\n>\n", tags="div<p b", text="[[label]] [[label2]]"),
    Template(
        "<?php echo '<b>'; ?><?xml version='1.0'?></ <b><samp>[[label]]</samp>\n",  # the first comment ends in <b>
        tags="samp",
        text="'; ?>[[label]]",
    ),
    Template("<![CDATA[ [[token]] <k>]]>[[label]]<!DOCTYPE html>\n", tags="", text="]]>[[label]]"),
    Template("</div x=\"<b>\"></p a='>'><kbd>[[label]]</kbd></br>\n", tags="kbd", text="[[label]]"),
    Template(
        "<font =x=y><font a = '>' ><font a=''b c=\"\"d>[[label]]</font></font></font><br/><BR\n/><bR\tclass=x><br/x>\n",
        tags="font*3 br*4",
        text="[[label]]",
    ),
    Template(
        "<center><marquee><blink>[[label]]</blink></marquee></center>"
        '<img src=[[token]].gif alt=a>b><img/src="[[url]]">\n',
        tags="center marquee blink img*2",
        text="[[label]]\nb>",
        words="b",
        links=(Link("img", "[[token]].gif", {"alt": "a"}), Link("img", "[[url]]")),
    ),
    Template(
        "<p><strong><em>[[label]]</strong></em></p></table></td><tr><td><h1/><h1 x>[[label2]]</h2>\n",
        tags="p strong em tr td h1*2",
        text="[[label]]\n[[label2]]",
    ),
    Template(
        "<été><aÉb title=[[token]]><tag-é>[[label]]</tag-é>"
        "<b data-mojibake='caf\udce9 \udcff\udcfe'></b><!-- \udc80 -->\n",  # surrogates stand for stray bytes
        tags="aÉb tag-é b",
        text="<été>[[label]]",
        words="été",
        utf8_only=True,
    ),
)
