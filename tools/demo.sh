#!/usr/bin/env bash
# The first thing a newcomer runs: makes the sample crawl, counts its tags, and says where everything is.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ ! -f sample-crawl/answers.json ]; then
    echo "== writing the sample crawl to sample-crawl/"
    rm -rf sample-crawl
    .venv/bin/crawlmill sample sample-crawl
fi

echo "== counting HTML tags: python jobs/tag_count.py --output-dir demo-results input_lists/sample.paths"
rm -rf demo-results
.venv/bin/python jobs/tag_count.py --output-dir demo-results input_lists/sample.paths

echo "== the most frequent tags"
cat demo-results/part-* | sort -t "$(printf '\t')" -k 2,2nr -k 1,1 | sed -n 1,10p
cat <<'END'
== where to find everything
input list    input_lists/sample.paths
crawl         sample-crawl/crawl-data/ (WARC, WAT, WET), true answers in sample-crawl/answers.json
results       demo-results/part-*, one line per tag: "tag" TAB count
ledger        demo-results/_ledger.jsonl, what became of each input
END
