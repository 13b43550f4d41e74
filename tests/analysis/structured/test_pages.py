"""What pages say, as the specifications have it; expected graphs are written by hand."""

from __future__ import annotations

import json
import random

import pytest
from pyoxigraph import RdfFormat, parse
from tests.analysis.structured.graphs import MF, RDF, graph, said, skipped

from crawlmill import core
from crawlmill.analysis.structured import json_ld, quads
from crawlmill.analysis.structured.markup import FORMATS, formats_in

S = "http://schema.org/"
PAGE = "http://example.com/dir/page"
USES = "http://www.w3.org/ns/rdfa#usesVocabulary"


def triples(*lines: str) -> set[str]:
    return graph("".join(f"{line} .\n" for line in lines))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            (f'<base href="/b/"><p lang=fr itemscope itemtype={S}T itemid=me><b itemprop="a a {S}z">un</b>'
            '<a itemprop=u href=" http://x.example ">x</a><time itemprop=t>2026-01-17</time><data itemprop=n value=1.5>'),
            [f"<http://example.com/b/me> <{RDF}type> <{S}T>", f'<http://example.com/b/me> <{S}a> "un"@fr',
             f'<http://example.com/b/me> <{S}z> "un"@fr', f"<http://example.com/b/me> <{S}u> <http://x.example>",
             f'<http://example.com/b/me> <{S}t> "2026-01-17"^^<http://www.w3.org/2001/XMLSchema#date>',
             f'<http://example.com/b/me> <{S}n> "1.5"^^<http://www.w3.org/2001/XMLSchema#double>'],
        ),
        (  # items that refer to each other, and what a template holds, which is no part of the page
            ('<i id=a itemscope itemref=b><b itemprop=n>1</b></i><i id=b itemprop=p itemscope itemref="a b">2</i>'
            "<template><i itemscope><b itemprop=n>no</b></i></template>"),
            [f'_:a <{PAGE}#n> "1"', f"_:a <{PAGE}#p> _:b"],
        ),
        (
            (f'<div vocab={S} resource=#me typeof=Person><b property=name>N</b><a property=url href=u>x</a>'
            '<span rel=knows><i typeof=Person><b property=name>F</b></i></span></div>'),
            [f"<{PAGE}> <{USES}> <{S}>", f"<{PAGE}#me> <{RDF}type> <{S}Person>", f'<{PAGE}#me> <{S}name> "N"',
             f"<{PAGE}#me> <{S}url> <http://example.com/dir/u>", f"<{PAGE}#me> <{S}knows> _:f",
             f"_:f <{RDF}type> <{S}Person>", f'_:f <{S}name> "F"'],
        ),
        (  # Open Graph, a link that is RDFa, and links that are not
            ('<meta property="og:title" content="T"><link rel="https://api.w.org/" href=/json>'
            '<a rel="nofollow" href=x>x</a><a rel=license href=/l>l</a>'),
            [f'<{PAGE}> <http://ogp.me/ns#title> "T"', f"<{PAGE}> <https://api.w.org/> <http://example.com/json>",
             f"<{PAGE}> <http://www.w3.org/1999/xhtml/vocab#license> <http://example.com/l>"],
        ),
        (
            '<p about=#l><b property="foaf:name" inlist>1</b><b property="foaf:name" inlist>2</b></p>',
            [f"<{PAGE}#l> <http://xmlns.com/foaf/0.1/name> _:1", f'_:1 <{RDF}first> "1"', f"_:1 <{RDF}rest> _:2",
             f'_:2 <{RDF}first> "2"', f"_:2 <{RDF}rest> <{RDF}nil>"],
        ),
        (  # as Crawlmill documents it: no number, blank node or text of a script is that of another
            ('<script type="application/LD+json; x=y">{"@context":["https://www.schema.org/",{"x":"http://x.example/"}],'
            '"@id":"#a","@type":"Event","url":"/u","startDate":"2026","x:n":[1e400,"\\ud83d\\ude42","\\ud800"]}</script>'
            '<script type=application/ld+json>{not json}</script>'
            '<script type=application/ld+json>[{"@context":{"@vocab":"http://v.example/"},"@id":"_:b","a":1}]</script>'
            '<script type=application/ld+json>[{"@context":{"@vocab":"http://v.example/"},"@id":"_:b","a":2}]</script>'),
            [f"<{PAGE}#a> <{RDF}type> <{S}Event>", f"<{PAGE}#a> <{S}url> <http://example.com/u>",
             f'<{PAGE}#a> <{S}startDate> "2026"^^<{S}Date>',
             f'<{PAGE}#a> <http://x.example/n> "1.0E400"^^<http://www.w3.org/2001/XMLSchema#double>',
             f'<{PAGE}#a> <http://x.example/n> "\U0001f642"',
             '_:1 <http://v.example/a> "1"^^<http://www.w3.org/2001/XMLSchema#integer>',
             '_:2 <http://v.example/a> "2"^^<http://www.w3.org/2001/XMLSchema#integer>'],
        ),
        (
            ('<div class="h-entry"><p class="p-author h-card"><a href=/a>Ann</a></p><div class="e-content"><b>x</b></div>'
            '<i class="h-card">Bob</i><a class="u-url" href="p?q">x</a><b class="dt-published"><i class="value">2026-01-02'
            '</i> <i class="value">7:05pm</i></b></div>'),
            [f"_:e <{RDF}type> <{MF}h-entry>", f"_:e <{MF}author> _:a", f"_:a <{RDF}type> <{MF}h-card>",
             f'_:a <{MF}name> "Ann"', f"_:a <{MF}url> <http://example.com/a>",
             f'_:e <{MF}content> "<b>x</b>"^^<{RDF}HTML>', f"_:e <{MF}children> _:b",
             f"_:b <{RDF}type> <{MF}h-card>", f'_:b <{MF}name> "Bob"', f"_:e <{MF}url> <http://example.com/dir/p?q>",
             f'_:e <{MF}published> "2026-01-02 19:05"'],
        ),
        (  # classic names mean what they meant, in classic items only; nothing is implied in them
            ('<div class=hentry><h1 class="entry-title p-note">T</h1><a rel=bookmark href=/p>p</a>'
            '<a rel=tag href=/tags/a%20b/>t</a><p class="author vcard"><b class=fn>A</b></p></div>'),
            [f"_:e <{RDF}type> <{MF}h-entry>", f'_:e <{MF}name> "T"', f"_:e <{MF}url> <http://example.com/p>",
             f'_:e <{MF}category> "a b"', f"_:e <{MF}author> _:a", f"_:a <{RDF}type> <{MF}h-card>",
             f'_:a <{MF}name> "A"'],
        ),
    ],
    ids=["microdata", "itemref", "rdfa", "open-graph", "list", "json-ld", "microformats2", "classic"],
)  # fmt: skip
def test_page_says(html, expected):
    assert graph(said(html)) == triples(*expected)


