"""HTML documents of the sample crawl, composed of fragments, with what must be counted in them.

Filling templates is slow, so documents are composed from pools of filled ones for each language and charset; only the
beginning and the end of a document are its own, and in a realistic crawl some paragraphs full of rare words.
"""

from __future__ import annotations

from dataclasses import dataclass

from crawlmill.sample.dice import Dice
from crawlmill.sample.text.body_markup import COMPONENT, DENSE, PASSAGE, PROSE
from crawlmill.sample.text.fragments import FilledHead, Fragment, Template, fill
from crawlmill.sample.text.odd_markup import ODD
from crawlmill.sample.text.page_frames import ENDINGS, HEADS, SMALL_PAGE
from crawlmill.sample.text.prose import Lexicon, Phrase, label, lexicon
from crawlmill.sample.text.script_markup import SCRIPTS
from crawlmill.sample.text.triples import Triple, numbered
from crawlmill.sample.text.vocabulary import LANGUAGES, Language

__all__ = ["Document", "Library"]

_GROUPS: tuple[tuple[Template, ...], ...] = (PROSE, DENSE, SCRIPTS, ODD)
_PROSE = 0
# Of ten fragments of a document, how many are prose, dense markup, scripts and oddities.
_STYLES = ((8, 0, 1, 1), (7, 1, 1, 1), (5, 1, 3, 1), (3, 5, 1, 1), (3, 1, 5, 1), (1, 1, 7, 1))
_VARIANTS = 6
_SIZES = 500  # the smallest size in bytes, and the ratio of the largest to it
_SCALE = 3  # for realistic pages: those of real crawls have 100 to 130 KB on average
_PASSAGES = 2 / 5  # of the prose of a realistic page
_COMPONENTS = 1 / 8  # of those, within a custom element
_MARKS = {"UTF-16LE": b"\xff\xfe", "UTF-16BE": b"\xfe\xff"}


@dataclass(frozen=True, slots=True)
class Document:
    """An HTML document: its bytes, and the fragments it was made of, in order."""

    content: bytes
    fragments: tuple[Fragment, ...]
    charset: str
    languages: tuple[Language, ...]

    @property
    def head(self) -> FilledHead:
        """The head of the document."""
        return self.fragments[0].head

    def text(self) -> str:
        """The visible text, line by line, with the title first."""
        return f"{self.head.title}\n{self.body_text()}" if self.head.title else self.body_text()

    def body_text(self) -> str:
        """The visible text without the title."""
        return "\n".join([fragment.text for fragment in self.fragments if fragment.text]) + "\n"

    def triples(self) -> tuple[Triple, ...]:
        """The triples in the page's structured data; all of them are different."""
        return tuple(numbered(fragment.triples for fragment in self.fragments))


