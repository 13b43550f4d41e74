"""A job that surveys: it cuts the URIs of all inputs into three lists of about the same size, whatever the inputs."""

from crawlmill.mr import CrawlJob


class FairShares(CrawlJob):
    """Cut URIs into three lists."""

    types = ("response",)
    surveys = True

    def survey(self, reading):
        for record in reading:
            yield "uri", record.uri

    def conclude(self, _key, uris):
        found = sorted(uris)
        for share in (1, 2):
            yield share, found[len(found) * share // 3]

    def process(self, record):
        bounds = [bound for _, bound in sorted(self.findings)]
        yield sum(record.uri >= bound for bound in bounds), 1

    def reducer(self, share, ones):
        yield share, sum(ones)


if __name__ == "__main__":
    FairShares.run()
