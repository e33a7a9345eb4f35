"""Writes sums.parquet (DuckDB 2.0): decimals that declare 38 digits, as sums do, with few digits, with many, and with null in each row."""
import duckdb

duckdb.sql(
    """copy (select sum(price)::decimal(38, 2) as few, sum(price)::decimal(38, 0) * 1000000000000000000000000000000000 as many,
    cast(null as decimal(38, 2)) as none from (values (1, 9.00::decimal(9, 2)), (2, 10.00), (3, -5), (4, -20)) t(id, price)
    group by id order by id) to 'sums.parquet' (format parquet, compression 'uncompressed')""")
