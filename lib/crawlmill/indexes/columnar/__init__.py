"""The columnar index: captures as tables of Parquet files, in the layout that Common Crawl publishes."""