def test_terms_that_are_none_cost_their_own_triple():
    html = (
        f'<p itemscope itemtype="{S}T http://bad<type>" lang=en_US><b itemprop=a>lost</b><b itemprop=b lang=en>kept</b>'
        '<a itemprop=u href="http://[bad">x</a></p>'
        '<script type=application/ld+json>{"@id":"http://bad iri/","http://p.example/p":"lost"}</script>'
    )
    assert graph(said(html)) == triples(f"_:a <{RDF}type> <{S}T>", f'_:a <{S}b> "kept"@en')


@pytest.mark.parametrize(
    "markup",
    [
        '<a property="s:url" href="my page.html">x</a>',
        '<p about="http://x.example/a b"><b property="s:name">x</b></p>',
        '<p about="http://x.example/a b" property="s:name">x</p>',
        '<p rel="s:part" resource="a b"><b property="s:name">x</b></p>',
        '<p rel="s:part" inlist resource="a b"></p>',
        '<p about="http://x.example/a b"><b property="s:name" inlist>x</b></p>',
        '<p property="s:part" typeof="s:T" resource="a b"><b property="s:name">x</b></p>',
    ],
)
def test_triples_of_a_resource_that_is_no_iri_are_lost_and_not_said_of_another(markup):
    html = f'<div prefix="s: {S}">{markup}<b property="s:kept">y</b></div>'
    assert graph(said(html)) == triples(f'<{PAGE}> <{S}kept> "y"')


