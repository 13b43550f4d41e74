"""Both cores count the same: tags of any page, words of any text, in the Unicode version of this interpreter."""

from __future__ import annotations

import random
import re
import sys
import threading
from collections import Counter

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.analysis.test_html_tokenizer import FOREIGN, FOREIGN_FRAGMENTS, FRAGMENTS, PAGES
from tests.builders import pack, response

from crawlmill import core
from crawlmill.analysis.html_tokenizer import start_tag_names
from crawlmill.analysis.servers import wat_servers
from crawlmill.analysis.words import WordCounter
from crawlmill.errors import FormatError

native = pytest.importorskip("crawlmill_native", reason="the native core is not installed")

thorough = settings(derandomize=True, deadline=None, database=None, max_examples=1500)


def tags(page: bytes) -> dict[str, int]:
    counter = native.TagCounter()
    counter.add(page)
    return dict(counter.drain())


def tags_in_python(page: bytes) -> Counter[str]:
    names = (name.lower().replace(b"\0", b"\xef\xbf\xbd") for name in start_tag_names(page))
    return Counter(name.decode("utf-8", "replace") for name in names)


@pytest.mark.parametrize(("page", "names"), [pytest.param(*case[1:], id=case[0]) for case in PAGES + FOREIGN])
def test_tags_of_hand_counted_page_are_found(page, names):
    assert tags(page) == Counter(name.lower() for name in names.split(" ") if names)


@thorough
@given(st.lists(st.sampled_from(FRAGMENTS + FOREIGN_FRAGMENTS), max_size=40).map(b"".join))
def test_tags_in_markup_soup_are_those_of_python(page):
    assert tags(page) == tags_in_python(page)


@thorough
@given(st.text("<>/!-='\" abps\0\t\f\xe9ctriy", max_size=60).map(lambda text: text.encode("latin-1")))
def test_tags_in_any_few_bytes_are_those_of_python(page):
    assert tags(page) == tags_in_python(page)


def test_tags_in_long_markup_soup_and_its_cuts_are_those_of_python():
    chance = random.Random(20260118)
    for _ in range(1500):
        page = b"".join(chance.choices(FRAGMENTS + FOREIGN_FRAGMENTS, k=chance.randint(20, 80)))
        assert tags(page) == tags_in_python(page), page
        page = page[: chance.randrange(len(page) + 1)]
        assert tags(page) == tags_in_python(page), page


