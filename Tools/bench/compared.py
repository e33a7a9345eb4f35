"""Tables of pyarrow over all types, and the comparison of what firn reads with what pyarrow reads: for compare-arrow.py and
compare-parquet.py."""
import base64, decimal, json, math, random, struct, subprocess
import pyarrow as pa

D = decimal.Decimal
decimal.getcontext().prec = 100

def struct32(v): return struct.unpack("f", struct.pack("f", v))[0]

def maybe(r, values, nulls): return [None if nulls and r.random() < 0.2 else v for v in values]

def common_types(n, r):
    """Types that Arrow and Parquet both have, and values of them."""
    def ints(lo, hi): return [r.choice([lo, hi, 0, r.randint(lo, hi)]) for _ in range(n)]
    def reals(): return [r.choice([0.0, -0.0, 1.5, r.uniform(-1e9, 1e9), r.random(), round(r.uniform(0, 100), 2), float('inf')]) for _ in range(n)]
    def decs(p, s): return [D(r.choice([0, 10 ** p - 1, -(10 ** p - 1), r.randint(-10 ** p + 1, 10 ** p - 1)])).scaleb(-s) for _ in range(n)]
    words = ["", "a", "été", "日本語", "x" * 12, "x" * 13, "x" * 15, "y" * 16, "z" * 40, "alpha", "beta"]
    def texts(): return [r.choice(words) + (str(r.randint(0, 50)) if r.random() < .5 else "") for _ in range(n)]
    def raw(k=None): return [bytes(r.randrange(256) for _ in range(r.randrange(20) if k is None else k)) for _ in range(n)]
    make = {"ints": ints, "reals": reals, "decs": decs, "texts": texts, "raw": raw, "words": words}
    return make, {
        "bool": (pa.bool_(), [r.random() < .5 for _ in range(n)]),
        "i8": (pa.int8(), ints(-128, 127)), "i16": (pa.int16(), ints(-2 ** 15, 2 ** 15 - 1)),
        "i32": (pa.int32(), ints(-2 ** 31, 2 ** 31 - 1)), "i64": (pa.int64(), ints(-2 ** 63, 2 ** 63 - 1)),
        "u8": (pa.uint8(), ints(0, 255)), "u16": (pa.uint16(), ints(0, 2 ** 16 - 1)), "u32": (pa.uint32(), ints(0, 2 ** 32 - 1)),
        "u64": (pa.uint64(), ints(0, 2 ** 64 - 1)),
        "f16": (pa.float16(), [float(r.choice([0, 1, -2, 0.5, 65504, 6e-8, float('inf')])) for _ in range(n)]),
        "f32": (pa.float32(), [struct32(v) for v in reals()]), "f64": (pa.float64(), reals()),
        "d5": (pa.decimal128(5, 2), decs(5, 2)), "d15": (pa.decimal128(15, 15), decs(15, 15)),
        "d34": (pa.decimal128(34, 10), decs(34, 10)), "d38": (pa.decimal128(38, 0), decs(38, 0)), "d76": (pa.decimal256(76, 20), decs(76, 20)),
        "text": (pa.string(), texts()), "large": (pa.large_string(), texts()), "bin": (pa.binary(), raw()), "fixed": (pa.binary(7), raw(7)),
        "uuid": (pa.uuid(), raw(16)), "date": (pa.date32(), [r.randint(-200000, 200000) for _ in range(n)]),
        "ts_ms": (pa.timestamp("ms"), ints(-10 ** 13, 10 ** 13)), "ts_us": (pa.timestamp("us", "UTC"), ints(-10 ** 16, 10 ** 16)),
        "t_ms": (pa.time32("ms"), ints(0, 86_399_999)), "t_us": (pa.time64("us"), ints(0, 86_399_999_999)),
        "t_ns": (pa.time64("ns"), ints(0, 86_399_999_999_999)),
        "dict": (pa.dictionary(pa.int32(), pa.string()), texts()), "null": (pa.null(), [None] * n),
    }

def nested_rows(n, more=lambda i, r, opt, lst: {}):
    """Rows with lists, maps and objects in each other, and the fields that `more` returns."""
    r = random.Random(n)
    def opt(v, p=.2): return None if r.random() < p else v
    def lst(f, k=4): return [f() for _ in range(r.randrange(k))]
    def some(k): return sorted(set(lst(lambda: r.choice(k))))
    return [{
        "id": i, "ints": opt(lst(lambda: opt(r.randint(-5, 5)))), "lol": opt(lst(lambda: opt(lst(lambda: opt(r.choice("abc")))))),
        "lolol": opt(lst(lambda: opt(lst(lambda: opt(lst(lambda: opt(r.random()))))))),
        "s": opt({"a": opt(i), "b": opt({"c": opt("x%d" % i), "d": opt(lst(lambda: r.randint(0, 9)))})}),
        "los": opt(lst(lambda: opt({"k": opt(r.randint(0, 9)), "l": opt(lst(lambda: opt(r.choice(["q", None, "r"]))))}))),
        "m": opt([(k, opt(r.randint(0, 99))) for k in some("abcdef")]), "mi": opt([(k, opt("v%d" % k)) for k in some(range(10))]),
        "ml": opt([(k, opt(lst(lambda: opt(r.randint(0, 9))))) for k in some("abcdef")]),
        "ms": opt([(k, opt({"x": opt(r.random()), "y": opt(lst(lambda: r.randint(0, 3)))})) for k in some("abcdef")]),
        "mm": opt([(k, opt([(j, r.randint(0, 5)) for j in some("xyz")])) for k in some("abcdef")]), **more(i, r, opt, lst),
    } for i in range(n)]

def nested_fields():
    i = pa.int64(); st = pa.string()
    return [
        ("id", i), ("ints", pa.list_(i)), ("lol", pa.list_(pa.list_(st))), ("lolol", pa.list_(pa.list_(pa.list_(pa.float64())))),
        ("s", pa.struct([("a", i), ("b", pa.struct([("c", st), ("d", pa.list_(i))]))])),
        ("los", pa.list_(pa.struct([("k", i), ("l", pa.list_(st))]))),
        ("m", pa.map_(st, i)), ("mi", pa.map_(i, st)), ("ml", pa.map_(st, pa.list_(i))),
        ("ms", pa.map_(st, pa.struct([("x", pa.float64()), ("y", pa.list_(i))]))), ("mm", pa.map_(st, pa.map_(st, i)))]

# --- comparison ---

def trim(t): return t.rstrip("0").rstrip(".") if "." in t else t

def moment(v, unit):
    per = {"s": 1, "ms": 10 ** 3, "us": 10 ** 6, "ns": 10 ** 9}[unit]; seconds, rest = divmod(v, per)
    return ("moment", seconds, rest * (10 ** 9 // per))

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

def compare(firn, path, table, pipe=False):
    """Compares the rows that firn reads with those of a table of pyarrow, and returns the first difference."""
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
