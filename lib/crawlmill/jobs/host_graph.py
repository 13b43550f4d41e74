"""Build the graph of hosts that link to each other."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final

from crawlmill.analysis.links.graph import count_edges, graph_host, label_of, number_graph, rank_hosts
from crawlmill.mr import MRStep, Reading, Results, UsageError
from crawlmill.mr.job.links import EXTRAS, LinksJob
from crawlmill.mr.job.sorting.labelled import LabelledJob, LabelledLines
from crawlmill.mr.task.pairs import ENCODED, JsonPairs
from crawlmill.mr.task.rows import Pair
from crawlmill.urls.standard import parse_url

__all__ = ["HostGraph"]

_MAX_EDGES: Final = 300_000  # that a map task holds in memory before it writes them out
_AT_ONCE: Final = 1000


class _Lines(LabelledLines):
    """The lines passed between steps; labels and texts are bytes."""

    @staticmethod
    def write(key: Any, value: Any) -> bytes:
        return b"%b\t%b" % (key, value) if isinstance(key, bytes) else JsonPairs.write(key, value)


class HostGraph(LabelledJob, LinksJob):
    """Build the graph of hosts that link to each other, in --output-dir.

    Reads WARC, ARC, WAT, and metadata of 2012. Writes vertices/part-*.txt.gz, lines of a number and a host in reverse
    (0<TAB>org.example.www), and edges/part-*.txt.gz, lines of two numbers, as Common Crawl's web graphs have them:
    hosts in the order of their bytes, numbered from 0; edges in the order of their numbers, each once.

    The hosts are those of pages and of the http and https links of pages, in lower case and punycode. Left out are
    links within a host, addresses, single labels, and names that are not valid in the DNS.
    """

    INTERNAL_PROTOCOL = _Lines
    OUTPUT_PROTOCOL = _Lines

    def configure_args(self) -> None:
        """Declare the options of the graph."""
        super().configure_args()
        add = self.add_passthru_arg
        add("--strip-www", action="store_true", help="take www.example.com for example.com, as older graphs do")
        add("--weights", action="store_true", help="add to each edge the number of its links")
        add(
            "--with",
            dest="extras",
            default="",
            metavar="A,B",
            help="count these, too: redirects, headers (Link, Content-Location), sitemaps (of robots.txt)",
        )

    def load_args(self, args: list[str]) -> None:
        """Parse the command line."""
        super().load_args(args)
        self.extras = frozenset(filter(None, self.options.extras.split(",")))
        if unknown := sorted(self.extras - EXTRAS):
            raise UsageError(f"--with {unknown[0]}: expected {', '.join(sorted(EXTRAS))}")
        self.require_output_dir()

    def steps(self) -> list[MRStep]:
        """The passes described in `crawlmill.analysis.links.graph`."""
        return [
            MRStep(mapper_init=self.begin, mapper=self.mapper, mapper_final=self.end, reducer=self.reducer),
            MRStep(reducer=self.rank),
            MRStep(reducer=self.number),
        ]

    def begin(self) -> None:
        """Start with no edges."""
        self._edges: dict[str, int] = {}

    def read(self, reading: Reading) -> Iterator[Pair]:
        """Count the links of one input; yield lines only when too many edges are in memory."""
        edges, strip = self._edges, self.options.strip_www
        for page in self.pages(reading):
            url = parse_url(page.url)
            source = None if url is None else graph_host(str(url), strip_www=strip)
            if source is None:
                continue
            edges.setdefault(source, 0)
            for target, _ in page.links():
                host = graph_host(target, strip_www=strip)
                if host is not None and host != source:
                    edge = f"{source} {host}"
                    edges[edge] = edges.get(edge, 0) + 1
            if len(edges) > _MAX_EDGES:
                yield from self.end()

    def end(self) -> Iterator[Pair]:
        """Yield the remaining edges."""
        lines: list[bytes] = []
        for edge, links in self._edges.items():
            name = edge.encode()
            lines.append(b"%b\t%b\t%d\n" % (label_of(name.partition(b" ")[0]), name, links))
            if len(lines) == _AT_ONCE:
                yield ENCODED, b"".join(lines)
                lines.clear()
        self._edges.clear()
        yield ENCODED, b"".join(lines)

    def reduce_lines(self, chunks: Iterator[bytes]) -> Iterator[Pair]:
        """Pass 1: see `crawlmill.analysis.links.graph`."""
        return ((ENCODED, lines) for lines in count_edges(chunks) if lines)

    def rank(self, label: bytes, texts: Iterable[bytes]) -> Iterator[Pair]:
        """Pass 2: see `crawlmill.analysis.links.graph`."""
        return ((ENCODED, line) for line in rank_hosts(label, texts))

    def number(self, label: bytes, texts: Iterable[bytes]) -> Iterator[Pair]:
        """Pass 3: write the files of a range of hosts; yields no pairs."""
        part = f"part-{label.decode()}.txt.gz"
        with (
            self.write_file(f"vertices/{part}") as vertices,
            self.write_file(f"edges/{part}") as edges,
            _packed(vertices) as write_vertex,
            _packed(edges) as write_edge,
        ):
            number_graph(label, texts, write_vertex, write_edge, weights=self.options.weights)
        yield from ()

    def finish(self, results: Results) -> None:
        """Write the files of an empty graph, if no task has written any."""
        for name in ("vertices", "edges"):
            if not results.files:
                with results.write(f"{name}/part-00000.txt.gz") as file, _packed(file):
                    pass


@contextmanager
def _packed(file: BinaryIO) -> Iterator[Callable[[bytes], object]]:
    """Open a gzip member for writing lines; the bytes are the same each time it is written."""
    deflate = zlib.compressobj(6, zlib.DEFLATED, 31)
    held: list[bytes] = []

    def write(line: bytes) -> None:
        held.append(line)
        if len(held) == _AT_ONCE:
            file.write(deflate.compress(b"".join(held)))
            held.clear()

    yield write
    file.write(deflate.compress(b"".join(held)) + deflate.flush())


if __name__ == "__main__":
    HostGraph.run()