def test_tags_of_hostile_pages_take_linear_time():
    # A reader that goes back for each "<" would take hours.
    for unit in (b"<", b'<a "', b"<a '>", b"<!--", b"<!-- -", b"<script><!--<script", b"</script", b"<title>", b"<a=",
                 b"<svg><title/>", b"<?", b"</a ", b"<!", b"-", b'<a b="', b"<script><!--"):  # fmt: skip
        for lead in (b"", b"<script>", b"<title>", b"<!--", b"<script><!--", b"<a b='"):
            tags(lead + unit * (200_000 // len(unit)) + b'">')


@pytest.mark.parametrize("length", [*range(1, 12), *range(30, 36)])
def test_names_of_every_length_are_told_apart(length):
    names = ["x" * length, "x" * (length - 1) + "y", "x" * length + "\0", "x" * (length + 1)]
    page = "".join(f"<{name}><{name.upper()} >" for name in names).encode()
    assert tags(page) == {name.replace("\0", "\ufffd"): 2 for name in names}


def words(*texts: str | bytes, add: str = "add") -> dict[str, list[int]]:
    counter = native.WordCounter(True)
    for text in texts:
        getattr(counter, add)(text)
    return dict(counter.drain())


def words_in_python(*texts: str) -> dict[str, list[int]]:
    found = [Counter(re.findall(r"\w+", text.lower())) for text in texts]
    both: dict[str, list[int]] = {}
    for counts in found:
        for word, number in counts.items():
            both.setdefault(word, [0, 0])
            both[word][0] += number
            both[word][1] += 1
    return both


def test_every_character_of_unicode_counts_as_in_python():
    for start in range(0, sys.maxunicode + 1, 4096):
        text = "".join(f"{chr(code)} a{chr(code)}B " for code in range(start, start + 4096) if code != 0x3A3)
        assert words(text) == words_in_python(text), hex(start)


anything = st.one_of(
    st.text(), st.text("aΣσς'\u00ad. Əİıſß“”\u00a0_é\ud800\udfffǅ\u1e9e\u212a\0"),
    st.lists(st.one_of(st.text("abcXYZ09_ .,-'<\n\x1c", max_size=30), st.text(max_size=2))).map("".join),
)  # fmt: skip


@thorough
@given(st.lists(anything, max_size=3))
def test_words_of_any_texts_are_those_of_python(texts):
    assert words(*texts) == words_in_python(*texts)


@settings(thorough, max_examples=500)
@given(st.one_of(st.binary(), anything.map(lambda text: text.encode("utf-8", "surrogatepass"))))
def test_words_of_bytes_are_those_of_their_text(data):
    assert words(data, add="add_utf8") == words_in_python(data.decode("utf-8", "replace"))


@pytest.mark.parametrize("letter", ["x", "é", "漢", "\U00020000"])
def test_words_of_every_length_are_told_apart(letter):
    texts = [letter * length + " " + letter * (length - 1) + "y" for length in range(1, 40)]
    assert words(*texts) == words_in_python(*texts)
    long = [letter * (1 << 20), letter * (1 << 20) + "y"]
    assert words(*long, *long) == {word: [2, 2] for word in long}


@pytest.mark.parametrize("name", ["python", "native"])
def test_counter_takes_bytes_as_it_takes_their_text(monkeypatch, name):
    monkeypatch.setenv("CRAWLMILL_CORE", name)
    core.native.cache_clear()
    counter = WordCounter(document_frequency=True)
    counter.add_utf8("Wörter ".encode() + b"\xff" + b"a\xc3")
    counter.add("a wörter")
    core.native.cache_clear()
    assert dict(counter.drain()) == {"wörter": [2, 2], "a": [2, 2]}


def test_counter_is_drained_at_once_and_goes_on():
    counter = native.WordCounter()
    counter.add("a b")
    drained = counter.drain()
    assert len(counter) == 0
    counter.add("c")
    assert dict(drained) == {"a": 1, "b": 1}
    assert list(drained) == []
    assert dict(counter.drain()) == {"c": 1}


def test_what_is_no_text_or_page_is_refused():
    for add, wrong in (
        (native.TagCounter().add, ("<a>", None, bytearray(b"<a>"))),
        (native.WordCounter().add, (b"a", None, 1)),
        (native.WordCounter().add_utf8, ("a", None)),
    ):
        for value in wrong:
            with pytest.raises(TypeError):
                add(value)


def test_position_outside_of_the_data_is_no_harm():
    reader = native.RecordReader(None)
    for at in (0, 1, 10, 1 << 40, sys.maxsize, 2 * sys.maxsize + 1):
        assert reader.read(b"\x1f\x8b\x08\0", at, True) == (at, 0, [])
    for at in (-1, 1 << 70):
        with pytest.raises(OverflowError):
            reader.read(b"", at, True)
    with pytest.raises(TypeError):
        reader.read(bytearray(), 0, True)


def test_reader_says_when_it_must_see_more():
    member = pack([response("http://example.org/", b"x" * 100)])
    reader = native.RecordReader(["request"])
    for data, ended, read, short in (
        (member, False, 0, True),
        (member, True, len(member), False),
        (member + member[:4], False, len(member), True),
        (member + member[:3], False, 0, True),  # what follows may be a part of it
        (member + member[:4] + b"x" * 30, True, len(member), False),
        (b"", False, 0, True),
        (b"x" * 30, False, 0, False),
    ):
        assert reader.read(data, 0, ended)[0] == read
        assert reader.short == short


def test_counters_of_threads_do_not_disturb_each_other():
    page, text, found = b"<p><a href='x'>" * 50_000, "ein wört " * 50_000, []

    def count():
        pages, texts = native.TagCounter(), native.WordCounter()
        for _ in range(3):
            pages.add(page)
            texts.add(text)
        found.append((dict(pages.drain()), dict(texts.drain())))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [({"p": 150_000, "a": 150_000}, {"ein": 150_000, "wört": 150_000})] * 4


def wat(headers: str, kind: str = '"WARC-Type":"response"') -> bytes:
    payload = f'"HTTP-Response-Metadata":{{"Response-Message":{{"Status":"200"}},"Headers":{headers}}}'
    return f'{{"Envelope":{{"Payload-Metadata":{{{payload}}},"WARC-Header-Metadata":{{{kind}}}}}}}'.encode()


def both_servers(monkeypatch, envelope: bytes):
    found: list[object] = []
    for name in ("python", "native"):
        monkeypatch.setenv("CRAWLMILL_CORE", name)
        core.native.cache_clear()
        try:
            found.append(wat_servers(envelope))
        except FormatError as error:
            found.append((error.reason, str(error)))
    monkeypatch.undo()
    core.native.cache_clear()
    return found


TOKENS = st.sampled_from([
    '{', '}', '[', ']', ',', ':', '"', '\\"', '\\', '\\n', '\\u0041', ' ', '\t', '\x01', 'é', '1', 'null', '"Server"', '"server":"a"',
    '"SERVER "', '"b"', '"Date":"x"', '"a}"', '"Headers":{', '"WARC-Type":"response"', '"HTTP-Response-Metadata":{', '{}', '\ud800',
])  # fmt: skip
soup = st.lists(TOKENS, max_size=12).map("".join)
members = st.lists(
    st.tuples(st.sampled_from(['"Server"', '"server"', '" SERVER"', '"X"', '"\\u0053erver"', '"Sérver"']),
              st.sampled_from(['"a"', '" a "', '"b\\"c"', '""', '["a","d"]', '["a",1]', '[]', '1', 'null', '{"x":"y"}', '"ü"', '"}"', '"\\/"']))
    .map(":".join), max_size=4,
).map(lambda found: "{" + ",".join(found) + "}")  # fmt: skip
KINDS = ['"WARC-Type":"response"', '"WARC-Type":"revisit"', "", '"X":"y"', '"WARC-Type":["response"]', '"WARC-Type":1',
         '"WARC-Type":"response","WARC-Type":"request"']  # fmt: skip
envelopes = st.one_of(
    st.builds(wat, members, st.sampled_from(KINDS)),
    st.builds(wat, soup.map(lambda text: text.encode("utf-8", "replace").decode()), st.sampled_from(KINDS)),
    soup.map(lambda text: b"{" + text.encode("utf-8", "surrogatepass") + b"}"),
    st.builds(lambda text, at, byte: text[:at] + bytes([byte]) + text[at:],
              st.builds(wat, members), st.integers(0, 200), st.integers(0, 255)),
)  # fmt: skip


@settings(thorough, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(envelope=envelopes)
@example(envelope=wat("{{", '"WARC-Type":"revisit"'))
def test_servers_of_any_wat_record_are_those_of_python(monkeypatch, envelope):
    in_python, natively = both_servers(monkeypatch, envelope)
    assert natively == in_python


def test_usual_wat_records_are_read_natively():
    for headers, servers in (
        ("{}", [None]),
        ('{"Date":"x","server":["a","b","a"]}', ["a", "b"]),
        ('{"Server":" "}', [None]),
    ):
        assert native.wat_servers(wat(headers)) == servers
    assert native.wat_servers(wat("{}", '"WARC-Type":"request"')) is None
    assert native.wat_servers(b'{"Envelope":{}}') is None
    assert native.wat_servers(b"") is NotImplemented
