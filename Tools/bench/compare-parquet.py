#!/usr/bin/env python3
"""Writes Parquet files over all types, encodings, codecs and page versions, and compares what firn reads with what pyarrow reads.

usage: compare-parquet.py FIRN FOLDER [FILE...]     (needs pyarrow; duckdb and polars if they are installed)
"""
import datetime, decimal, json, math, os, random, subprocess, sys, uuid
import pyarrow as pa, pyarrow.parquet as pq

D = decimal.Decimal
EPOCH = datetime.datetime(1970, 1, 1)
random.seed(7)

def maybe(values, nulls):
    return [None if nulls and random.random() < 0.2 else v for v in values]

def types(n):
    r = random.Random(n)
    def ints(lo, hi): return [r.choice([lo, hi, 0, r.randint(lo, hi)]) for _ in range(n)]
    def reals(): return [r.choice([0.0, -0.0, 1.5, r.uniform(-1e9, 1e9), r.random(), round(r.uniform(0, 100), 2), float('inf')]) for _ in range(n)]
    def decs(p, s):
        return [D(r.choice([0, 10 ** p - 1, -(10 ** p - 1), r.randint(-10 ** p + 1, 10 ** p - 1)])).scaleb(-s, decimal.Context(prec=90)) for _ in range(n)]
    words = ["", "a", "été", "日本語", "x" * 15, "y" * 16, "z" * 40, "alpha", "beta"]
    def texts(): return [r.choice(words) + (str(r.randint(0, 50)) if r.random() < .5 else "") for _ in range(n)]
    out = {
        "bool": (pa.bool_(), [r.random() < .5 for _ in range(n)]),
        "i8": (pa.int8(), ints(-128, 127)), "i16": (pa.int16(), ints(-2 ** 15, 2 ** 15 - 1)),
        "i32": (pa.int32(), ints(-2 ** 31, 2 ** 31 - 1)), "i64": (pa.int64(), ints(-2 ** 63, 2 ** 63 - 1)),
        "u8": (pa.uint8(), ints(0, 255)), "u16": (pa.uint16(), ints(0, 2 ** 16 - 1)), "u32": (pa.uint32(), ints(0, 2 ** 32 - 1)),
        "u64": (pa.uint64(), ints(0, 2 ** 64 - 1)),
        "f16": (pa.float16(), [float(r.choice([0, 1, -2, 0.5, 65504, 6e-8, float('inf')])) for _ in range(n)]),
        "f32": (pa.float32(), [struct32(v) for v in reals()]), "f64": (pa.float64(), reals()),
        "d5": (pa.decimal128(5, 2), decs(5, 2)), "d15": (pa.decimal128(15, 15), decs(15, 15)), "d18": (pa.decimal128(18, 4), decs(18, 4)),
        "d34": (pa.decimal128(34, 10), decs(34, 10)), "d38": (pa.decimal128(38, 0), decs(38, 0)), "d76": (pa.decimal256(76, 20), decs(76, 20)),
        "text": (pa.string(), texts()), "large": (pa.large_string(), texts()),
        "bin": (pa.binary(), [bytes(r.randrange(256) for _ in range(r.randrange(20))) for _ in range(n)]),
        "fixed": (pa.binary(7), [bytes(r.randrange(256) for _ in range(7)) for _ in range(n)]),
        "uuid": (pa.uuid(), [uuid.UUID(int=r.getrandbits(128)).bytes for _ in range(n)]),
        "date": (pa.date32(), [r.randint(-200000, 200000) for _ in range(n)]),
        "ts_ms": (pa.timestamp("ms"), ints(-10 ** 13, 10 ** 13)), "ts_us": (pa.timestamp("us", "UTC"), ints(-10 ** 16, 10 ** 16)),
        "ts_ns": (pa.timestamp("ns"), ints(-2 ** 62, 2 ** 62)),
        "t_ms": (pa.time32("ms"), ints(0, 86_399_999)), "t_us": (pa.time64("us"), ints(0, 86_399_999_999)), "t_ns": (pa.time64("ns"), ints(0, 86_399_999_999_999)),
        "dict": (pa.dictionary(pa.int32(), pa.string()), texts()), "null": (pa.null(), [None] * n),
    }
    return out

