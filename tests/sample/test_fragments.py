"""What templates declare of themselves, against html5lib's tokenizer."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from tests.sample.plain_reading import Reading, quick_tags, read_markup

from crawlmill.sample.dice import Dice
from crawlmill.sample.org_json import dumps
from crawlmill.sample.text.body_markup import DENSE, PROSE
from crawlmill.sample.text.fragments import Fragment, Template, fill
from crawlmill.sample.text.odd_markup import ODD
from crawlmill.sample.text.page_frames import ENDINGS, HEADS, SMALL_PAGE
from crawlmill.sample.text.prose import Phrase, lexicon
from crawlmill.sample.text.script_markup import SCRIPTS
from crawlmill.sample.text.vocabulary import LANGUAGES

INNER = (*PROSE, *DENSE, *SCRIPTS, *ODD)
FRAMES = (*HEADS, *ENDINGS, SMALL_PAGE)
SPOKEN = {language.code: lexicon(language, "UTF-8") for _, language in LANGUAGES}
GIVEN = {
    "title": Phrase("R&D <x> | İzmir", ("r", "d", "x", "i", "zmir")),
    "charset": Phrase("UTF-8", ()),
    "lang": Phrase("tr", ()),
    "host": Phrase("www.example.org", ()),
    "here": Phrase("http://www.example.org/?a=1&b=2", ()),
}


def filled(template: Template, code: str) -> tuple[Fragment, Reading]:
    fragment = fill(template, SPOKEN[code], Dice("test", code), GIVEN)
    readable = fragment.markup.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return fragment, read_markup(readable)


@pytest.mark.parametrize("code", ["en", "tr", "el", "ar", "ja"])
@pytest.mark.parametrize("template", [*INNER, *FRAMES], ids=lambda template: template.markup[:24].encode().hex())
def test_template_declares_its_tags_words_text_and_links(template, code):
    fragment, reading = filled(template, code)
    assert dict(fragment.tags) == dict(reading.tags)
    assert quick_tags(fragment.markup.encode("utf-8", "surrogateescape")) == reading.tags
    assert Counter(fragment.words) == Counter(re.findall(r"\w+", fragment.text.lower()))
    assert Counter(fragment.head.words) == Counter(re.findall(r"\w+", fragment.head.title.lower()))
    assert "".join((fragment.head.title + fragment.text).split()) == "".join(reading.text.split())
    assert [(link["path"], link["url"]) for link in json.loads(f"[{fragment.wat_links}]")] == reading.links


@pytest.mark.parametrize("template", INNER, ids=lambda template: template.markup[:24].encode().hex())
def test_template_within_a_page_leaves_the_tokenizer_in_the_data_state(template):
    fragment, _ = filled(template, "de")
    reading = read_markup(fragment.markup + "<last>")
    assert reading.ends_in_data
    assert reading.tags["last"] == 1


@pytest.mark.parametrize("template", [*HEADS, SMALL_PAGE], ids=lambda template: template.markup[:24])
def test_head_of_a_page_names_the_title_that_it_has(template):
    fragment, _ = filled(template, "tr")
    head = json.loads(fragment.head.wat)
    assert ("<title>" in fragment.markup.lower()) == ("Title" in head)
    assert all(meta["content"] for meta in head.get("Metas", ()))
    assert fragment.head.title == head.get("Title", "")


def test_fill_unknown_slot_is_an_error():
    with pytest.raises(ValueError, match="'texts'"):
        fill(Template("[[texts]]", ""), SPOKEN["en"], Dice(1))


def test_fill_the_same_slot_has_one_value_escaped_in_markup_only():
    fragment = fill(Template("<a title='[[title]]'>[[title]]", "a", "[[title]]"), SPOKEN["en"], Dice(1), GIVEN)
    assert fragment.markup == "<a title='R&amp;D &lt;x&gt; | İzmir'>R&amp;D &lt;x&gt; | İzmir"
    assert fragment.text == "R&D <x> | İzmir"


def test_org_json_escapes_what_the_library_escapes():
    value = {"a": "</b> é \u0085 \u2028 \u00a0 \u20ac \U0001f680", "n": [1, True, None]}
    expected = '{"a":"<\\/b> é \\u0085 \\u2028 \u00a0 \\u20ac \U0001f680","n":[1,true,null]}'
    assert dumps(value) == expected
    assert json.loads(dumps(value)) == value
