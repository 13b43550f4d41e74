"""URLs of a grammar that knows what makes keys hard, the same ones for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterator

HOSTS = [
    *["example.com", "www.example.com", "WWW2.Example.ORG", "a.b.c.d.co.uk", "1.2.3.4", "127.1", "0177.1", "3232235777", "017", "1.2.3.08"],
    *["256.1.1.1", "1.2.3.4.5", "bücher.de", "faß.de", "日本.jp", "日本。jp", "xn--bcher-kva.de", "[::1]", "[2001:DB8::7]", "[1.2.3.4]"],
    *["localhost", "www", "www.", "www.com", "www.www1.com", "a_b.c", "-x.y", "x-.y", "a..b", "a...b", ".a.", "...", "%41.com", "%e9.com", "é%80.com", "%80"],
    *["a%2fb.com", "a%2eb.com", "%2e", "a%zz", "a,b.com", "a)b.com", "1a.com", "a.1", "a.1b", "0x7f.1", "١.com", "１.２.3.4", "ẞ.de", "İ.com", "ß", "\uffff.com"],
    "x\u00ad.com", "\u00ad.com", "a\u200bb.com", "a b.com", " ", "", "a" * 64 + ".com", "é" * 64 + ".com",
    "www.1.2.3.4", "www." + "1" * 30, "1" * 30, "é..com", ".é.com", "é.", "a.é.", "www.é.com", "WWW1.É.com",
]  # fmt: skip
USERS = ["", "", "", "", "", "user@", "user:pass@", "@", ":@", "a@b@", "u%40@"]
PORTS = ["", "", "", "", "", ":80", ":443", ":8080", ":", ":0", ":00080", ":65535"]
SCHEMES = [
    *["http://", "http://", "https://", "https://", "HTTP://", "Https://", "ftp://", "rtsp://", "//", "http:/", "http:", "http:///", "https:////", "/"],
    *["http://http://", "http://https://", "x-y.z+1://", "dns:", "urn:", "mailto:", "data:", "x:", "file:///", "whois://", "http:\\\\", "HTTP:", "1x://"],
    "",
]  # fmt: skip
SEGMENTS = [
    *["a", "A", "b.html", "INDEX.PHP", ".", "..", "...", ".x", "%20", "%2F", "%2f%2e%2e", "%2e", "%2E%2e", "%25", "%2525", "%zz", "%", "%4", "%41", "%c3%a9", "%C3%89", "%e9", "é", "É"],
    *["日本", "a+b", "~x", "%7E", "{x}", "[y]", "|", "\\", "^", "`", '"', "'", "<z>", "(p)", "!", "*", "$", "a;b", "a:b", "a@b", "a,b", "a=b", "a&b", "%3f", "%23", "%26", "%00", "%0a", "%7f"],
    "", "a b", "\x7f", "\x01", "(4hqa0555fwsecu455xqckv45)", "(S(4hqa0555fwsecu455xqckv45))", "x.aspx", ".aspx", "X.ASPX",
    ";jsessionid=0123456789abcdef0123456789abcdef",
]  # fmt: skip
ARGUMENTS = [
    *["a", "A", "b", "a=1", "a=2", "A=0", "b=%20", "b=+", "c=é", "c=%C3%A9", "=", "=x", "a==", "a=b=c", "x[]=1", "x[]=0", "x%5B%5D=1", "a-b", "a.b", "a!", "?", "/", "a/b", "ß", "İ=1", "#"],
    *["sid=123", "cfid=1&cftoken=2", "CFID=a&CFTOKEN=b", "cfid=1", "cftoken=2", "cfid=", "%26", "%3D", "%23", "&", "%", "%25", "%2541", 'q=<">'],
    "", " ", "a b", "sid=0123456789abcdef0123456789abcdef", "PHPSESSID=0123456789ABCDEF0123456789abcdef",
    "jsessionid=0123456789abcdef0123456789abcdef", "mysid=0123456789abcdef0123456789abcdef",
    "ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX",
]  # fmt: skip
FRAGMENTS = ["", "", "", "#", "#x", "#!y", "#a#b", "#?x", "#/../y"]


def generated_urls(number: int, seed: int = 1) -> Iterator[str | bytes]:
    """URLs, a tenth of them cut bytes that need not be UTF-8."""
    dice = random.Random(seed)
    for _ in range(number):
        url = dice.choice(SCHEMES) + dice.choice(USERS) + dice.choice(HOSTS) + dice.choice(PORTS)
        if dice.random() < 0.85:
            for _ in range(dice.randrange(5)):
                url += "/" + "".join(dice.choices(SEGMENTS, k=dice.choice([1, 1, 1, 2, 3])))
        if dice.random() < 0.5:
            url += "?" + "&".join(dice.choices(ARGUMENTS, k=dice.randrange(5)))
        url += dice.choice(FRAGMENTS)
        if dice.random() < 0.05:
            url = dice.choice([" ", "\t", "\n", "\r\n", "\x0b", "\x00"]) + url
        if dice.random() < 0.05:
            url += dice.choice([" ", "\t", "\n", "\r\n", "\x0b", "\x00"])
        if dice.random() < 0.05:
            at = dice.randrange(len(url) + 1)
            url = url[:at] + dice.choice("\t\n\r \x00%/?#@:[]é&=") + url[at:]
        yield url.encode()[: dice.randrange(1, 80)] if dice.random() < 0.1 else url
