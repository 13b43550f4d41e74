"""Templates of scripts and style sheets, full of text that looks like tags."""

from __future__ import annotations

from crawlmill.sample.text.fragments import Template
from crawlmill.sample.text.links import Link
from crawlmill.sample.text.triples import RDF_TYPE, Triple

__all__ = ["SCRIPTS"]

_STATE = ",".join(
    f'"k[[number{n}]]":{{"id":"[[token{n}]]","html":"<div class=\\"w\\"><p>[[number1{n}]]<\\/p><\\/div>","n":{n}}}'
    for n in range(10)
)
_CODE = "".join(
    f"""function f[[number{n}]](a,b){{if(a<b&&b>c){{return"<li>"+a+"</li>"}}
for(var i=0;i<a.length;i++)if(a[i]<"a")b.push(a[i]);
var t=a<d,s='<span data-t="[[token{n}]]">'+(t?"<i>":'<b>')+"</span>";return e.innerHTML=s,t<<[[number{n}]]>>>1}}
"""
    for n in range(6)
)

SCRIPTS = (
    Template(f"<script>window.__STATE__={{{_STATE}}};</script>\n", tags="script"),
    Template(f'<SCRIPT type="text/javascript">\n//<![CDATA[\n{_CODE}//]]>\n</SCRIPT >\n', tags="script"),
    Template(
        """<script language="JavaScript"><!--
document.write("<table><tr><td>[[number]]</td></tr></table>");
document.write('<script src="/ads/[[token]].js"></script>');
document.write("<img src='/pixel?[[token2]]'>");
//--></script>
""",  # inside <!--, a nested script start tag claims the next script end tag
        tags="script",
    ),
    Template(
        """<script>document.write("<scr"+"ipt src='/a/[[token]].js'><\\/scr"+"ipt>");if(1<2&&3>2)x="</"+"div>";</script>
<noscript><img height="1" width="1" style="display:none" src="[[url]]"/></noscript>
""",
        tags="script noscript img",
        links=(Link("img", "[[url]]", {"height": "1", "width": "1", "style": "display:none"}),),
    ),
    Template(
        """<script type="application/ld+json">
{"@context": "https://schema.org", "@type": "Product", "sku": "[[token]]", "name": "[[label]]",
 "description": "<p><b>[[label2]]</b> costs <i>[[number]]</i></p>", "offers": [{"price": "[[number2]]"}]}
</script>
""",
        tags="script",
        triples=tuple(
            Triple("json-ld", subject, predicate, term)
            for subject, predicate, term in (
                ("_:product", RDF_TYPE, "<http://schema.org/Product>"),
                ("_:product", "<http://schema.org/sku>", '"[[token]]"'),
                ("_:product", "<http://schema.org/name>", '"[[label]]"'),
                ("_:product", "<http://schema.org/description>", '"<p><b>[[label2]]</b> costs <i>[[number]]</i></p>"'),
                ("_:product", "<http://schema.org/offers>", "_:offer"),
                ("_:offer", "<http://schema.org/price>", '"[[number2]]"'),
            )
        ),
    ),
    Template(
        """<script type="text/x-template" id="t-[[number]]"><div v-if="a < b"><ul><li v-for="x in y">{{ x }}</li></ul>
<textarea></textarea><style>p{}</style></div></script>
""",
        tags="script",
    ),
    Template(
        '<script src="[[url]]" async/></script><script SRC=/js/[[token]].js></script>\n',
        tags="script*2",
        links=(Link("script", "[[url]]", {"async": ""}), Link("script", "/js/[[token]].js")),
    ),
    Template(
        """<style media="screen">.a[data-x="<b>"]:before{content:"<u>[[number]]</u>"}
.c-[[token]]>a{background:url("data:image/svg+xml,<svg xmlns='x'><path d='M[[number2]]'/></svg>")}/* <hr> --></style>
""",
        tags="style",
    ),
    Template(
        """<script>var data="[[token]][[token2]][[token3]][[token4]][[token5]][[token6]][[token7]][[token8]][[token9]]";
(function(w,d){var u="[[token10]]",r=d.referrer||"";w["q"]=w["q"]||[];w.q.push([u,r,"<a href=#>"]);})(window,document);
</script x="y">
""",
        tags="script",
    ),
)
