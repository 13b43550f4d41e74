"""Templates of the main content of pages: running text, and dense markup with little text.

`PASSAGE` and `COMPONENT` are filled anew for each realistic page; the others are filled for the pools.
"""

from __future__ import annotations

from crawlmill.sample.text.fragments import Template
from crawlmill.sample.text.links import Link
from crawlmill.sample.text.triples import RDF_TYPE, Triple

__all__ = ["COMPONENT", "DENSE", "PASSAGE", "PROSE"]

PASSAGE = Template('<p class="t-[[number]]">[[passage]]</p>\n', tags="p", text="[[passage]]")

COMPONENT = Template(
    '<[[element]] data-id="[[token]]"><p>[[passage]]</p></[[element]]>\n', tags="[[element]] p", text="[[passage]]"
)

PROSE = (
    Template(
        "<p>[[text]] [[text2]]</p>\n<p>[[text3]]</p>\n",
        tags="p*2",
        text="[[text]] [[text2]]\n[[text3]]",
    ),
    Template(
        """<h2 id="s-[[number]]">[[label]]</h2>
<p class="lead">[[text]] <a href="[[url]]" title="[[label]]">[[label2]]</a> [[text2]] <em>[[label3]]</em></p>
""",
        tags="h2 p a em",
        text="[[label]]\n[[text]] [[label2]] [[text2]] [[label3]]",
        links=(Link("a", "[[url]]", {"title": "[[label]]"}, "[[label2]]"),),
    ),
    Template(
        "<ul>\n<li>[[text]]\n<li>[[text2]]\n<li><b>[[label]]</b>: [[text3]]\n</ul>\n",  # end tags may be left out
        tags="ul li*3 b",
        text="[[text]]\n[[text2]]\n[[label]]: [[text3]]",
    ),
    Template(
        """<BLOCKQUOTE CITE="[[url]]"><P ALIGN=left>[[text]]<BR>[[text2]]<BR/>
<FONT COLOR="#[[number]]" SIZE=-1>[[label]]</FONT></P></BLOCKQUOTE>
""",
        tags="blockquote p br*2 font",
        text="[[text]]\n[[text2]]\n[[label]]",
    ),
    Template(
        """<article itemscope itemtype="https://schema.org/Article" data-id='[[token]]'>
  <header><h3><a rel="bookmark" href='[[url]]'>[[label]]</a></h3>
  <time datetime="2026-01-0[[number]]T10:00:00Z">[[number2]]</time></header>
  <figure><img src="[[url2]]" alt="[[label2]]" loading="lazy" width="640" height="480">
  <figcaption>[[text]]</figcaption></figure>
  <section><p>[[text2]]</p><p>[[text3]] <strong>[[label3]]</strong> [[text4]]</p></section>
</article>
""",
        tags="article header h3 a time figure img figcaption section p*2 strong",
        text="[[label]]\n[[number2]]\n[[text]]\n[[text2]]\n[[text3]] [[label3]] [[text4]]",
        links=(
            Link("a", "[[url]]", {"rel": "bookmark"}, "[[label]]"),
            Link("img", "[[url2]]", {"alt": "[[label2]]", "loading": "lazy", "width": "640", "height": "480"}),
        ),
        triples=(Triple("microdata", "_:article", RDF_TYPE, "<https://schema.org/Article>"),),
    ),
    Template(
        "<dl>\n<dt>[[label]]</dt><dd>[[text]]</dd>\n<dt>[[label2]]<dd>[[text2]]\n</dl>\n<hr>\n",
        tags="dl dt*2 dd*2 hr",
        text="[[label]]\n[[text]]\n[[label2]]\n[[text2]]",
    ),
    Template(
        "<details open><summary>[[label]]</summary><p>[[text]]</p></details>\n<p>[[text2]] [[text3]] [[text4]]</p>\n",
        tags="details summary p*2",
        text="[[label]]\n[[text]]\n[[text2]] [[text3]] [[text4]]",
    ),
    Template(
        """<div class="comment" id="c[[number]]"><span class="author">[[label]]</span>
<div class="comment-body"><p>[[text]]<br />[[text2]]<br>
[[text3]]</p></div><a class="reply" rel="nofollow" href="[[url]]">[[label2]]</a></div>
""",
        tags="div*2 span p br*2 a",
        text="[[label]]\n[[text]]\n[[text2]]\n[[text3]]\n[[label2]]",
        links=(Link("a", "[[url]]", {"class": "reply", "rel": "nofollow"}, "[[label2]]"),),
    ),
    Template(
        "<p>[[label]] &copy; caf&eacute; &#26085;&#x672c; &amp;lt;b&amp;gt; 3 &lt; 4&nbsp;&gt;&nbsp;2</p>\n",
        tags="p",
        text="[[label]] © café 日本 &lt;b&gt; 3 < 4\u00a0>\u00a02",
        words="café 日本 lt b gt 3 4 2",
    ),
)

