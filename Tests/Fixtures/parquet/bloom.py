#!/usr/bin/env python3
"""Writes Tests/Fixtures/parquet/bloom.parquet with DuckDB: three row groups whose columns have the same bounds, with Bloom filters.

    Tests/Fixtures/parquet/bloom.py Tests/Fixtures/parquet/bloom.parquet
"""

import sys

import duckdb

GROUP = 2048

# Each group has ids between 0 and 999,999, so bounds exclude none; multiples of 3 by the number of the group.
duckdb.sql(
    f"""copy (select case when i % {GROUP} = 0 then 0 when i % {GROUP} = 1 then 999999
            else ((i * 7919) % 300000) * 3 + i // {GROUP} end as id,
        'name ' || (((i * 104729) % 300000) * 3 + i // {GROUP}) as name, (id / 4)::double as score
        from range({3 * GROUP}) t(i))
    to '{sys.argv[1]}' (format parquet, row_group_size {GROUP}, compression zstd, dictionary_size_limit 4096)"""
)
