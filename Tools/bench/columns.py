#!/usr/bin/env python3
"""columns.py FIRN FILE...: the bytes of each table as columns of pco (level 8) with zstd (level 19), as columns of OpenZL, and as a file of
`firn convert --profile small`.

Peers get the columns that Firn reads (through Parquet), without a container, names or types. Per column, the smaller of their forms counts:
* pco + zstd: numbers, dates and booleans as integers or doubles by pco; text as one zstd stream of the values, or of the distinct
  values with pco codes; a bitmap of nulls by zstd.
* OpenZL: its generic graph at its highest level over numbers, over strings, and over distinct strings with codes; a bitmap of nulls likewise.

Prints a row a table: name, bytes of Firn, of pco + zstd, of OpenZL, and the ratio of Firn to the smaller one; --columns adds a row a column.
Needs pcodec, openzl, zstandard, numpy and pyarrow."""
import json
import os
import subprocess
import sys
import tempfile

import numpy
import openzl.ext as openzl
import pyarrow
import pyarrow.compute as compute
import pyarrow.parquet
import zstandard
from pcodec import ChunkConfig, standalone

OPENZL_LEVEL = 22


def zstd(data):
    return len(zstandard.ZstdCompressor(level=19).compress(data))


def pco(values):
    if values.dtype in (numpy.int8, numpy.uint8, numpy.bool_):
        values = values.astype(numpy.uint16)
    return len(standalone.simple_compress(numpy.ascontiguousarray(values), ChunkConfig(compression_level=8))) if len(values) else 0


def generic(type_, data, lengths=None):
    """Returns the bytes that OpenZL needs for one input."""
    compressor, context = openzl.Compressor(), openzl.CCtx()
    compressor.select_starting_graph(openzl.graphs.Compress()(compressor))
    context.ref_compressor(compressor)
    context.set_parameter(openzl.CParam.FormatVersion, openzl.MAX_FORMAT_VERSION)
    context.set_parameter(openzl.CParam.CompressionLevel, OPENZL_LEVEL)
    one = openzl.Input(type_, data) if lengths is None else openzl.Input(type_, data, lengths)
    return len(context.compress([one]))


def openzl_numbers(values):
    if not len(values):
        return 0
    values = numpy.ascontiguousarray(values.astype(numpy.uint8) if values.dtype == numpy.bool_ else values)
    forms = [generic(openzl.Type.Numeric, values)]
    # Narrow integers, as a user would choose them.
    if values.dtype.kind in "iu":
        low, high = int(values.min()), int(values.max())
        for narrow in (numpy.uint8, numpy.uint16, numpy.uint32):
            if 0 <= high - low <= numpy.iinfo(narrow).max:
                forms.append(8 + generic(openzl.Type.Numeric, (values - low).astype(narrow)))
                break
    return min(forms)


def strings(texts):
    data = [t.encode() if isinstance(t, str) else t for t in texts]
    return numpy.frombuffer(b"".join(data), dtype=numpy.uint8), numpy.array([len(t) for t in data], dtype=numpy.uint32)


def openzl_text(texts):
    data, lengths = strings(texts)
    return generic(openzl.Type.String, data, lengths) if len(data) else openzl_numbers(lengths)


def zstd_text(texts):
    data, lengths = strings(texts)
    # Texts that end in a line feed, or with their lengths.
    joined = b"\n".join(t.encode() if isinstance(t, str) else t for t in texts)
    return min(zstd(joined) if joined.count(b"\n") == len(texts) - 1 else len(data) + 1 << 40, zstd(data.tobytes()) + pco(lengths))


def numbers(column):
    """Returns a column of numbers, dates, times or booleans as a numpy array, or None."""
    t = column.type
    if pyarrow.types.is_boolean(t):
        return column.to_numpy(zero_copy_only=False).astype(numpy.bool_)
    if pyarrow.types.is_temporal(t):
        return column.cast(pyarrow.int32() if t.bit_width == 32 else pyarrow.int64()).to_numpy(zero_copy_only=False)
    if pyarrow.types.is_integer(t) or pyarrow.types.is_floating(t):
        return column.to_numpy(zero_copy_only=False)
    if pyarrow.types.is_decimal(t):
        # Unscaled integers.
        try:
            return numpy.array([int(v.as_py().scaleb(t.scale)) for v in column], dtype=numpy.int64)
        except OverflowError:
            return None
    return None


def peers(column):
    """Returns the bytes of a column as pco with zstd, and with OpenZL."""
    column = column.combine_chunks() if isinstance(column, pyarrow.ChunkedArray) else column
    extra = [0, 0]
    if column.null_count:
        bitmap = numpy.packbits(compute.is_valid(column).to_numpy(zero_copy_only=False)).tobytes()
        extra = [zstd(bitmap), generic(openzl.Type.Serial, numpy.frombuffer(bitmap, dtype=numpy.uint8))]
        column = column.drop_null()
    if not len(column):
        return extra
    values = numbers(column)
    if values is not None:
        return [extra[0] + pco(values), extra[1] + openzl_numbers(values)]
    if pyarrow.types.is_list(column.type) or pyarrow.types.is_struct(column.type):
        texts = [json.dumps(v.as_py(), default=str) for v in column]
    else:
        texts = [v.as_py() if isinstance(v.as_py(), bytes) else str(v.as_py()) for v in column]
    distinct = list(dict.fromkeys(texts))
    codes = {t: i for i, t in enumerate(distinct)}
    codes = numpy.array([codes[t] for t in texts], dtype=numpy.uint32)
    return [
        extra[0] + min(zstd_text(texts), zstd_text(distinct) + pco(codes)),
        extra[1] + min(openzl_text(texts), openzl_text(distinct) + openzl_numbers(codes)),
    ]


def main():
    words = [w for w in sys.argv[1:] if w != "--columns"]
    if len(words) < 2 or words[0].startswith("-"):
        sys.exit(__doc__)
    firn, each = words[0], "--columns" in sys.argv
    for path in words[1:]:
        with tempfile.TemporaryDirectory() as folder:
            small, parquet = os.path.join(folder, "s.firn"), os.path.join(folder, "s.parquet")
            for target, options in ((small, ["--profile", "small"]), (parquet, [])):
                subprocess.run([firn, "convert", "--force", "-q", *options, path, target], check=True)
            table = pyarrow.parquet.read_table(parquet)
            info = json.loads(subprocess.run([firn, "info", "--json", small], check=True, capture_output=True, text=True).stdout)
            ours = {c["name"]: c.get("bytes", 0) for t in info["types"] for c in t["columns"]}
            columns = [(name, *peers(table.column(name))) for name in table.column_names]
            total = [sum(c[i] for c in columns) for i in (1, 2)]
            # The better peer of each column.
            best = sum(min(c[1:]) for c in columns)
            size = os.path.getsize(small)
            print(os.path.basename(path), size, total[0], total[1], best, f"{size / min(total):.3f}", f"{size / best:.3f}", sep="\t", flush=True)
            if each:
                for name, one, two in sorted(columns, key=lambda c: min(c[1:]) - ours.get(c[0], 0)):
                    print("", name, ours.get(name), one, two, sep="\t")


main()