def struct32(v):
    import struct
    return struct.unpack("f", struct.pack("f", v))[0]

def flat(n, nulls, only=None):
    fields, arrays = [], []
    for name, (t, values) in types(n).items():
        if only and name not in only: continue
        values = maybe(values, nulls)
        if isinstance(t, pa.DictionaryType): a = pa.array(values, pa.string()).dictionary_encode()
        elif name == "uuid": a = pa.ExtensionArray.from_storage(pa.uuid(), pa.array(values, pa.binary(16)))
        else: a = pa.array(values, t)
        fields.append(pa.field(name, a.type, nullable=nulls or name == "null")); arrays.append(a)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

def nested(n):
    r = random.Random(n)
    def opt(v, p=.2): return None if r.random() < p else v
    def lst(f, k=4): return [f() for _ in range(r.randrange(k))]
    rows = []
    for i in range(n):
        rows.append({
            "id": i,
            "ints": opt(lst(lambda: opt(r.randint(-5, 5)))),
            "lol": opt(lst(lambda: opt(lst(lambda: opt(r.choice("abc")))))),
            "lolol": opt(lst(lambda: opt(lst(lambda: opt(lst(lambda: opt(r.random()))))))),
            "s": opt({"a": opt(i), "b": opt({"c": opt("x%d" % i), "d": opt(lst(lambda: r.randint(0, 9)))})}),
            "los": opt(lst(lambda: opt({"k": opt(r.randint(0, 9)), "l": opt(lst(lambda: opt(r.choice(["q", None, "r"]))))}))),
            "m": opt([(k, opt(r.randint(0, 99))) for k in sorted(set(lst(lambda: r.choice("abcdef"))))]),
            "mi": opt([(k, opt("v%d" % k)) for k in sorted(set(lst(lambda: r.randint(0, 9))))]),
            "ml": opt([(k, opt(lst(lambda: opt(r.randint(0, 9))))) for k in sorted(set(lst(lambda: r.choice("abcdef"))))]),
            "ms": opt([(k, opt({"x": opt(r.random()), "y": opt(lst(lambda: r.randint(0, 3)))})) for k in sorted(set(lst(lambda: r.choice("abcdef"))))]),
            "mm": opt([(k, opt([(j, r.randint(0, 5)) for j in sorted(set(lst(lambda: r.choice("xyz"))))])) for k in sorted(set(lst(lambda: r.choice("abcdef"))))]),
        })
    i = pa.int64(); st = pa.string()
    schema = pa.schema([
        ("id", i), ("ints", pa.list_(i)), ("lol", pa.list_(pa.list_(st))), ("lolol", pa.list_(pa.list_(pa.list_(pa.float64())))),
        ("s", pa.struct([("a", i), ("b", pa.struct([("c", st), ("d", pa.list_(i))]))])),
        ("los", pa.list_(pa.struct([("k", i), ("l", pa.list_(st))]))),
        ("m", pa.map_(st, i)), ("mi", pa.map_(i, st)), ("ml", pa.map_(st, pa.list_(i))),
        ("ms", pa.map_(st, pa.struct([("x", pa.float64()), ("y", pa.list_(i))]))), ("mm", pa.map_(st, pa.map_(st, i)))])
    return pa.Table.from_pylist(rows, schema=schema)

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

# --- comparison ---

def trim(t): return t.rstrip("0").rstrip(".") if "." in t else t

