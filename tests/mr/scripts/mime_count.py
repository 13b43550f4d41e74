"""A user's own job."""

from crawlmill.mr import CountJob


class MimeCount(CountJob):
    """Count media types."""

    formats = ("warc", "arc")
    types = ("response",)

    def process(self, record):
        yield record.http.media_type, 1


if __name__ == "__main__":
    MimeCount.run()