def test_a_relation_whose_resource_means_nothing_waits_for_its_object():
    """RDFa Core, sections 7.4.2 and 7.5, step 10: a CURIE in brackets that is none is ignored, like its attribute."""
    html = '<div prefix="s: http://s.example/" rel="s:r" resource="[none]"><b about="#z">x</b></div>'
    assert graph(said(html)) == triples(f"<{PAGE}> <http://s.example/r> <{PAGE}#z>")


def test_an_about_that_means_nothing_is_there_all_the_same():
    # Test 0297 of the suite of RDFa 1.1.
    html = '<div prefix="f: http://f.example/" about="[]" typeof="f:T" property="f:name">A</div>'
    assert graph(said(html)) == triples(
        f'<{PAGE}> <http://f.example/name> "A"', f"_:a <{RDF}type> <http://f.example/T>"
    )


def test_lists_within_a_relation_are_those_of_its_object():
    # Test 0226 of the suite of RDFa 1.1, and the same for an object that is not named.
    html = '<div vocab="http://v/"><p property=l inlist>a</p><div rel=r{}><p property=l inlist>b</p></div></div>'
    for attribute, term in ((" resource=res", "<http://example.com/dir/res>"), ("", "_:o")):
        expected = [
            f"<{PAGE}> <{USES}> <http://v/>", f"<{PAGE}> <http://v/l> _:a", f'_:a <{RDF}first> "a"', f"_:a <{RDF}rest> <{RDF}nil>",
            f"<{PAGE}> <http://v/r> {term}", f"{term} <http://v/l> _:b", f'_:b <{RDF}first> "b"', f"_:b <{RDF}rest> <{RDF}nil>",
        ]  # fmt: skip
        assert graph(said(html.format(attribute))) == triples(*expected)


def test_only_the_blanks_of_html_separate_names():
    """By the DOM, "split on ASCII whitespace": a no-break space, a vertical tab and others are part of a name."""
    html = (
        f'<p itemscope itemtype="{S}T"><b itemprop="a\u00a0b c">1</b></p>'
        f'<p about="{S}x" typeof="{S}T\u2003{S}U"><b property="{S}a\u3000b {S}c">2</b></p>'
        '<p class="h-x\u00a0h-y h-z"><b class="p-a\u00a0b p-c">3</b></p>'
    )
    assert graph(said(html)) == triples(
        f"_:m <{RDF}type> <{S}T>", f'_:m <{S}a\u00a0b> "1"', f'_:m <{S}c> "1"',
        f"<{S}x> <{RDF}type> <{S}T\u2003{S}U>", f'<{S}x> <{S}a\u3000b> "2"', f'<{S}x> <{S}c> "2"',
        f"_:f <{RDF}type> <{MF}h-z>", f'_:f <{MF}c> "3"',
    )  # fmt: skip


def test_a_base_in_a_template_is_not_that_of_the_page():
    html = (
        '<template><base href="http://no.example/"></template><base href="/b/"><p itemscope><a itemprop="x:u" href=c>'
    )
    assert graph(said(html)) == triples("_:p <x:u> <http://example.com/b/c>")


def test_the_term_html_of_the_context_of_schema_org_is_a_datatype():
    script = '{"@context":"https://schema.org","@id":"x:s","text":{"@value":"<b>","@type":"HTML"}}'
    assert graph(said(f'<script type="application/ld+json">{script}</script>')) == triples(
        f'<x:s> <{S}text> "<b>"^^<{RDF}HTML>'
    )


@pytest.mark.parametrize(
    "script",
    [
        '{"@id":"x:s","x:p":"o","x:lost":{"@value":"1","@type":"http://a b/"}}',
        '{"@context":{"@base":"http://a b/"},"@id":"x:s","x:p":"o"}',
        '{"@id":"x:s","x:p":"o","x:n":{"@value":"1","@type":"http://a b/"},"x:m":{"@id":"http://[/"}}',
        '{"@id":"x:s","x:p":"o","x:p":"o"}',
    ],
)
def test_a_term_of_json_ld_that_is_no_iri_costs_its_own_triple_only(script):
    assert graph(said(f'<script type="application/ld+json">{script}</script>')) == triples('<x:s> <x:p> "o"')


