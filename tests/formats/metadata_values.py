"""Values of metadata files of 2012, written by hand after what Common Crawl's program wrote."""

from __future__ import annotations

import gzip

from tests.data import shared

PAGE = (
    '{"attempt_time":1341708194671,"disposition":"SUCCESS","redirect_from":{"source_url":"http://example.fr/",'
    '"http_result":301,"server_ip":"192.0.2.7","http_headers":{"response":"HTTP/1.1 301 Moved","location":"/index"}},'
    '"server_ip":"192.0.2.8","http_result":200,"http_headers":{"response":"HTTP/1.1 200 OK","server":" nginx ",'
    '"x-dotted.name":"7","content-type":"text/html"},"content_len":4100,"mime_type":"text/html","download_size":4100,'
    '"download_truncated":true,"content_is_gzip":true,"gunzip_content_len":16384,'
    '"md5":"0123456789abcdef0123456789abcdef","charset_detected":"UTF-8","charset_detector":1,'
    '"text_simhash":-6830530949119961,"parsed_as":"html","content":{"type":"html-doc","title":"\\n Été\\u2028 ",'
    '"meta_tags":[{"http-equiv":"Content-Type","content":"text/html; charset=utf-8"},'
    '{"name":"Description","content":"Über uns"},{"property":"og:title","content":"Été"},{"charset":"utf-8"}],'
    '"links":[{"type":"text/css","rel":"stylesheet","media":"screen","text":"","href":"http://www.example.fr/a.css"},'
    '{"type":"text/javascript","text":"","href":"http://www.example.fr/a.js"},'
    '{"type":"img","alt":"","width":"7","text":"","href":"http://www.example.fr/a.png"},'
    '{"type":"a","text":"a \\"quoted\\" word","href":"http://www.example.fr/b?c=1&d=/"},'
    '{"type":"a","text":"","href":"mailto:a@example.fr"}]},"archiveInfo":{"arcSourceSegmentId":1341690147253,'
    '"arcFileDate":1341708194671,"arcFileParition":12,"arcFileOffset":13002,"compressedSize":415}}'
).encode()

FAILURE = (
    b'{"attempt_time":1341708194672,"disposition":"FAILURE","redirect_from":{"source_url":"http://a.example/",'
    b'"http_result":0,"server_ip":"0.0.0.0","http_headers":{}},"failure_reason":"DNSFailure","failure_detail":""}'
)

MISSING = (
    b'{"attempt_time":1341708194673,"disposition":"SUCCESS","server_ip":"192.0.2.9","http_result":404,'
    b'"http_headers":{"response":"HTTP/1.0 404 Not Found","server":"  "},"content_len":0}'
)

RSS = (
    b'{"attempt_time":1341708194674,"disposition":"SUCCESS","server_ip":"192.0.2.9","http_result":200,'
    b'"http_headers":{"response":"HTTP/1.1 200 OK"},"content_len":986,"mime_type":"text/xml","download_size":986,'
    b'"md5":"0123456789abcdef0123456789abcdef","charset_detected":"UTF-8","charset_detector":0,"text_simhash":7,'
    b'"parsed_as":"feed","content":{"type":"rss-feed","title":"News","link":{"href":"http://a.example/"},'
    b'"description":"","updated":1336636800000,"categories":["Travel"],"generator":"g","ttl":60,"items":['
    b'{"title":"One","description":"It floats.","link":{"href":"http://a.example/1"},"author":"ann@a.example (Ann)",'
    b'"categories":["B","N"],"comments":"http://a.example/1#c","published":1336588200000,"guid":"tag:1",'
    b'"content":{"type":"html-doc","links":[{"type":"a","text":"photos","href":"http://a.example/p"}]}},'
    b'{"title":"","description":""}]}}'
)

ATOM = (
    b'{"attempt_time":1341708194675,"disposition":"SUCCESS","server_ip":"192.0.2.9","http_result":200,'
    b'"http_headers":{"response":"HTTP/1.1 200 OK"},"content_len":113,"mime_type":"application/atom+xml",'
    b'"download_size":113,"md5":"0123456789abcdef0123456789abcdef","charset_detected":"UTF-8","charset_detector":0,'
    b'"text_simhash":9,"parsed_as":"feed","content":{"type":"atom-feed","title":"Log","link":['
    b'{"type":"text/html","href":"http://a.example/","rel":"alternate"},{"href":"http://m.a.example/","rel":"self"}],'
    b'"authors":[{"name":"Ben","url":"http://a.example/ben"},{"name":"Cy"}],"generator":"Blogger",'
    b'"updated":1336500000000,"categories":["boats"],"published":1336400000000,"items":[{"title":"Day one",'
    b'"description":"Short","link":{"href":"http://a.example/1","rel":"alternate"},"self":{"href":"http://a.example/s"},'
    b'"replies":[{"href":"http://a.example/r1"},{"href":"http://a.example/r2"}],"authors":[{"name":"Ben"}],'
    b'"categories":["sailing"],"content":[{"type":"html-doc"},{"type":"html-doc","title":"t"}]}]}}'
)

ALL = (PAGE, FAILURE, MISSING, RSS, ATOM)


def real_values() -> list[tuple[str, bytes]]:
    """(URL, value) of fifty genuine records; skips the test where they are not there."""
    with gzip.open(shared("legacy/metadata_real_2012.tsv.gz")) as lines:
        pairs = [line.rstrip(b"\n").split(b"\t", 1) for line in lines]
    return [(url.decode(), value) for url, value in pairs]
