#!/usr/bin/env python3
"""Writes Parquet files over all types, encodings, codecs and page versions, and compares what firn reads with what pyarrow reads.

usage: compare-parquet.py FIRN FOLDER [FILE...]     (needs pyarrow; duckdb and polars if they are installed)
"""
import os, random, sys
import pyarrow as pa, pyarrow.parquet as pq
from compared import common_types, compare, maybe, nested_fields, nested_rows

def types(n):
    r = random.Random(n)
    make, common = common_types(n, r)
    return common | {"d18": (pa.decimal128(18, 4), make["decs"](18, 4)), "ts_ns": (pa.timestamp("ns"), make["ints"](-2 ** 62, 2 ** 62))}

def flat(n, nulls, only=None):
    fields, arrays, r = [], [], random.Random(n)
    for name, (t, values) in types(n).items():
        if only and name not in only: continue
        values = maybe(r, values, nulls)
        if isinstance(t, pa.DictionaryType): a = pa.array(values, pa.string()).dictionary_encode()
        elif name == "uuid": a = pa.ExtensionArray.from_storage(pa.uuid(), pa.array(values, pa.binary(16)))
        else: a = pa.array(values, t)
        fields.append(pa.field(name, a.type, nullable=nulls or name == "null")); arrays.append(a)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

def nested(n): return pa.Table.from_pylist(nested_rows(n), schema=pa.schema(nested_fields()))

def write_all(folder):
    files = []
    def put(table, name, **options):
        path = os.path.join(folder, name + ".parquet"); pq.write_table(table, path, **options); files.append(path)
    for codec in ["none", "snappy", "gzip", "brotli", "lz4", "zstd"]:
        for version in ["1.0", "2.0"]:
            for nulls in [False, True]:
                put(flat(3000, nulls), f"flat-{codec}-{version}-{nulls}", compression=codec, data_page_version=version, data_page_size=2000, write_page_checksum=True, row_group_size=1100, write_page_index=nulls)
    for n in [0, 1, 7, 8, 9, 1000]:
        put(flat(n, True), f"flat-{n}", compression="zstd"); put(nested(n), f"nested-{n}", compression="snappy", data_page_version="2.0")
    for version in ["1.0", "2.0"]:
        for page in [200, 1 << 20]:
            put(nested(2000), f"nested-{version}-{page}", compression="zstd", data_page_version=version, data_page_size=page, row_group_size=700)
            put(nested(2000), f"nested-plain-{version}-{page}", use_dictionary=False, compression="none", data_page_version=version, data_page_size=page)
    encodings = {
        "DELTA_BINARY_PACKED": ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "date", "ts_ms", "ts_us", "ts_ns", "t_ms", "t_us", "t_ns", "d5"],
        "DELTA_LENGTH_BYTE_ARRAY": ["text", "large", "bin"], "DELTA_BYTE_ARRAY": ["text", "large", "bin", "fixed", "uuid", "d34", "d38", "d76", "f16"],
        "BYTE_STREAM_SPLIT": ["i32", "i64", "f32", "f64", "fixed", "uuid", "f16", "d34", "d38", "d15", "u32", "ts_us", "date"],
        "PLAIN": None, "RLE": ["bool"]}
    for encoding, columns in encodings.items():
        for version in ["1.0", "2.0"]:
            for nulls in [False, True]:
                table = flat(2500, nulls, columns)
                names = [c for c in table.column_names]
                for integers in [False, True] if encoding == "PLAIN" else [encoding == "DELTA_BINARY_PACKED"]:
                    put(table, f"{encoding}-{version}-{nulls}-{integers}", use_dictionary=False, column_encoding={c: encoding for c in names if c != "null" and (encoding != "PLAIN" or c != "dict")},
                        data_page_version=version, data_page_size=3000, compression="zstd", store_decimal_as_integer=integers)
    put(flat(2000, True, ["ts_ns"]), "int96", use_deprecated_int96_timestamps=True)
    put(flat(2000, True), "ints-as-decimals", store_decimal_as_integer=True)
    try:
        import duckdb
        for codec in ["uncompressed", "snappy", "gzip", "zstd", "lz4_raw", "brotli"]:
            for version in ["V1", "V2"]:
                path = os.path.join(folder, f"duckdb-{codec}-{version}.parquet")
                duckdb.sql(f"COPY (SELECT i id, i%7 k, i*1.5 f, 'text '||(i%50) t, (i%3=0) b, DATE '2020-01-01'+(i%1000)::INT d, TIMESTAMP '2020-01-01'+to_seconds(i) ts, (i*3)::UBIGINT u, (i/7.0)::DECIMAL(18,3) dec, CASE WHEN i%5=0 THEN NULL ELSE [i, NULL, i+1] END l, {{'a': i, 'b': 'x'||i}} s, MAP {{'k'||(i%3): i}} m, uuid() un, (i%100)::TINYINT ti, i::HUGEINT::VARCHAR hv, TIME '00:00:00'+to_seconds(i%86400) tm FROM range(5000) t(i)) TO '{path}' (FORMAT parquet, COMPRESSION {codec}, PARQUET_VERSION {version}, ROW_GROUP_SIZE 2048)")
                files.append(path)
    except ImportError: pass
    try:
        import polars as pl
        for codec in ["uncompressed", "snappy", "gzip", "brotli", "zstd", "lz4"]:
            path = os.path.join(folder, f"polars-{codec}.parquet")
            pl.DataFrame({"i": list(range(3000)), "f": [v / 3 for v in range(3000)], "t": ["t%d" % (v % 40) for v in range(3000)], "l": [[v, v + 1] if v % 4 else None for v in range(3000)], "s": [{"a": v, "b": None if v % 3 else "x"} for v in range(3000)], "b": [v % 2 == 0 if v % 5 else None for v in range(3000)], "c": pl.Series(["u", "v", None] * 1000, dtype=pl.Categorical)}).write_parquet(path, compression=codec, row_group_size=1000, data_page_size=2000)
            files.append(path)
    except ImportError: pass
    return files

def main():
    firn, folder, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(folder, exist_ok=True)
    files = rest or write_all(folder)
    wrong = 0
    for path in files:
        problem = compare(firn, path, pq.ParquetFile(path).read())
        if problem: wrong += 1; print(problem[:600])
    print(f"{len(files)} files, {wrong} differ")
    sys.exit(1 if wrong else 0)

if __name__ == "__main__": main()
