#!/usr/bin/env python3
"""Writes Arrow files and streams over all types and codecs, and compares what firn reads with what pyarrow reads; then compares what
pyarrow and polars read of the files that firn writes with the files that they were made from.

usage: compare-arrow.py FIRN FOLDER [FILE...]     (needs pyarrow; duckdb and polars if they are installed)
"""
import base64, decimal, json, math, os, random, struct, subprocess, sys, uuid
import pyarrow as pa, pyarrow.ipc as ipc

D = decimal.Decimal
decimal.getcontext().prec = 100

def struct32(v): return struct.unpack("f", struct.pack("f", v))[0]

def maybe(r, values, nulls): return [None if nulls and r.random() < 0.2 else v for v in values]

def types(n):
    r = random.Random(n)
    def ints(lo, hi): return [r.choice([lo, hi, 0, r.randint(lo, hi)]) for _ in range(n)]
    def reals(): return [r.choice([0.0, -0.0, 1.5, r.uniform(-1e9, 1e9), r.random(), round(r.uniform(0, 100), 2), float('inf')]) for _ in range(n)]
    def decs(p, s): return [D(r.choice([0, 10 ** p - 1, -(10 ** p - 1), r.randint(-10 ** p + 1, 10 ** p - 1)])).scaleb(-s) for _ in range(n)]
    words = ["", "a", "été", "日本語", "x" * 12, "x" * 13, "y" * 16, "z" * 40, "alpha", "beta"]
    def texts(): return [r.choice(words) + (str(r.randint(0, 50)) if r.random() < .5 else "") for _ in range(n)]
    def raw(k=None): return [bytes(r.randrange(256) for _ in range(r.randrange(20) if k is None else k)) for _ in range(n)]
    return {
        "bool": (pa.bool_(), [r.random() < .5 for _ in range(n)]),
        "i8": (pa.int8(), ints(-128, 127)), "i16": (pa.int16(), ints(-2 ** 15, 2 ** 15 - 1)),
        "i32": (pa.int32(), ints(-2 ** 31, 2 ** 31 - 1)), "i64": (pa.int64(), ints(-2 ** 63, 2 ** 63 - 1)),
        "u8": (pa.uint8(), ints(0, 255)), "u16": (pa.uint16(), ints(0, 2 ** 16 - 1)), "u32": (pa.uint32(), ints(0, 2 ** 32 - 1)),
        "u64": (pa.uint64(), ints(0, 2 ** 64 - 1)),
        "f16": (pa.float16(), [float(r.choice([0, 1, -2, 0.5, 65504, 6e-8, float('inf')])) for _ in range(n)]),
        "f32": (pa.float32(), [struct32(v) for v in reals()]), "f64": (pa.float64(), reals()),
        "d32": (pa.decimal32(9, 3), decs(9, 3)), "d64": (pa.decimal64(18, 4), decs(18, 4)), "d64s": (pa.decimal64(12, 2), decs(12, 2)),
        "d5": (pa.decimal128(5, 2), decs(5, 2)), "d15": (pa.decimal128(15, 15), decs(15, 15)), "dneg": (pa.decimal128(6, -3), decs(6, -3)),
        "d34": (pa.decimal128(34, 10), decs(34, 10)), "d38": (pa.decimal128(38, 0), decs(38, 0)), "d76": (pa.decimal256(76, 20), decs(76, 20)),
        "d256": (pa.decimal256(10, 2), decs(10, 2)), "d256m": (pa.decimal256(30, 2), decs(30, 2)),
        "text": (pa.string(), texts()), "large": (pa.large_string(), texts()), "view": (pa.string_view(), texts()),
        "bin": (pa.binary(), raw()), "lbin": (pa.large_binary(), raw()), "vbin": (pa.binary_view(), raw()),
        "fixed": (pa.binary(7), raw(7)), "fixed0": (pa.binary(0), raw(0)), "uuid": (pa.uuid(), raw(16)),
        "bool8": (pa.bool8(), [r.randint(0, 1) for _ in range(n)]),
        "json": (pa.json_(), [json.dumps(r.choice([1, "x", [1, 2], {"a": None}])) for _ in range(n)]),
        "date": (pa.date32(), [r.randint(-200000, 200000) for _ in range(n)]),
        "date64": (pa.date64(), [r.randint(-200000, 200000) * 86400000 for _ in range(n)]),
        "ts_s": (pa.timestamp("s"), ints(-10 ** 10, 10 ** 10)), "ts_ms": (pa.timestamp("ms"), ints(-10 ** 13, 10 ** 13)),
        "ts_us": (pa.timestamp("us", "UTC"), ints(-10 ** 16, 10 ** 16)), "ts_ns": (pa.timestamp("ns", "Europe/Oslo"), ints(-2 ** 62, 2 ** 62)),
        "t_s": (pa.time32("s"), ints(0, 86_399)), "t_ms": (pa.time32("ms"), ints(0, 86_399_999)),
        "t_us": (pa.time64("us"), ints(0, 86_399_999_999)), "t_ns": (pa.time64("ns"), ints(0, 86_399_999_999_999)),
        "dur_s": (pa.duration("s"), ints(-10 ** 6, 10 ** 6)), "dur_ns": (pa.duration("ns"), ints(-2 ** 62, 2 ** 62)),
        "iv": (pa.month_day_nano_interval(), [pa.MonthDayNano([r.randint(-50, 50), r.randint(-50, 50), r.randint(-10 ** 12, 10 ** 12)]) for _ in range(n)]),
        "dict": (pa.dictionary(pa.int32(), pa.string()), texts()), "dict8": (pa.dictionary(pa.uint8(), pa.large_string()), [r.choice(words) for _ in range(n)]),
        "dicti": (pa.dictionary(pa.int16(), pa.int64()), [r.randint(0, 9) for _ in range(n)]), "null": (pa.null(), [None] * n),
    }

