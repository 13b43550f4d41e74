"""The metadata records of 2012, one per crawl attempt, as (URL, JSON text), with the crawler's keys in its order.

Responses of status 2xx and 4xx are successes. For a 2xx response with a body, everything is recorded; for 4xx only the
headers. Redirects that led nowhere and 5xx are failures, and so are attempts that never reached a page, which are added
here. Some pages were reached through a redirect, whose headers are not the page's.

MD5, sizes and hash are computed from the page; what a parser finds is taken from the templates.

Spec: only the program that wrote such records (Common Crawl's ParserMapper, Gson 2.1).

Deviations: no feeds, no truncated downloads, no broken gzip.
"""

from __future__ import annotations

import hashlib
from typing import Any

from crawlmill.analysis.simhash import text_simhash
from crawlmill.formats.crawl2012.strict_json import compact_json
from crawlmill.sample.archives.arc import ArcFile
from crawlmill.sample.dice import Dice
from crawlmill.sample.org_json import join_object
from crawlmill.sample.records import Member
from crawlmill.sample.text.documents import Document
from crawlmill.sample.text.links import made_absolute
from crawlmill.sample.visits import Visit

__all__ = ["Attempt", "attempt", "missed_attempt"]

Attempt = tuple[str, str]
"""A URL and the JSON text of its record."""

# Headers that the crawler dropped.
_DROPPED = frozenset(
    (
        "connection",
        "keep-alive",
        "proxy-connection",
        "transfer-encoding",
        "te",
        "trailer",
        "proxy-authenticate",
        "proxy-authorization",
        "upgrade",
        "set-cookie",
        "content-encoding",
    )
)
_REDIRECTED = 1 / 12  # of the pages
_MISSED = 1 / 4
_FAILURES = (
    ("RobotsExcluded", ""),
    ("DNSFailure", "TimedOut in Fill Queue AWAITING_RESOLUTION"),
    ("ConnectTimeout", "TimedOut in Fill Queue AWAITING_CONNECT"),
    ("IOException", "Unsupported Protocol Type:https"),
)


def attempt(visit: Visit, file: ArcFile, member: Member | None) -> Attempt:
    """The record of a visit; `member` is its body in the ARC file, if stored."""
    page = visit.page
    if not visit.succeeded:
        return page.address.url, compact_json({"attempt_time": visit.time_ms, **_failure(visit)})
    record: dict[str, Any] = {
        "attempt_time": visit.time_ms,
        "disposition": "SUCCESS",
        **_redirect(visit),
        "server_ip": page.address.ip,
        "http_result": visit.code,
        "http_headers": {
            "response": f"HTTP/1.1 {page.status}".strip(),
            **{name: value for name, value in visit.headers.items() if name not in _DROPPED},
        },
        "content_len": visit.downloaded,
    }
    if not visit.stored:
        return page.address.url, compact_json(record)
    record |= {"mime_type": visit.mime_type, "download_size": visit.downloaded}
    if visit.gzipped:
        record |= {"content_is_gzip": True, "gunzip_content_len": len(page.content)}
    record["md5"] = hashlib.md5(page.content, usedforsecurity=False).hexdigest()
    if visit.charset:
        record |= {
            "charset_detected": visit.charset,
            "charset_detector": visit.charset_source,
            "text_simhash": text_simhash(visit.text()),
        }
    texts = {name: compact_json(value) for name, value in record.items()}
    if visit.parsed is not None:
        texts |= {"parsed_as": '"html"', "content": _content(visit.parsed, page.address.url)}
    if member is not None:
        texts["archiveInfo"] = compact_json(
            {
                "arcSourceSegmentId": file.segment_id,
                "arcFileDate": file.begun_ms,
                "arcFileParition": file.partition,  # the crawler's spelling
                "arcFileOffset": member.offset,
                "compressedSize": member.length,
            }
        )
    return page.address.url, join_object(texts.items())


def missed_attempt(visit: Visit) -> Attempt | None:
    """The record of a URL, tried a little later, that is not a page of the crawl; None if there was none."""
    dice = Dice(visit.page.seed, "missed", visit.page.number)
    if not dice.chance(_MISSED):
        return None
    reason, detail = dice.pick(_FAILURES)
    host, path = f"{dice.token()[:6]}.example", dice.token()[:4]
    redirect, scheme = {}, "http"
    if reason == "IOException":
        # A redirect without a response of its own.
        source = {"source_url": f"http://{host}/{path}", "http_result": 0, "server_ip": "0.0.0.0", "http_headers": {}}  # noqa: S104
        redirect, scheme = {"redirect_from": source}, "https"
    record = {
        "attempt_time": visit.time_ms + dice.between(1, 999),
        "disposition": "FAILURE",
        **redirect,
        "failure_reason": reason,
        "failure_detail": detail,
    }
    return f"{scheme}://{host}/{path}", compact_json(record)


def _failure(visit: Visit) -> dict[str, str]:
    reason, detail = "InvalidResponseCode", f"URL:{visit.page.address.url} returned invalid responseCode:{visit.code}"
    if visit.code // 100 == 3:
        reason, detail = "RedirectFailed", f"Alread Visited Redirect Location:{visit.headers['location']}"  # sic
    return {"disposition": "FAILURE", "failure_reason": reason, "failure_detail": detail}


def _redirect(visit: Visit) -> dict[str, Any]:
    """The redirect to the page, from a server that the page itself never names."""
    page, dice = visit.page, Dice(visit.page.seed, "redirect", visit.page.number)
    if not dice.chance(_REDIRECTED):
        return {}
    code, reason = dice.pick(((301, "Moved Permanently"), (302, "Moved Temporarily")))
    headers = {
        "response": f"HTTP/1.1 {code} {reason}",
        "date": visit.headers["date"],
        "server": "redirector",
        "location": page.address.url,
        "content-length": "0",
    }
    source_url = f"http://{page.address.host}/old/{page.number}"
    return {
        "redirect_from": {
            "source_url": source_url,
            "http_result": code,
            "server_ip": page.address.ip,
            "http_headers": headers,
        }
    }


def _content(document: Document, url: str) -> str:
    """The parser's result for a page, as JSON text; empty values are left out."""
    head = document.head
    links = ",".join([fragment.metadata_links for fragment in document.fragments if fragment.metadata_links])
    parts = [("type", '"html-doc"')]
    if head.title:
        parts.append(("title", compact_json(head.title)))
    if head.metas:
        parts.append(("meta_tags", compact_json(head.metas)))
    if links:
        parts.append(("links", f"[{made_absolute(links, head.base or url)}]"))
    return join_object(parts)