def test_unknown_contexts_and_what_is_no_json_ld_are_counted_by_script():
    scripts = ['{"@context":"http://x.example/c"}', '[{"@context":{"@import":"/x"}}]', "nonsense", "5", "[" * 20_000]
    html = "".join(f"<script type=application/ld+json>{text}</script>" for text in scripts)
    found = skipped(html)
    assert found.pop("too-deep", 0) + found.pop("bad-json-ld") == 3
    assert found == {"unknown-context": 2}


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        ("<i itemscope>" + "<i itemprop=a itemscope>" * 3000, "too-deep"),
        ('<i about=#a property=p typeof=t>' * 3000, "too-deep"),
        ('<i class="h-card p-a">' * 3000, "too-deep"),
        ('<script type=application/ld+json>{"@context":{"@vocab":"http://v/"}' + ',"a":{"b":1' * 600 + "}" * 601
         + "</script>", "too-deep"),
        ("<i itemscope>" + f'<b itemprop=a>{"x" * 4_000}' * 250, "too-large"),
        ("<p " + " ".join(f"xmlns:p{n}=http://x/" for n in range(1500)) + ">" + "<b vocab=x xmlns:q=y>" * 300,
         "too-large"),
        ("".join(f'<i id=r{n} itemprop=p itemscope itemref="{" ".join(f"r{k}" for k in range(150))}"></i>'
                 for n in range(150)) + '<i itemscope itemref=r0></i>', "too-large"),
        ('<p itemscope>' + '<i itemprop="x:a">' * 100 + "<template></template>" * 300, "too-large"),
        ('<i property="foaf:name">' * 100 + "<template></template>" * 300, "too-large"),
        ('<p class="h-x">' + '<i class="p-a">' * 100 + "<img>" * 300, "too-large"),
    ],
    ids=["items", "rdfa", "microformats", "nodes", "bytes", "prefixes", "references",
         "texts of items", "texts of rdfa", "texts of microformats"],
)  # fmt: skip
def test_pages_that_mean_harm_cost_bounded_work_and_the_reason_is_counted(html, reason, monkeypatch):
    monkeypatch.setattr(quads, "MAX_STEPS", 20_000)
    monkeypatch.setattr(json_ld, "MAX_DEPTH", 100)
    monkeypatch.setattr(quads, "MAX_PAGE_BYTES", 10 << 20)
    good = '<script type=application/ld+json>{"@id":"http://a.example/","http://p.example/p":"ok"}</script>'
    assert skipped(good + html) == {reason: 1}
    assert '<http://a.example/> <http://p.example/p> "ok"' in said(good + html)


def chain(length, *, closed=False, inner=None):
    """A context whose term `t0` is defined by `t1`, that by `t2`, and so on; the last holds a context of its own."""
    terms = {f"t{n}": f"t{n + 1}:x" for n in range(length)}
    last = "t0:x" if closed else "http://x.example/"
    return terms | {f"t{length}": last if inner is None else {"@id": last, "@context": inner}}


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        (chain(490), None),
        (chain(20_000), "too-deep"),
        (chain(20_000, closed=True), "too-deep"),
        ([{}, chain(501)], "too-deep"),
        (chain(1, inner=chain(300, inner=chain(300))), "too-deep"),
        ({"t1": "http://x.example/"} | {f"u{n}": "t1:y" for n in range(3000)} | {"t0": "t1:x"}, None),
    ],
    ids=["usual", "long", "circle", "list", "nested", "wide"],
)
def test_terms_that_are_defined_by_terms_do_not_overflow_the_stack(context, reason):
    # Such a script has ended the whole process: pyoxigraph follows the definitions on the stack.
    html = f"<script type=application/ld+json>{json.dumps({'@context': context, 't0': 'v'})}</script>"
    assert skipped(html) == ({reason: 1} if reason else {})
    assert ('"v"' in said(html)) == (reason is None)


