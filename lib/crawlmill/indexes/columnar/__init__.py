"""The columnar index: captures as tables of Parquet files, in Common Crawl's layout."""