def array(name, t, values, r):
    if isinstance(t, pa.DictionaryType):
        return pa.array(values, t.value_type).dictionary_encode(null_encoding=r.choice(["mask", "encode"])).cast(t)
    if isinstance(t, pa.BaseExtensionType): return pa.ExtensionArray.from_storage(t, pa.array(values, t.storage_type))
    return pa.array(values, t)

def flat(n, nulls):
    fields, arrays, r = [], [], random.Random(n)
    for name, (t, values) in types(n).items():
        a = array(name, t, maybe(r, values, nulls), r)
        fields.append(pa.field(name, a.type, nullable=nulls or name == "null", metadata={"unit": "x"} if name == "i32" else None)); arrays.append(a)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata={"source": "shop", "k": "v"}))

def nested(n):
    r = random.Random(n)
    def opt(v, p=.2): return None if r.random() < p else v
    def lst(f, k=4): return [f() for _ in range(r.randrange(k))]
    rows = []
    for i in range(n):
        rows.append({
            "id": i, "ints": opt(lst(lambda: opt(r.randint(-5, 5)))), "lol": opt(lst(lambda: opt(lst(lambda: opt(r.choice("abc")))))),
            "lolol": opt(lst(lambda: opt(lst(lambda: opt(lst(lambda: opt(r.random()))))))),
            "s": opt({"a": opt(i), "b": opt({"c": opt("x%d" % i), "d": opt(lst(lambda: r.randint(0, 9)))})}),
            "los": opt(lst(lambda: opt({"k": opt(r.randint(0, 9)), "l": opt(lst(lambda: opt(r.choice(["q", None, "r"]))))}))),
            "m": opt([(k, opt(r.randint(0, 99))) for k in sorted(set(lst(lambda: r.choice("abcdef"))))]),
            "mi": opt([(k, opt("v%d" % k)) for k in sorted(set(lst(lambda: r.randint(0, 9))))]),
            "ml": opt([(k, opt(lst(lambda: opt(r.randint(0, 9))))) for k in sorted(set(lst(lambda: r.choice("abcdef"))))]),
            "ms": opt([(k, opt({"x": opt(r.random()), "y": opt(lst(lambda: r.randint(0, 3)))})) for k in sorted(set(lst(lambda: r.choice("abcdef"))))]),
            "mm": opt([(k, opt([(j, r.randint(0, 5)) for j in sorted(set(lst(lambda: r.choice("xyz"))))])) for k in sorted(set(lst(lambda: r.choice("abcdef"))))]),
            "ll": opt(lst(lambda: opt("t%d" % i))), "fl": opt([opt(i), i, 3]), "flt": opt([["a"], opt(["b", "c"])]),
            "lv": opt(lst(lambda: opt(r.randint(0, 9)))), "llv": opt(lst(lambda: opt(r.choice("pq")))),
        })
    i = pa.int64(); st = pa.string()
    schema = pa.schema([
        ("id", i), ("ints", pa.list_(i)), ("lol", pa.list_(pa.list_(st))), ("lolol", pa.list_(pa.list_(pa.list_(pa.float64())))),
        ("s", pa.struct([("a", i), ("b", pa.struct([("c", st), ("d", pa.list_(i))]))])),
        ("los", pa.list_(pa.struct([("k", i), ("l", pa.list_(st))]))),
        ("m", pa.map_(st, i)), ("mi", pa.map_(i, st)), ("ml", pa.map_(st, pa.list_(i))),
        ("ms", pa.map_(st, pa.struct([("x", pa.float64()), ("y", pa.list_(i))]))), ("mm", pa.map_(st, pa.map_(st, i))),
        ("ll", pa.large_list(st)), ("fl", pa.list_(i, 3)), ("flt", pa.list_(pa.list_(st), 2)), ("lv", pa.list_view(i)), ("llv", pa.large_list_view(st))])
    return pa.Table.from_pylist(rows, schema=schema)