class Library:
    """Composes documents; holds the pools of filled templates for the languages and charsets used so far.

    `realistic`: documents are three times as large, with words as varied as those of real pages.
    """

    def __init__(self, seed: int, *, realistic: bool = False) -> None:
        self._seed = seed
        self._realistic = realistic
        self._scale = _SCALE if realistic else 1
        self._lexicons: dict[tuple[str, str], Lexicon] = {}
        self._pools: dict[tuple[str, str], tuple[tuple[Fragment, ...], ...]] = {}

    def document(self, dice: Dice, *, host: str, here: str, charset: str = "") -> Document:
        """A page of 500 bytes to 250 KB, about 40 KB on average, in the given charset or one that its language uses.

        Realistic ones are three times as large.
        """
        language = _language(dice, charset)
        charset = charset or _charset(language, dice)
        head, ending = dice.pick(HEADS), dice.pick(ENDINGS) if dice.chance(0.3) else ENDINGS[0]
        pools = [self._pool(language, charset)]
        languages = [language]
        other = _language(dice, charset)
        if charset == "UTF-8" and other is not language and dice.chance(0.15):
            languages.append(other)
            pools.append(self._pool(other, charset))
        given = self._given(language, charset, dice, host, here)
        first = fill(head, self._lexicon(language, charset), dice, given)
        size = _SIZES * _SIZES ** dice.random() * self._scale - len(first.markup)
        inner = _chosen(pools, size, dice, self._lexicon(language, charset) if self._realistic else None)
        last = fill(ending, self._lexicon(languages[-1], charset), dice, given)
        return self._assembled((first, *inner, last), charset, languages)

    def small_document(self, dice: Dice, title: str, words: tuple[str, ...], *, host: str, here: str) -> Document:
        """The page sent with a redirect or an error."""
        language = LANGUAGES[0][1]
        given = self._given(language, "UTF-8", dice, host, here) | {"title": Phrase(title, words)}
        page = fill(SMALL_PAGE, self._lexicon(language, "UTF-8"), dice, given)
        return self._assembled((page,), "UTF-8", [language])

    def plain_text(self, dice: Dice) -> str:
        """Some lines that could be mistaken for markup, in UTF-8, for bodies that are not HTML."""
        pool = self._pool(_language(dice, "UTF-8"), "UTF-8")
        return "".join(dice.pick(dice.pick(pool)).text + "\n<p>" for _ in range(dice.between(1, 12)))

    def _assembled(self, fragments: tuple[Fragment, ...], charset: str, languages: list[Language]) -> Document:
        markup = "".join([fragment.markup for fragment in fragments])
        codec = self._lexicon(languages[0], charset).codec
        # Surrogates stand for stray bytes in pages that are otherwise UTF-8.
        content = _MARKS.get(charset, b"") + markup.encode(codec, "surrogateescape" if charset == "UTF-8" else "strict")
        return Document(content, fragments, charset, tuple(languages))

    def _given(self, language: Language, charset: str, dice: Dice, host: str, here: str) -> dict[str, Phrase]:
        known = self._lexicon(language, charset)
        name, site = label(known, dice), label(known, dice)
        return {
            "title": Phrase(f"{name.text} | {site.text}", name.words + site.words),
            "charset": Phrase(charset, ()),
            "lang": Phrase(language.code, ()),
            "host": Phrase(host, ()),
            "here": Phrase(here, ()),
        }

    def _lexicon(self, language: Language, charset: str) -> Lexicon:
        key = (language.code, charset)
        if key not in self._lexicons:
            self._lexicons[key] = lexicon(language, charset)
        return self._lexicons[key]

    def _pool(self, language: Language, charset: str) -> tuple[tuple[Fragment, ...], ...]:
        key = (language.code, charset)
        if key not in self._pools:
            known = self._lexicon(language, charset)
            dice = Dice(self._seed, "pool", *key)
            self._pools[key] = tuple(
                tuple(
                    fill(template, known, dice, shared=True)
                    for template in group
                    if charset == "UTF-8" or not template.utf8_only
                    for _ in range(_VARIANTS * self._scale)  # so that longer pages are not more repetitive
                )
                for group in _GROUPS
            )
        return self._pools[key]


def _language(dice: Dice, charset: str) -> Language:
    """A language written in the charset; any if no charset is given or all languages can use it."""
    options = [
        (weight, language)
        for weight, language in LANGUAGES
        if not charset or charset in language.charsets or charset in _MARKS
    ]
    drawn = dice.below(sum(weight for weight, _ in options))
    for weight, language in options:
        drawn -= weight
        if drawn < 0:
            return language
    raise ValueError(f"no language is written in {charset!r}")


def _charset(language: Language, dice: Dice) -> str:
    common, *others = (charset for charset in language.charsets if charset != "ISO-2022-JP")
    return dice.pick(others) if others and dice.chance(0.2) else common


def _chosen(
    pools: list[tuple[tuple[Fragment, ...], ...]], size: float, dice: Dice, rich: Lexicon | None
) -> tuple[Fragment, ...]:
    """Fragments with about this many characters in total: from the first pool, then from the others.

    With a rich lexicon, some prose is generated from it instead of taken from the pools.
    """
    shares = dice.pick(_STYLES)
    groups = [group for group, share in enumerate(shares) for _ in range(share)]
    chosen: list[Fragment] = []
    left = size
    while left > 0:
        pool = pools[-1] if left < size / 3 else pools[0]
        group = dice.pick(groups)
        if rich is not None and group == _PROSE and dice.chance(_PASSAGES):
            fragment = fill(COMPONENT if dice.chance(_COMPONENTS) else PASSAGE, rich, dice)
        else:
            fragment = dice.pick(pool[group])
        chosen.append(fragment)
        left -= len(fragment.markup)
    return tuple(chosen)
