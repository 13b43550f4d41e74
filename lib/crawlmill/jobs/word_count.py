"""Count words."""

from __future__ import annotations

from crawlmill.analysis.words import WordCounter
from crawlmill.mr import Columns, CountJob, Record, counted_natively

__all__ = ["WordCount"]


class WordCount(CountJob):
    """Count the words of a crawl's extracted texts.

    Reads WET, and textData of 2012. A word is a maximal run of letters, digits and underscores, as Python's regular
    expressions know them, in the lower-cased text.

    A result line is a word and its count: "word"<TAB>1234; with --document-frequency the number of texts that contain
    the word follows: "word"<TAB>[1234,56]
    """

    columns = Columns({"word": "string"}, {"count": "int64"})
    formats = ("wet", "text_data")
    types = ("conversion", "text_data")

    def configure_args(self) -> None:
        """Declare --document-frequency."""
        super().configure_args()
        self.add_passthru_arg(
            "--document-frequency", action="store_true", help="also count how many texts contain each word"
        )

    def load_args(self, args: list[str]) -> None:
        """Parse the command line; --document-frequency adds a column."""
        super().load_args(args)
        if self.options.document_frequency:
            self.columns = Columns({"word": "string"}, {"count": "int64", "documents": "int64"})

    def make_counter(self) -> WordCounter:
        """A counter of words."""
        return WordCounter(self.options.document_frequency)

    @counted_natively
    def count(self, record: Record, counter: WordCounter) -> None:
        """Count the words of a text."""
        counter.add(record.text())


if __name__ == "__main__":
    WordCount.run()
