"""A WARC file of pages with structured data, as shops, papers and blogs write it, or of the same pages without it.

A page has some 35 kB of HTML. Of ten pages four have JSON-LD, three microdata, two RDFa (Open Graph), one
microformats2; half of all have a second syntax, too. The text around the data is in hundreds of nested elements with
classes, scripts and links.
"""

from __future__ import annotations

import json
import random
from io import BytesIO
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

__all__ = ["write_pages"]

_SEED = 20260106
_WORDS = """
the of and to in is for on with as by at from price order item news shop review author garden water paper stone river
Straße père señor 東京 город available shipping contact about history project results open
""".split()  # noqa: SIM905 - one line a word would hide the page
_KINDS = ("json-ld",) * 4 + ("microdata",) * 3 + ("rdfa",) * 2 + ("microformats2",)


def write_pages(path: Path, pages: int, *, marked_up: bool) -> None:
    """Write this many pages, always the same ones, with structured data or without."""
    chance = random.Random(_SEED)
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for number in range(pages):
            url = f"https://www.site{chance.randrange(400)}.example/{chance.choice(_WORDS)[:3]}/{number}.html"
            headers = StatusAndHeaders("200 OK", [("Content-Type", "text/html; charset=utf-8")], protocol="HTTP/1.1")
            body = _page(chance, url, _kinds(chance) if marked_up else set()).encode()
            date = {"WARC-Date": "2026-01-06T00:00:00Z"}
            record = writer.create_warc_record(
                url, "response", payload=BytesIO(body), http_headers=headers, warc_headers_dict=date
            )
            writer.write_record(record)


def _kinds(chance: random.Random) -> set[str]:
    return {chance.choice(_KINDS) for _ in range(chance.choice((1, 2)))}


def _page(chance: random.Random, url: str, kinds: set[str]) -> str:
    head = [f"<title>{_text(chance, 6)}</title>", "<script>var a = '<b>';\n" + "f(1 < 2);\n" * 200 + "</script>"]
    body = []
    if "json-ld" in kinds:
        head += [f'<script type="application/ld+json">{_json_ld(chance, url)}</script>' for _ in range(2)]
    if "rdfa" in kinds:
        head += [f'<meta property="og:{name}" content="{_text(chance, 4)}">' for name in ("title", "type", "site_name")]
        body += [_rdfa(chance) for _ in range(3)]
    if "microdata" in kinds:
        body += [_microdata(chance) for _ in range(12)]
    if "microformats2" in kinds:
        body += [_microformats(chance) for _ in range(8)]
    body += [_section(chance) for _ in range(45)]
    chance.shuffle(body)
    return f"<!DOCTYPE html><html lang=en><head>{''.join(head)}</head><body>{''.join(body)}</body></html>"


def _text(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(_WORDS, k=words))


def _section(chance: random.Random) -> str:
    links = "".join(
        f'<li class="nav-item"><a href="/p/{chance.random()}">{_text(chance, 2)}</a></li>' for _ in range(5)
    )
    return (
        f'<div class="row col-{chance.randrange(12)}"><ul class="nav">{links}</ul>'
        f'<div class="text"><p>{_text(chance, 25)}<br><em>{_text(chance, 5)}</em></p></div></div>\n'
    )


def _json_ld(chance: random.Random, url: str) -> str:
    return json.dumps(
        {
            "@context": "https://schema.org",
            "@type": "Product",
            "@id": f"{url}#{chance.randrange(10)}",
            "name": _text(chance, 4),
            "description": _text(chance, 40),
            "image": ["/a.jpg", "/b.jpg"],
            "brand": {"@type": "Brand", "name": _text(chance, 1)},
            "offers": {"@type": "Offer", "price": f"{chance.random() * 100:.2f}", "priceCurrency": "EUR"},
            "review": [
                {"@type": "Review", "author": _text(chance, 2), "reviewBody": _text(chance, 20)} for _ in range(3)
            ],
        }
    )


def _microdata(chance: random.Random) -> str:
    return (
        '<div itemscope itemtype="https://schema.org/Product">'
        f'<h2 itemprop="name">{_text(chance, 3)}</h2><img itemprop="image" src="/i/{chance.random()}.jpg">'
        '<div itemprop="offers" itemscope itemtype="https://schema.org/Offer">'
        f'<span itemprop="price">{chance.randrange(999)}</span><meta itemprop="priceCurrency" content="EUR"></div>'
        f'<p itemprop="description">{_text(chance, 15)}</p></div>\n'
    )


def _rdfa(chance: random.Random) -> str:
    return (
        '<div vocab="https://schema.org/" typeof="Article">'
        f'<h2 property="headline">{_text(chance, 5)}</h2>'
        f'<div property="author" typeof="Person"><span property="name">{_text(chance, 2)}</span></div>'
        f'<a property="url" href="/x/{chance.random()}">{_text(chance, 1)}</a></div>\n'
    )


def _microformats(chance: random.Random) -> str:
    return (
        '<article class="h-entry"><h2 class="p-name">'
        f'<a class="u-url" href="/e/{chance.random()}">{_text(chance, 4)}</a></h2>'
        '<time class="dt-published" datetime="2026-01-06T10:00:00Z">then</time>'
        f'<div class="p-author h-card"><span class="p-name">{_text(chance, 2)}</span></div>'
        f'<div class="e-content"><p>{_text(chance, 20)}</p></div></article>\n'
    )
