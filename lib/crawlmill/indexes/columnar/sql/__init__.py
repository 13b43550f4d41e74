"""SQL over tables of captures: Presto's dialect, as in Athena, on DuckDB; read-only."""