_CELLS = 6


def _row(number: int) -> str:
    cells = "".join(f'<td class="c{cell}">[[number{number}{cell}]]</td>' for cell in range(_CELLS - 2))
    link = f'<td><a href="[[url{number}]]"><span>[[label{number}]]</span></a></td>'
    return (
        f'<tr id="r[[token{number}]]" class="row">{link}{cells}<td><input type=checkbox name="k{number}"></td></tr>\n'
    )


def _row_text(number: int) -> str:
    return "\t".join([f"[[label{number}]]", *(f"[[number{number}{cell}]]" for cell in range(_CELLS - 2))])


def _links(count: int) -> tuple[Link, ...]:
    return tuple(Link("a", f"[[url{n}]]", text=f"[[label{n}]]") for n in range(count))


DENSE = (
    Template(
        f"""<table border=0 cellpadding=2><thead><tr><th>[[label]]</th><th>[[label99]]</th></tr></thead><tbody>
{"".join(map(_row, range(8)))}</tbody></table>
""",
        tags="table thead tr*9 th*2 tbody td*48 a*8 span*8 input*8",
        text="[[label]]\t[[label99]]\n" + "\n".join(map(_row_text, range(8))),
        links=_links(8),
    ),
    Template(
        '<nav role=navigation><ul class="menu">\n'
        + "".join(
            f'<li id="menu-item-[[number{n}]]" class="menu-item"><a href="[[url{n}]]">[[label{n}]]</a></li>\n'
            for n in range(12)
        )
        + "</ul></nav>\n",
        tags="nav ul li*12 a*12",
        text="\n".join(f"[[label{n}]]" for n in range(12)),
        links=_links(12),
    ),
    Template(
        '<div class="grid">\n'
        + "".join(
            f"""<div class="col"><div class="card"><div class="card-media"><picture><source srcset="[[url1{n}]] 2x">
<img src="[[url2{n}]]" alt=""></picture></div><div class="card-body"><h4><a href="[[url{n}]]">[[label{n}]]</a></h4>
<span class="price"><i></i>[[number{n}]]</span><button type="button" data-sku="[[token{n}]]"></button></div></div></div>
"""
            for n in range(3)
        )
        + "</div>\n",
        tags="div*13 picture*3 source*3 img*3 h4*3 a*3 span*3 i*3 button*3",
        text="\n".join(f"[[label{n}]]\n[[number{n}]]" for n in range(3)),
        links=tuple(
            link
            for n in range(3)
            for link in (
                Link("img", f"[[url2{n}]]", {"alt": ""}),
                Link("a", f"[[url{n}]]", text=f"[[label{n}]]"),
            )
        ),
    ),
    Template(
        '<form method=post action="[[url]]"><fieldset><legend>[[label]]</legend>\n<select name="country">'
        + "".join(f'<option value="[[number{n}]]">' for n in range(20))
        + """</select>
<label for=q></label><input type="text" id=q name=q value="<b> is no tag"><input type='hidden' value='[[token]]'/>
</fieldset></form>
""",
        tags="form fieldset legend select option*20 label input*2",
        text="[[label]]",
        links=(Link("form", "[[url]]", {"method": "post"}),),
    ),
    Template(
        '<x-gallery ratio="4:3">'
        + "".join(
            f"""<x-item.thumb data-key="[[token{n}]]"><slot name=a></slot><A HREF="[[url{n}]]">[[label{n}]]</A>
</x-item.thumb>"""
            for n in range(4)
        )
        + "</x-gallery>\n",
        tags="x-gallery x-item.thumb*4 slot*4 a*4",
        text="\n".join(f"[[label{n}]]" for n in range(4)),
        links=_links(4),
    ),
    Template(
        '<div class="tags">'
        + "".join(f'<a class="tag tag-[[number{n}]]" href="[[url{n}]]"><b>[[label{n}]]</b></a> ' for n in range(8))
        + '</div><map name="m"><area shape=rect coords="0,0,9,9" href="[[url]]"></map>\n',
        tags="div a*8 b*8 map area",
        text=" ".join(f"[[label{n}]]" for n in range(8)),
        links=(
            *(Link("a", f"[[url{n}]]", {"class": f"tag tag-[[number{n}]]"}, f"[[label{n}]]") for n in range(8)),
            Link("area", "[[url]]", {"shape": "rect", "coords": "0,0,9,9"}),
        ),
    ),
)
