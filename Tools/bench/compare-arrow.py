#!/usr/bin/env python3
"""Writes Arrow files and streams over all types and codecs, and compares what firn reads with what pyarrow reads; then compares what
pyarrow and polars read of the files that firn writes with the files that they were made from.

usage: compare-arrow.py FIRN FOLDER [FILE...]     (needs pyarrow; duckdb and polars if they are installed)
"""
import json, os, random, subprocess, sys
import pyarrow as pa, pyarrow.ipc as ipc
from compared import D, common_types, compare, expected, maybe, nested_fields, nested_rows

def types(n):
    r = random.Random(n)
    make, common = common_types(n, r)
    ints, decs, texts, raw, words = (make[k] for k in ["ints", "decs", "texts", "raw", "words"])
    return common | {
        "d32": (pa.decimal32(9, 3), decs(9, 3)), "d64": (pa.decimal64(18, 4), decs(18, 4)), "d64s": (pa.decimal64(12, 2), decs(12, 2)),
        "dneg": (pa.decimal128(6, -3), decs(6, -3)), "d256": (pa.decimal256(10, 2), decs(10, 2)), "d256m": (pa.decimal256(30, 2), decs(30, 2)),
        "view": (pa.string_view(), texts()), "lbin": (pa.large_binary(), raw()), "vbin": (pa.binary_view(), raw()),
        "fixed0": (pa.binary(0), raw(0)), "bool8": (pa.bool8(), [r.randint(0, 1) for _ in range(n)]),
        "json": (pa.json_(), [json.dumps(r.choice([1, "x", [1, 2], {"a": None}])) for _ in range(n)]),
        "date64": (pa.date64(), [r.randint(-200000, 200000) * 86400000 for _ in range(n)]),
        "ts_s": (pa.timestamp("s"), ints(-10 ** 10, 10 ** 10)), "ts_ns": (pa.timestamp("ns", "Europe/Oslo"), ints(-2 ** 62, 2 ** 62)),
        "t_s": (pa.time32("s"), ints(0, 86_399)),
        "dur_s": (pa.duration("s"), ints(-10 ** 6, 10 ** 6)), "dur_ns": (pa.duration("ns"), ints(-2 ** 62, 2 ** 62)),
        "iv": (pa.month_day_nano_interval(), [pa.MonthDayNano([r.randint(-50, 50), r.randint(-50, 50), r.randint(-10 ** 12, 10 ** 12)]) for _ in range(n)]),
        "dict8": (pa.dictionary(pa.uint8(), pa.large_string()), [r.choice(words) for _ in range(n)]),
        "dicti": (pa.dictionary(pa.int16(), pa.int64()), [r.randint(0, 9) for _ in range(n)]),
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
    rows = nested_rows(n, lambda i, r, opt, lst: {
        "ll": opt(lst(lambda: opt("t%d" % i))), "fl": opt([opt(i), i, 3]), "flt": opt([["a"], opt(["b", "c"])]),
        "lv": opt(lst(lambda: opt(r.randint(0, 9)))), "llv": opt(lst(lambda: opt(r.choice("pq"))))})
    i = pa.int64(); st = pa.string()
    return pa.Table.from_pylist(rows, schema=pa.schema(nested_fields() + [
        ("ll", pa.large_list(st)), ("fl", pa.list_(i, 3)), ("flt", pa.list_(pa.list_(st), 2)), ("lv", pa.list_view(i)), ("llv", pa.large_list_view(st))]))

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

def read(path):
    with open(path, "rb") as f: magic = f.read(6)
    return (ipc.open_file if magic == b"ARROW1" else ipc.open_stream)(path).read_all()

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
        table = read(path)
        report(compare(firn, path, table))
        if path.endswith(".arrows"): report(compare(firn, path, table, pipe=True))
    print(f"{len(files)} files, {wrong} differ")
    if not rest: wrong += compare_out(firn, folder, files)
    sys.exit(1 if wrong else 0)

main()
