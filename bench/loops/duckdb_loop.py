"""Runs a query as DuckDB's own shell would; prints the rows as JSON, one per line.

python duckdb_loop.py TABLE QUERY     TABLE is a folder crawl=…/subset=…/*.parquet, which the query knows as ccindex
"""

from __future__ import annotations

import json
import sys

import duckdb

if __name__ == "__main__":
    folder, query = sys.argv[1:]
    connection = duckdb.connect()
    files = f"{folder}/**/*.parquet".replace("'", "''")
    connection.execute(f"CREATE VIEW ccindex AS SELECT * FROM read_parquet('{files}', hive_partitioning = true)")
    answer = connection.execute(query)
    names = [column[0] for column in answer.description or ()]
    while rows := answer.fetchmany(1000):
        sys.stdout.writelines(json.dumps(dict(zip(names, row, strict=True)), default=str) + "\n" for row in rows)
