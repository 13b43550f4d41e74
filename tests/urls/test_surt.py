"""Keys of URLs: by the rules' own tests, as real indexes have them, and as the program `surt` makes them."""

from __future__ import annotations

import gzip
import re
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data import shared
from tests.urls.generated import generated_urls

from crawlmill.urls.surt import urlkey, urlkey_bytes

# From the tests of webarchive-commons (Apache-2.0), whose rules these are, WaybackURLKeyMakerTest. Its `dns:` is left
# out: there the indexes follow `surt`.
RULES = {
    "": "-",
    "dskgfljsdlkgjslkj": "dskgfljsdlkgjslkj)/",
    "filedesc:foo.arc.gz": "filedesc:foo.arc.gz",
    "filedesc:/foo.arc.gz": "filedesc:/foo.arc.gz",
    "filedesc://foo.arc.gz": "filedesc://foo.arc.gz",
    "warcinfo:foo.warc.gz": "warcinfo:foo.warc.gz",
    "http://archive.org/": "org,archive)/",
    "http://archive.org/goo/": "org,archive)/goo",
    "http://archive.org/goo/?": "org,archive)/goo",
    "http://archive.org/goo/?b&a": "org,archive)/goo?a&b",
    "http://archive.org/goo/?a=2&b&a=1": "org,archive)/goo?a=1&a=2&b",
    "http://archive.org:/": "org,archive)/",
    "https://34.203.211.192/robots.txt": "192,211,203,34)/robots.txt",
    "https://[2600:1f18:200d:fb00:2b74:867c:ab0c:150a]/robots.txt": "2600:1f18:200d:fb00:2b74:867c:ab0c:150a)/robots.txt",
}

CASES = {
    "http://www.Example.com:80/A/../b/?y=2&x=1#top": "com,example)/b?x=1&y=2",
    "https://example.com:443/": "com,example)/",
    "http://example.com:443/": "com,example:443)/",
    "http://example.com:0443/": "com,example:443)/",
    "https://WWW.1.2.3.255:80/%C3%A9/?%C3%A9=%E9&b": "255,3,2,1:80)/%c3%a9?%c3%a9=%e9&b",
    "http://1.2.3.4:80/a?c=%E9&b=%8F": "4,3,2,1)/a?b=%8f&c=%e9",
    "http://www.com/": "com)/",
    "http://www/": "www)/",
    "http://[::1]/": "::1)/",
    "http://faß.de/": "de,fass)/",
    "http://256.1.1.1/": "1,1,1,256)/",  # not an address: nobody asks the DNS
    "http://127.1/": "1,0,0,127)/",
    "http://3232235777/": "1,1,168,192)/",
    "http://example.com/%2541%c3%a9%E9": "com,example)/a%c3%a9%e9",
    "http://example.com/a\tb c": "com,example)/ab%20c",
    "http://example.com/?mysid=0123456789abcdef0123456789abcdef&z": "com,example)/?myz",
    "http://example.com/(S(4hqa0555fwsecu455xqckv45))/x.aspx": "com,example)/x.aspx",
    "urn:uuid:A": "urn:uuid:a",
    "http:///example.com/x": "com,example)/x",
}

WITHOUT_A_KEY = {
    "http://example.com:port/2": "http://example.com:port/2",
    "http://Example.com:99999/ x": "http://example.com:99999/%20x",
    "http://example.com:٣/": "http://example.com:%d9%a3/",
    " ": "-",
    "filedesc://a b": "filedesc://a%20b",
}


@pytest.fixture(scope="module")
def keys_of_surt():
    """[(URL, what `surt` says of it)]; None where it raises: ports that are no ports, and blanks.

    For it only numbers have addresses: where it would ask the DNS, it does not get there. It takes longer than we do,
    so it is asked once for both cores.
    """
    surt = pytest.importorskip("surt", reason="surt, the oracle of keys, is not installed").surt

    def resolved(host):
        try:
            return host, [], [socket.inet_ntoa(socket.inet_aton(host.decode() if isinstance(host, bytes) else host))]
        except OSError:
            raise socket.gaierror(socket.EAI_NONAME, "no name is looked up") from None

    def said(url):
        try:
            key = surt(url)
        except (ValueError, AttributeError):
            return None
        return key if isinstance(key, str) else key.decode()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "gethostbyname_ex", resolved)
        return [(url, said(url)) for url in generated_urls(100_000)]


@pytest.mark.parametrize(("url", "key"), [*RULES.items(), *CASES.items()])
def test_urls_have_the_keys_of_the_rules(url, key):
    assert urlkey(url) == key
    assert urlkey(url.encode()) == key


@pytest.mark.parametrize(("url", "key"), WITHOUT_A_KEY.items())
def test_what_the_rules_have_no_key_for_is_its_own(url, key):
    assert urlkey(url) == key


def test_keys_of_the_golden_urls_are_those_of_surt():
    lines = gzip.decompress(shared("indexes/urlkeys.tsv.gz").read_bytes()).decode().split("\n")[:-1]
    pairs = [line.split("\t") for line in lines]
    assert len(pairs) > 12_000
    assert [(url, urlkey(url)) for url, _ in pairs] == [(url, key) for url, key in pairs]


def test_keys_of_real_lines_of_common_crawl():
    for line in shared("indexes/commoncrawl.cdxj").read_text().splitlines():
        assert urlkey(re.search(r'"url": "([^"]+)"', line)[1]) == line.split(" ")[0]


@pytest.mark.slow
def test_keys_of_generated_urls_are_those_of_surt(keys_of_surt):
    compared = 0
    for url, wanted in keys_of_surt:
        if wanted is None:
            assert re.fullmatch(r"[!-~]+", urlkey(url))  # we give those a key too
            continue
        assert urlkey(url) == wanted, url
        compared += 1
    assert compared > 99_000


@given(
    st.one_of(
        st.binary(), st.text(), st.binary().map(lambda rest: b"http://" + rest), st.text("ab.%2541/?&=#:[]@é\ud800")
    )
)
def test_nothing_raises_and_keys_are_printable_and_their_own_fixed_form(url):
    key = urlkey(url)
    assert re.fullmatch(r"[!-~]+", key)
    assert urlkey_bytes(key.encode()).isascii()


@pytest.mark.parametrize(
    "url",
    [
        b"http://a.com/" + b"%25" * 100_000,
        b"http://a.com/%" + b"25" * 200_000,
        b"http://a.com/x.aspx" + b"/(4hqa0555fwsecu455xqckv45)" * 20_000,
        b"http://a.com/?" + b"cfid=" * 100_000 + b"&cftoken=" * 100_000,
        b"http://a.com/?" + b"sid=0123456789abcdef0123456789abcdef&" * 20_000,
        b"http://" + "é".encode() * 200_000 + b".com/",
        b"http://" + b"1" * 500_000 + b"/",
        b"http://a.com:" + b"0" * 500_000 + b"1/",
        b"http://a.com" + b"/.." * 200_000,
        b"http://" * 100_000,
        b"http://" + b"a." * 200_000 + b"1/",
        b"http://" + b"1." * 200_000 + b"a/",
        b"http://a.com/?" + b"id=" * 2_000_000,
    ],
    ids=range(13),
)
def test_hostile_urls_take_time_by_their_length_alone(url):
    assert re.fullmatch(r"[!-~]+", urlkey(url))  # in quadratic time this test would take hours