def moment(v, unit):
    per = {"s": 1, "ms": 10 ** 3, "us": 10 ** 6, "ns": 10 ** 9}[unit]
    seconds, rest = divmod(v, per)
    return ("moment", seconds, rest * (10 ** 9 // per))

def expected(v, t):
    """A value of pyarrow (as a scalar) in the form that `found` returns."""
    if isinstance(t, pa.BaseExtensionType) and t.extension_name == "arrow.uuid":
        return str(v.as_py()) if v.is_valid else None
    if not v.is_valid: return None
    if pa.types.is_dictionary(t): return v.as_py()
    if pa.types.is_map(t):
        if pa.types.is_string(t.key_type): return {k.as_py(): expected(x, t.item_type) for k, x in [(e["key"], e["value"]) for e in v.values]} if v.values is not None else {}
        return [{"key": expected(e["key"], t.key_type), "value": expected(e["value"], t.item_type)} for e in v.values]
    if pa.types.is_list(t) or pa.types.is_large_list(t): return [expected(x, t.value_type) for x in v.values]
    if pa.types.is_struct(t): return {f.name: expected(v[f.name], f.type) for f in t}
    if pa.types.is_timestamp(t): return moment(v.value, t.unit)
    if pa.types.is_date(t): return ("day", v.value)
    if pa.types.is_time(t):
        digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[t.unit]; per = 10 ** digits; s, f = divmod(v.value, per)
        return trim("%02d:%02d:%02d.%0*d" % (s // 3600, s // 60 % 60, s % 60, digits, f))
    if pa.types.is_decimal(t):
        return D(v.as_py())
    if pa.types.is_binary(t) or pa.types.is_large_binary(t) or pa.types.is_fixed_size_binary(t):
        import base64; return base64.b64encode(v.as_py()).decode()
    if pa.types.is_floating(t):
        f = float(v.as_py()); return None if not math.isfinite(f) else f
    return v.as_py()

def days(y, m, d):
    y -= m <= 2; era = y // 400; yoe = y - era * 400; doy = (153 * (m + (-3 if m > 2 else 9)) + 2) // 5 + d - 1
    return era * 146097 + yoe * 365 + yoe // 4 - yoe // 100 + doy - 719468

def found(v, t):
    if v is None: return None
    if isinstance(t, pa.BaseExtensionType): return v
    if pa.types.is_map(t):
        if pa.types.is_string(t.key_type): return {k: found(x, t.item_type) for k, x in v.items()}
        return [{"key": found(e.get("key"), t.key_type), "value": found(e.get("value"), t.item_type)} for e in v]
    if pa.types.is_list(t) or pa.types.is_large_list(t): return [found(x, t.value_type) for x in v]
    if pa.types.is_struct(t): return {f.name: found(v.get(f.name), f.type) for f in t}
    if pa.types.is_timestamp(t) or pa.types.is_date(t):
        sign = -1 if v.startswith("-") else 1
        body = v.lstrip("-"); date, _, clock = body.partition("T"); y, m, d = map(int, date.split("-"))
        n = days(sign * y, m, d)
        if not clock: return ("day", n) if pa.types.is_date(t) else ("moment", n * 86400, 0)
        clock = clock.rstrip("Z"); hms, _, frac = clock.partition("."); h, mi, s = map(int, hms.split(":"))
        return ("moment", n * 86400 + h * 3600 + mi * 60 + s, int((frac + "000000000")[:9]))
    if pa.types.is_decimal(t): return D(str(v))
    if pa.types.is_time(t): return trim(v)
    if pa.types.is_float16(t) or pa.types.is_float32(t): return struct32(float(v))
    if pa.types.is_floating(t): return float(v)
    if pa.types.is_unsigned_integer(t) and t == pa.uint64(): return int(D(str(v)))
    return v

def compare(firn, path):
    table = pq.ParquetFile(path).read()
    run = subprocess.run([firn, "convert", path, "-", "--to", "ndjson", "-q"], capture_output=True)
    if run.returncode: return f"{path}: exit {run.returncode}: {run.stderr.decode()}"
    lines = run.stdout.split(b"\n")[:-1]
    if len(lines) != table.num_rows: return f"{path}: {len(lines)} rows instead of {table.num_rows}"
    rows = [json.loads(l, parse_float=lambda x: D(x)) for l in lines]
    for name in table.column_names:
        column = table[name]; t = column.type
        for i, v in enumerate(column):
            a, b = expected(v, t), found(rows[i].get(name), t)
            if a != b and not (isinstance(a, float) and a == 0 == b): return f"{path}: row {i}, column {name}: {b!r} instead of {a!r} ({t})"
    return None

def main():
    firn, folder, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(folder, exist_ok=True)
    files = rest or write_all(folder)
    wrong = 0
    for path in files:
        problem = compare(firn, path)
        if problem: wrong += 1; print(problem[:600])
    print(f"{len(files)} files, {wrong} differ")
    sys.exit(1 if wrong else 0)

if __name__ == "__main__": main()
