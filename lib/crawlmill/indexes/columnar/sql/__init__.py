"""SQL over tables of captures: Presto's dialect, as Athena has it, on DuckDB; read-only."""