@pytest.mark.parametrize(
    ("html", "formats"),
    [
        ("<p>itemprop rel=nofollow <a rel='stylesheet' class='high-5 geology'>", ()),
        ("<script>if (typeof x == 'property') h-card</script>", ()),
        ("<P ITEMSCOPE ITEMTYPE = x>", ("microdata",)),
        ("a=class=h-card; data-vocab=x; .property=y", ()),
        ("<p\nTypeOf = x>", ("rdfa",)),
        ("<a rel='nofollow license'>", ("rdfa",)),
        ("<a rel=x:y>", ("rdfa",)),
        ("<a rel='&#108;icense'>", ("rdfa",)),
        ("<script type='application/LD+JSON'>", ("json-ld",)),
        ("<script type='application/ld&#43;json'>", ("json-ld",)),
        ("<p class='a\nh-card'>", ("microformats2",)),
        ('<p class="x\'y>z h-1-card">', ("microformats2",)),
        ("<p class=vcard>", ("microformats2",)),
        ("<p class='h&#45;card'>", ("microformats2",)),
    ],
)
def test_bytes_tell_which_formats_a_page_may_hold(html, formats, monkeypatch):
    assert formats_in(html.encode(), frozenset(FORMATS)) == formats
    monkeypatch.setattr(core, "native", lambda: None)
    assert formats_in(html.encode(), frozenset(FORMATS)) == formats


def test_both_cores_find_the_same_formats_in_whatever_looks_like_markup(monkeypatch):
    words = ["class", "REL", "rev", "type", "property", "typeof", "itemprop", "vocab", "h-card", "adr", "x:y", "&#45;",
             "license", "ld+json", "a", "=", "=", "=", " ", "\n", '"', "'", "/", ">", "<"]  # fmt: skip
    choose = random.Random(20)
    pages = ["".join(choose.choices(words, k=30)).encode() for _ in range(3000)]
    found = [formats_in(page, frozenset(FORMATS)) for page in pages]
    assert len(set(found)) > 5
    monkeypatch.setattr(core, "native", lambda: None)
    assert found == [formats_in(page, frozenset(FORMATS)) for page in pages]


def test_blank_nodes_are_named_after_the_capture_and_the_format():
    html = "<p itemscope><b itemprop=a>x</b></p><p class=h-card>x</p>"
    assert said(html, formats=("microformats2",)) in said(html)
    assert not {line.split(" ")[0] for line in said(html).splitlines()} & {
        line.split(" ")[0] for line in said(html, "http://example.com/other").splitlines()
    }


def test_graph_of_a_page_whose_uri_is_no_iri_is_the_nearest_that_is_one():
    assert said("<p itemscope itemid=http://a.example/ itemtype=http://t.example/>", "http://e.example/a b|c") == (
        f"<http://a.example/> <{RDF}type> <http://t.example/> <http://e.example/a%20b%7Cc> .\n"
    )


def test_images_are_texts_of_p_properties_only():
    """By microformats2 parsing: in `p-`, the `alt` of an image, or else its resolved `src`; in `u-` and `dt-`, nothing."""
    html = (
        '<div class="h-x"><p class="p-a">1<img src="i.png">2<img src="j.png" alt="J">3<img></p>'
        '<p class="u-b">c<img src="i.png" alt="no"></p><p class="dt-d">2026-01-02<img src="i.png"></p></div>'
    )
    assert graph(said(html)) == triples(
        f"_:x <{RDF}type> <{MF}h-x>", f'_:x <{MF}a> "1 http://example.com/dir/i.png 2J3"',
        f"_:x <{MF}b> <http://example.com/dir/c>", f'_:x <{MF}d> "2026-01-02"',
    )  # fmt: skip


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        ('<p itemscope><b itemprop="x:p">A<template>B<i>C</i></template><i>D</i>E</b></p>', ["ADE"]),
        ('<p itemscope><template itemprop="x:p">A</template></p>', [""]),
        ('<p about="x:s"><b property="x:p">A<template>B<i>C</i></template><i>D</i>E</b></p>', ["ADE"]),
        ('<p class="h-card"><b class="p-name">A<template>B</template><img alt="C">D</b></p>', ["ACD"]),
        ('<p class="h-card">A<template class="p-name">B</template></p>', ["A"]),
        (
            '<p class="h-card"><b class="p-name">A<template class="value">B</template><i class="value">C</i></b></p>',
            ["C"],
        ),
        ('<p class="h-card"><b class="p-name">A<template><i class="value">B</i></template></b></p>', ["A"]),
        ('<p class="h-card">A<template class="h-card">B</template></p><template class="h-card">C</template>', ["A"]),
    ],
)
def test_contents_of_templates_are_no_text(page, texts):
    """By the DOM: "the descendant text content of a node" knows no template contents."""
    found = [quad.object.value for quad in parse(said(page), format=RdfFormat.N_QUADS) if "#type" not in str(quad)]
    assert found == texts