def odd(n):
    """Runs, unions, list views out of order, and dictionaries in other types."""
    r = random.Random(n)
    ends = sorted(r.sample(range(1, max(n, 1)), min(n // 3, max(n - 1, 0)))) + [n] if n else []
    runs = [pa.RunEndEncodedArray.from_arrays(pa.array(ends, t), pa.array([r.choice(["a", "b", None]) for _ in ends], pa.string())) for t in (pa.int16(), pa.int32(), pa.int64())]
    a, b, c = pa.array([r.choice([1, None, 3]) for _ in range(n)], pa.int32()), pa.array([r.choice(["x", "y", None]) for _ in range(n)], pa.string()), pa.array([r.choice([None, {"k": 1, "l": [1, 2]}]) for _ in range(n)], pa.struct([("k", pa.int64()), ("l", pa.list_(pa.int8()))]))
    ids = [r.choice([0, 1, 2]) for _ in range(n)]
    sparse = pa.UnionArray.from_sparse(pa.array(ids, pa.int8()), [a, b, c], ["a", "b", "c"])
    coded = pa.UnionArray.from_sparse(pa.array([[5, 7, 9][i] for i in ids], pa.int8()), [a, b, c], ["a", "b", "c"], [5, 7, 9])
    dense = pa.UnionArray.from_dense(pa.array(ids, pa.int8()), pa.array([r.randrange(n) for _ in range(n)], pa.int32()), [a, b, c], ["a", "b", "c"])
    values = pa.array(range(50), pa.int64())
    starts = [r.randrange(40) for _ in range(n)]; sizes = [r.randrange(6) for _ in range(n)]
    views = pa.ListViewArray.from_arrays(pa.array(starts, pa.int32()), pa.array(sizes, pa.int32()), values)
    lod = pa.ListArray.from_arrays(pa.array(range(0, 2 * n + 1, 2), pa.int32()), pa.array(["p", "q"] * n, pa.string()).dictionary_encode())
    inner = pa.StructArray.from_arrays([pa.array(["u", "v", "u"]).dictionary_encode(), pa.array([1, 2, 3])], ["d", "n"])
    dod = pa.DictionaryArray.from_arrays(pa.array([r.choice([0, 1, 2, None]) for _ in range(n)], pa.int8()), inner)
    dol = pa.DictionaryArray.from_arrays(pa.array([r.choice([0, 1, None]) for _ in range(n)], pa.int8()), pa.array([["a", None], []], pa.list_(pa.string())))
    return pa.table({"r16": runs[0], "r32": runs[1], "r64": runs[2], "sparse": sparse, "coded": coded, "dense": dense, "views": views, "lod": lod, "dod": dod, "dol": dol})

def write(table, path, stream, codec, rows=None, **options):
    o = ipc.IpcWriteOptions(compression=codec, **options)
    with (ipc.new_stream if stream else ipc.new_file)(path, table.schema, options=o) as w: w.write_table(table, max_chunksize=rows)

def write_all(folder):
    files = []
    def put(table, name, stream, codec, rows=None, **options):
        path = os.path.join(folder, name + (".arrows" if stream else ".arrow")); write(table, path, stream, codec, rows, **options); files.append(path)
    for codec in [None, "lz4", "zstd"]:
        for stream in [False, True]:
            for nulls in [False, True]: put(flat(3000, nulls), f"flat-{codec}-{nulls}", stream, codec, 1100)
            put(nested(2000), f"nested-{codec}", stream, codec, 700); put(odd(2000), f"odd-{codec}", stream, codec)
    for n in [0, 1, 7, 8, 9, 1000]:
        for stream in [False, True]:
            put(flat(n, True), f"flat-{n}", stream, "zstd"); put(nested(n), f"nested-{n}", stream, None)
            if n: put(odd(n), f"odd-{n}", stream, "lz4")
    put(flat(300, True), "v4", False, None, metadata_version=ipc.MetadataVersion.V4); put(flat(300, True), "legacy", True, None, use_legacy_format=True)
    put(flat(70000, True), "long", False, None); put(flat(70000, True), "long-zstd", False, "zstd")
    # Dictionaries that grow, and that are replaced.
    for deltas in [False, True]:
        path = os.path.join(folder, f"deltas-{deltas}.arrows"); t = pa.dictionary(pa.int32(), pa.string()); words = ["a", "b", "c", "d", "e"]
        with ipc.new_stream(path, pa.schema([("d", t), ("i", pa.int64())]), options=ipc.IpcWriteOptions(emit_dictionary_deltas=deltas)) as w:
            for k in range(1, 6): w.write_batch(pa.record_batch([pa.DictionaryArray.from_arrays(pa.array([k - 1, 0, None], pa.int32()), pa.array(words[:k] if deltas or k % 2 else [str(k)] * 1 + words[:k])), pa.array([k, k, k])], ["d", "i"]))
        files.append(path)
    try:
        import duckdb
        query = "SELECT i id, i%7 k, i*1.5 f, 'text '||(i%50) t, (i%3=0) b, DATE '2020-01-01'+(i%1000)::INT d, TIMESTAMP '2020-01-01'+to_seconds(i) ts, (i*3)::UBIGINT u, (i/7.0)::DECIMAL(18,3) dec, CASE WHEN i%5=0 THEN NULL ELSE [i, NULL, i+1] END l, {'a': i, 'b': 'x'||i} s, MAP {'k'||(i%3): i} m, uuid() un, (i%100)::TINYINT ti, TIME '00:00:00'+to_seconds(i%86400) tm, (['x','y','z'][i%3+1])::ENUM('x','y','z') e, [i,i+1]::BIGINT[2] fl FROM range(5000) t(i)"
        for codec in [None, "lz4", "zstd"]:
            for stream in [False, True]:
                reader = duckdb.sql(query).to_arrow_table() if hasattr(duckdb.sql("select 1"), "to_arrow_table") else duckdb.sql(query).arrow()
                put(reader.read_all() if hasattr(reader, "read_all") else reader, f"duckdb-{codec}", stream, codec)
    except ImportError: pass
    try:
        import polars as pl
        for codec in ["uncompressed", "lz4", "zstd"]:
            for compat in [True, False]:
                f = pl.DataFrame({"i": list(range(3000)), "f": [v / 3 for v in range(3000)], "t": ["t%d" % (v % 40) + "long" * (v % 5) for v in range(3000)], "l": [[v, v + 1] if v % 4 else None for v in range(3000)], "s": [{"a": v, "b": None if v % 3 else "x"} for v in range(3000)], "b": [v % 2 == 0 if v % 5 else None for v in range(3000)], "c": pl.Series(["u", "v", None] * 1000, dtype=pl.Categorical), "e": pl.Series(["u", "v", None] * 1000, dtype=pl.Enum(["u", "v", "w"])), "d": pl.Series(["1.25", None, "-3.50"] * 1000).cast(pl.Decimal(10, 2)), "bin": [b"x", None, b"yy" * 9] * 1000})
                for stream in [False, True]:
                    path = os.path.join(folder, f"polars-{codec}-{compat}" + (".arrows" if stream else ".arrow"))
                    (f.write_ipc_stream if stream else f.write_ipc)(path, compression=codec, compat_level=pl.CompatLevel.newest() if compat else pl.CompatLevel.oldest()); files.append(path)
    except ImportError: pass
    return files

# --- comparison ---

def trim(t): return t.rstrip("0").rstrip(".") if "." in t else t

def moment(v, unit):
    per = {"s": 1, "ms": 10 ** 3, "us": 10 ** 6, "ns": 10 ** 9}[unit]; seconds, rest = divmod(v, per)
    return ("moment", seconds, rest * (10 ** 9 // per))

def sortedmap(pairs): return dict(pairs)

def expected(v, t):
    """A value of pyarrow (as a scalar) in the form that `found` returns."""
    if isinstance(v, pa.ExtensionScalar) and t.extension_name == "arrow.bool8": v = v.value; return None if v is None or not v.is_valid else bool(v.as_py())
    if isinstance(t, pa.BaseExtensionType):
        if not v.is_valid: return None
        if t.extension_name == "arrow.uuid": return str(v.as_py())
        if t.extension_name == "arrow.json": return json.loads(v.as_py(), parse_float=D)
        return expected(v.value, t.storage_type)
    if pa.types.is_union(t): return expected(v.value, v.value.type) if v.value is not None else None
    if pa.types.is_run_end_encoded(t): return expected(v.value, t.value_type) if isinstance(v, pa.RunEndEncodedScalar) and v.value is not None else None
    if not v.is_valid: return None
    if pa.types.is_dictionary(t): return expected(v.value, t.value_type)
    if pa.types.is_map(t):
        if pa.types.is_string(t.key_type): return {e["key"].as_py(): expected(e["value"], t.item_type) for e in v.values} if v.values is not None else {}
        return [{"key": expected(e["key"], t.key_type), "value": expected(e["value"], t.item_type)} for e in v.values]
    if hasattr(t, "value_type") and not pa.types.is_dictionary(t): return [expected(x, t.value_type) for x in v.values]
    if pa.types.is_struct(t): return {f.name: expected(v[f.name], f.type) for f in t}
    if pa.types.is_timestamp(t): return moment(v.value, t.unit)
    if t == pa.date64(): return ("day", v.value // 86400000)
    if pa.types.is_date(t): return ("day", v.value)
    if pa.types.is_duration(t): return v.value
    if pa.types.is_interval(t): return tuple(v.as_py())
    if pa.types.is_time(t):
        digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[t.unit]; per = 10 ** digits; s, f = divmod(v.value, per)
        return trim("%02d:%02d:%02d.%0*d" % (s // 3600, s // 60 % 60, s % 60, digits, f))
    if pa.types.is_decimal(t): return D(v.as_py())
    if pa.types.is_binary(t) or pa.types.is_large_binary(t) or pa.types.is_fixed_size_binary(t) or pa.types.is_binary_view(t): return base64.b64encode(v.as_py()).decode()
    if pa.types.is_floating(t): f = float(v.as_py()); return None if not math.isfinite(f) else f
    return v.as_py()

def days(y, m, d):
    y -= m <= 2; era = y // 400; yoe = y - era * 400; doy = (153 * (m + (-3 if m > 2 else 9)) + 2) // 5 + d - 1
    return era * 146097 + yoe * 365 + yoe // 4 - yoe // 100 + doy - 719468

def interval(v):
    months = days_ = nanos = 0; date, _, clock = v[1:].partition("T"); number = ""
    for c in date:
        if c in "MD": (months, days_) = (int(number), days_) if c == "M" else (months, int(number)); number = ""
        else: number += c
    if clock: nanos = int(D(clock[:-1]) * 10 ** 9)
    return (months, days_, nanos)

def found(v, t):
    if v is None: return None
    if isinstance(t, pa.BaseExtensionType): return v if t.extension_name.startswith("arrow.") else found(v, t.storage_type)
    if pa.types.is_union(t): return plain(v)
    if pa.types.is_run_end_encoded(t) or pa.types.is_dictionary(t): return found(v, t.value_type)
    if pa.types.is_map(t):
        if pa.types.is_string(t.key_type): return {k: found(x, t.item_type) for k, x in v.items()}
        return [{"key": found(e.get("key"), t.key_type), "value": found(e.get("value"), t.item_type)} for e in v]
    if hasattr(t, "value_type"): return [found(x, t.value_type) for x in v]
    if pa.types.is_struct(t): return {f.name: found(v.get(f.name), f.type) for f in t}
    if pa.types.is_timestamp(t) or pa.types.is_date(t):
        sign = -1 if v.startswith("-") else 1
        body = v.lstrip("-+"); date, _, clock = body.partition("T"); y, m, d = map(int, date.split("-")); n = days(sign * y, m, d)
        if not clock: return ("day", n) if pa.types.is_date(t) else ("moment", n * 86400, 0)
        clock = clock.rstrip("Z"); hms, _, frac = clock.partition("."); h, mi, s = map(int, hms.split(":"))
        return ("moment", n * 86400 + h * 3600 + mi * 60 + s, int((frac + "000000000")[:9]))
    if pa.types.is_interval(t): return interval(v)
    if pa.types.is_decimal(t): return D(str(v))
    if pa.types.is_time(t): return trim(v)
    if pa.types.is_float16(t) or pa.types.is_float32(t): return struct32(float(v))
    if pa.types.is_floating(t): return float(v)
    if t == pa.uint64(): return int(D(str(v)))
    return v

def plain(v): return {k: plain(x) for k, x in v.items()} if isinstance(v, dict) else [plain(x) for x in v] if isinstance(v, list) else float(v) if isinstance(v, D) else v

def read(path):
    with open(path, "rb") as f: magic = f.read(6)
    return (ipc.open_file if magic == b"ARROW1" else ipc.open_stream)(path).read_all()

def compare(firn, path, table=None, pipe=False):
    table = table if table is not None else read(path)
    args = [firn, "convert", "-" if pipe else path, "-", "--to", "ndjson", "-q"]
    run = subprocess.run(args, stdin=open(path, "rb") if pipe else None, capture_output=True)
    if run.returncode: return f"{path}: exit {run.returncode}: {run.stderr.decode()}"
    lines = run.stdout.split(b"\n")[:-1]
    if len(lines) != table.num_rows: return f"{path}: {len(lines)} rows instead of {table.num_rows}"
    rows = [json.loads(l, parse_float=lambda x: D(x)) for l in lines]
    for name in table.column_names:
        column = table[name]; t = column.type
        step = max(1, table.num_rows // 4000)
        for i in range(0, table.num_rows, step):
            a, b = expected(column[i], t), found(rows[i].get(name), t)
            if a != b and not (isinstance(a, float) and a == 0 == b): return f"{path}: row {i}, column {name}: {b!r} instead of {a!r} ({t})"
    return None

def same(a, b):
    """Whether two tables of pyarrow have the same values, as far as the types of Firn distinguish them."""
    for name in a.column_names:
        x, y = a[name], b[name]
        step = max(1, len(x) // 2000)
        for i in range(0, len(x), step):
            p, q = expected(x[i], x.type), expected(y[i], y.type)
            if isinstance(x[i], pa.ExtensionScalar) and x.type.extension_name == "arrow.json": q = json.loads(q, parse_float=D) if isinstance(q, str) and not isinstance(p, str) else q
            if pa.types.is_interval(x.type) or pa.types.is_null(x.type): pass
            if p != q and not (isinstance(p, float) and p == 0 == q): return f"row {i}, column {name}: {q!r} ({y.type}) instead of {p!r} ({x.type})"
    return None

def compare_out(firn, folder, files):
    """Writes each file again with firn, and compares what pyarrow reads of both, the content hashes, and what polars reads."""
    wrong = count = 0
    try: import polars as pl
    except ImportError: pl = None
    for path in files:
        if "odd" in os.path.basename(path): continue
        for suffix, codec in [(".arrow", "none"), (".arrows", "zstd"), (".arrow", "lz4")]:
            out = os.path.join(folder, "out" + suffix); back = os.path.join(folder, "back.firn"); count += 1
            problem = None
            for a, b in [(path, out), (out, back)]:
                run = subprocess.run([firn, "convert", "-q", "-f", *(["--compression", codec] if b == out else []), a, b], capture_output=True)
                if run.returncode: problem = f"convert to {b}: exit {run.returncode}: {run.stderr.decode()}"; break
            if not problem:
                hashes = [subprocess.run([firn, "hash", f], capture_output=True, text=True).stdout[:32] for f in (path, out, back)]
                if len(set(hashes)) != 1 or len(hashes[0]) != 32: problem = f"hashes {hashes}"
                table = read(out); table.validate(full=True)
                problem = problem or same(read(path), table)
                if pl and not problem and not any(pa.types.is_interval(f.type) or "decimal256" in str(f.type) or pa.types.is_map(f.type) for f in table.schema):
                    frame = (pl.read_ipc_stream if suffix == ".arrows" else pl.read_ipc)(out)
                    if frame.height != table.num_rows: problem = f"polars reads {frame.height} rows"
            if problem: wrong += 1; print(f"{path} -> {suffix} {codec}: {problem}"[:600])
    print(f"{count} files written, {wrong} differ")
    return wrong

def main():
    firn, folder, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(folder, exist_ok=True)
    files = rest or write_all(folder)
    wrong = 0
    def report(problem):
        nonlocal wrong
        if problem: wrong += 1; print(problem[:600])
    for path in files:
        report(compare(firn, path))
        if path.endswith(".arrows"): report(compare(firn, path, pipe=True))
    print(f"{len(files)} files, {wrong} differ")
    if not rest: wrong += compare_out(firn, folder, files)
    sys.exit(1 if wrong else 0)

main()
