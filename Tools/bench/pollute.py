#!/usr/bin/env python3
"""Generates CSV files with every kind of pollution, converts them with firn, and compares the rows with those that were generated.

usage: pollute.py FIRN [--files N] [--seed S] [--kind NAME] [--keep FOLDER]

Prints a Markdown table: for each kind the files, how many were read, how many gave exactly the generated rows, how many gave them with
every expected report, and how many gave the same bytes back after --lossless or a reason why not."""
import argparse, json, os, random, re, subprocess, sys, tempfile

WORDS = "amber birch cedar delta ember fjord grove heath inlet jetty knoll larch meadow north ochre pines quartz ridge stone tundra".split()


def cells(random, kind):
    """Returns a function that makes a cell of one kind."""
    if kind == "int":
        return lambda: str(random.randrange(0, 100000))
    if kind == "real":
        return lambda: f"{random.randrange(0, 9999)}.{random.randrange(1, 10)}"
    if kind == "date":
        return lambda: f"{random.randrange(1990, 2024)}-{random.randrange(1, 13):02}-{random.randrange(1, 29):02}"
    if kind == "text":
        return lambda: " ".join(random.choice(WORDS) for _ in range(random.randrange(1, 4)))
    return lambda: random.choice(WORDS) + str(random.randrange(100))


class Table:
    def __init__(self, random, columns=None, rows=None, empties=True, kinds=None):
        self.random = random
        n = columns or random.randrange(3, 9)
        kinds = kinds or [random.choice(["int", "real", "date", "text", "word"]) for _ in range(n)]
        if "int" not in kinds:
            kinds[random.randrange(n)] = "int"
        self.kinds = kinds
        self.names = []
        while len(self.names) < n:
            name = random.choice(WORDS) + random.choice(["", "_id", " name", "Date"])
            if name not in self.names:
                self.names.append(name)
        makers = [cells(random, kind) for kind in kinds]
        self.rows = [[make() for make in makers] for _ in range(rows if rows is not None else random.randrange(5, 200))]
        if empties and n > 2:
            for row in self.rows:
                if random.random() < 0.1:
                    row[random.randrange(1, n)] = ""

    def put(self, text, share=0.1):
        """Puts a text into some cells of a column, which becomes text."""
        for row in self.rows:
            if self.random.random() < share or row is self.rows[0]:
                row[1] = text(self.random)

    def join(self, delimiter=",", quote='"', escape=None, end="\n", header=True, always=False, pad="", last=True):
        def cell(text):
            special = [delimiter, "\n", "\r"] + ([quote] if quote else [])
            if always or any(s in text for s in special):
                inner = text.replace(escape, escape + escape).replace(quote, escape + quote) if escape else text.replace(quote, quote * 2)
                return pad + quote + inner + quote + pad
            return text
        lines = ([self.names] if header else []) + self.rows
        text = end.join(delimiter.join(cell(c) for c in line) for line in lines)
        return text + (end if last else "")


KINDS = {}


def kind(name, report=None, flags=()):
    def add(make):
        KINDS[name] = (make, report, list(flags))
        return make
    return add


def simple(name, report=None, flags=(), table={}, **join):
    KINDS[name] = (lambda r: (lambda t: (t, t.join(**join)))(Table(r, **table)), report, list(flags))


simple("plain")
for label, delimiter in [("semicolon", ";"), ("tab", "\t"), ("bar", "|")]:
    simple(f"delimiter {label}", "separated by", delimiter=delimiter)
for label, delimiter in [("colon", ":"), ("tilde", "~"), ("caret", "^")]:
    simple(f"delimiter {label}", "separated by", delimiter=delimiter, table={"empties": False})
simple("delimiter space", "separated by spaces", delimiter=" ", table={"kinds": ["int", "real", "word", "date"], "columns": 4, "empties": False})
KINDS["delimiter space"] = (lambda r: (lambda t: (setattr(t, "names", ["a", "b", "c", "d"]), (t, t.join(delimiter=" ")))[1])(
    Table(r, columns=4, kinds=["int", "real", "word", "date"], empties=False)), "separated by spaces", [])
for label, delimiter in [("two colons", "::"), ("two bars", "||"), ("comma and space", ", "), ("bar, tilde, bar", "|~|")]:
    simple(f"delimiter {label}", "separated by", delimiter=delimiter, table={"empties": False} if delimiter == ", " else {})
simple("delimiter given (--delimiter)", None, ["--delimiter", "@"], delimiter="@")


@kind("delimiter in quotes")
def _(r):
    t = Table(r)
    t.put(lambda r: r.choice(WORDS) + ", " + r.choice(WORDS))
    return t, t.join()


@kind("semicolon, decimal comma in cells", "separated by")
def _(r):
    t = Table(r)
    t.put(lambda r: f"{r.randrange(100)},{r.randrange(10)}", 0.9)
    text = t.join(delimiter=";")
    # Such a column is numeric if its other cells do not contradict the comma.
    t.reading = lambda cell: cell.replace(",", ".")
    return t, text


def number(value, mark, group):
    """Writes a plain number with a decimal mark and a separator between groups of three digits."""
    sign, digits = ("-", value[1:]) if value.startswith("-") else ("", value)
    whole, _, fraction = digits.partition(".")
    if group:
        whole = f"{int(whole):,}".replace(",", group)
    return sign + whole + (mark + fraction if fraction else "")


def numeric(name, report, mark, group, digits, flags=(), size=7, certain=None, text=False, odd=None, **join):
    """Adds a kind whose second and third columns have numbers in a notation. `digits` are the possible lengths of fractions, `certain` a
    number that allows one reading only. With `text`, the columns are expected to stay text."""
    def make(r):
        t = Table(r, columns=4, kinds=["int", "real", "real", "word"], empties=False, rows=r.randrange(5, 200))
        t.names = ["id", "price", "amount", "word"]
        for row in t.rows:
            for i in (1, 2):
                places = r.choice(digits)
                row[i] = r.choice(["", "", "-"]) + str(r.randrange(1, 10 ** r.randrange(1, size + 1)))
                if places:
                    row[i] += "." + "".join(str(r.randrange(10)) for _ in range(places))
        if certain:
            t.rows[r.randrange(len(t.rows))][1:3] = [certain, certain]
        plain = [list(row) for row in t.rows]
        for row, values in zip(t.rows, plain):
            row[1:3] = [number(cell, mark, group) for cell in row[1:3]]
        if odd:
            i = r.randrange(1, len(t.rows))
            t.rows[i][1:3] = [odd, odd]
            plain[i][1:3] = ["", ""]
        content = t.join(**join)
        if not text:
            t.rows = plain
        return t, content
    KINDS[name] = (make, report, list(flags))


numeric("decimal comma", "decimal comma", ",", "", [1, 2, 4], certain="0.5", delimiter=";")
numeric("decimal comma, two digits", "decimal comma", ",", "", [2], delimiter=";")
numeric("decimal comma, tab", "decimal comma", ",", "", [0, 1, 2], certain="0.5", delimiter="\t")
numeric("decimal comma, no header", "decimal comma", ",", "", [1, 2], certain="0.5", delimiter=";", header=False)
numeric("decimal comma and NA", "together with", ",", "", [1, 2], certain="0.5", odd="NA", delimiter=";")
numeric("decimal comma, quoted, commas between cells (--decimal)", None, ",", "", [1, 2], ["--decimal", ","])
numeric("decimal comma, quoted, commas between cells", "--decimal price=,", ",", "", [1, 2], certain="0.5", text=True)
for label, group in [("point", "."), ("space", " "), ("no-break space", "\xa0"), ("narrow space", "\u202f"), ("apostrophe", "'")]:
    numeric(f"decimal comma, groups with {label}", "decimal comma and", ",", group, [1, 2], certain="1234567.25", delimiter=";")
for label, group in [("comma", ","), ("space", " "), ("apostrophe", "'"), ("right quote", "\u2019")]:
    numeric(f"decimal point, groups with {label}", "between groups", ".", group, [1, 2], certain="1234567.25")
for label, group in [("comma", ","), ("point", "."), ("space", " ")]:
    numeric(f"whole numbers, groups with {label}", "between groups", "," if group == "." else ".", group, [0], certain="1234567", delimiter=";")
numeric("groups or fractions of three digits", "two ways", ",", "", [3], certain="12.345", size=3, text=True, delimiter=";")
numeric("groups or fractions of three digits (--decimal)", None, ",", "", [3], ["--decimal", ","], size=3, delimiter=";")
numeric("decimal comma and decimal point", "different marks", ",", "", [1, 2], certain="0.5", odd="1.5", text=True, delimiter=";")


@kind("percentages and currencies")
def _(r):
    t = Table(r, columns=4, kinds=["int", "word", "word", "word"])
    for row in t.rows:
        row[1:3] = [f"{r.randrange(100)},{r.randrange(10)}%", r.choice(["€ ", "$"]) + f"{r.randrange(100)},{r.randrange(10)}"]
    return t, t.join(delimiter=";")


@kind("quoted line ends")
def _(r):
    t = Table(r)
    t.put(lambda r: r.choice(WORDS) + "\n" + r.choice(WORDS))
    return t, t.join()


@kind("doubled quotes")
def _(r):
    t = Table(r)
    t.put(lambda r: f'{r.choice(WORDS)} "{r.choice(WORDS)}" {r.choice(WORDS)}')
    return t, t.join()


@kind("quote apostrophe", "quoted with")
def _(r):
    t = Table(r)
    t.put(lambda r: f"{r.choice(WORDS)}, {r.choice(WORDS)}", 0.5)
    return t, t.join(quote="'")


@kind("quote backtick", "quoted with")
def _(r):
    t = Table(r)
    t.put(lambda r: f"{r.choice(WORDS)}, {r.choice(WORDS)}", 0.5)
    return t, t.join(quote="`")


@kind("all cells quoted")
def _(r):
    t = Table(r, empties=False)
    return t, t.join(always=True)


@kind("escape backslash", "backslash")
def _(r):
    t = Table(r)
    t.put(lambda r: f'{r.choice(WORDS)} "{r.choice(WORDS)}", {r.choice(WORDS)}', 0.5)
    return t, t.join(escape="\\")


@kind("quotes are text (inches)")
def _(r):
    t = Table(r)
    t.put(lambda r: f'{r.randrange(40)}" {r.choice(WORDS)}')
    return t, "\n".join(",".join(line) for line in [t.names] + t.rows) + "\n"


@kind("quotes in quotes, not doubled", "not doubled")
def _(r):
    t = Table(r)
    t.put(lambda r: f'{r.choice(WORDS)} "{r.choice(WORDS)}" {r.choice(WORDS)}', 0.3)
    return t, "\n".join(",".join(f'"{c}"' if '"' in c else c for c in line) for line in [t.names] + t.rows) + "\n"


@kind("opening quote without closing", "opening quote|quotes are read as text")
def _(r):
    t = Table(r)
    t.rows[r.randrange(len(t.rows))][1] = '"' + r.choice(WORDS)
    return t, "\n".join(",".join(line) for line in [t.names] + t.rows) + "\n"


@kind("text after a closing quote", "quote")
def _(r):
    t = Table(r)
    t.rows[r.randrange(len(t.rows))][1] = f'"{r.choice(WORDS)}" {r.choice(WORDS)}'
    return t, "\n".join(",".join(line) for line in [t.names] + t.rows) + "\n"


@kind("spaces around quoted cells", "spaces around")
def _(r):
    t = Table(r)
    t.put(lambda r: f"{r.choice(WORDS)}, {r.choice(WORDS)}", 0.5)
    return t, t.join(pad=" ")


simple("byte order mark")
KINDS["byte order mark"] = (lambda r: (lambda t: (t, "\ufeff" + t.join()))(Table(r)), None, [])


def encoded(name, encoding, report, letters, flags=(), mark=b""):
    def make(r):
        t = Table(r)
        t.put(lambda r: r.choice(WORDS) + r.choice(letters), 0.5)
        return t, mark + t.join().encode(encoding)
    KINDS[name] = (make, report, list(flags))


encoded("UTF-8 letters", "utf-8", None, "äöüßéñ日本")
encoded("Latin-1", "latin-1", "read as latin-1", "äöüßéñ")
encoded("Windows-1252", "cp1252", "read as windows-1252", "€…–’")
encoded("UTF-16 with mark, little", "utf-16-le", "converted from utf-16le", "äöü日", mark=b"\xff\xfe")
encoded("UTF-16 with mark, big", "utf-16-be", "converted from utf-16be", "äöü日", mark=b"\xfe\xff")
encoded("UTF-16 without mark", "utf-16-le", "converted from utf-16le", "äöü")
encoded("Windows-1250 (--encoding)", "cp1250", "converted from windows-1250", "łśżąčř", ["--encoding", "windows-1250"])
encoded("Shift JIS (--encoding)", "shift_jis", "converted from shift_jis", "日本語表", ["--encoding", "shift_jis"])


@kind("sep= line", "sep=")
def _(r):
    t, d = Table(r), r.choice(";|,\t:")
    end = r.choice(["\n", "\r\n"])
    return t, f"sep={d}{end}" + t.join(delimiter=d, end=end)


@kind("preamble", "table begins in line")
def _(r):
    t = Table(r)
    lines = [f"Report of {r.choice(WORDS)}", "Generated on 2024-01-02", "Source: the office of " + r.choice(WORDS)][: r.randrange(1, 4)]
    return t, "\n".join(lines) + "\n" + ("\n" if r.random() < 0.5 else "") + t.join()


@kind("preamble padded to the width", "table begins in line")
def _(r):
    t = Table(r, empties=False)
    pad = "," * (len(t.names) - 1)
    return t, f"Report of {r.choice(WORDS)}{pad}\n" + (pad + "\n" if r.random() < 0.5 else "") + t.join()


@kind("preamble (--skip)", None, ["--skip", "2"])
def _(r):
    t = Table(r)
    return t, "a,b,c\nx;y\n" + t.join()


@kind("footer", "after the table")
def _(r):
    t = Table(r)
    return t, t.join() + r.choice(["\nTotal: 12 rows\n", "End of the report\n", "\n* provisional figures\n* see the notes\n"])


@kind("footer (--skip-footer)", "after the table", ["--skip-footer", "1"])
def _(r):
    t = Table(r)
    return t, t.join() + ",".join(["Total"] + ["1"] * (len(t.names) - 1)) + "\n"


@kind("comments", "comment")
def _(r):
    t = Table(r)
    lines = t.join().split("\n")[:-1]
    for _ in range(r.randrange(1, 5)):
        lines.insert(r.randrange(1, len(lines) + 1), "# " + r.choice(WORDS))
    return t, "\n".join(["# made by hand"] + lines) + "\n"


@kind("comments (--comment)", "comment", ["--comment", "//"])
def _(r):
    t = Table(r)
    lines = t.join().split("\n")[:-1]
    lines.insert(r.randrange(1, len(lines)), "// " + r.choice(WORDS) + ", and more")
    return t, "\n".join(lines) + "\n"


@kind("trailing delimiters", "end with a delimiter")
def _(r):
    t = Table(r)
    return t, "".join(",".join(line) + ",\n" for line in [t.names] + t.rows)


@kind("trailing delimiters, not in the header", "end with a delimiter")
def _(r):
    t = Table(r)
    return t, ",".join(t.names) + "\n" + "".join(",".join(line) + ",\n" for line in t.rows)


@kind("short rows", "fewer than")
def _(r):
    t = Table(r, rows=r.randrange(10, 100))
    for _ in range(r.randrange(1, 5)):
        row, keep = t.rows[r.randrange(len(t.rows) - 1)], r.randrange(1, len(t.names))
        row[keep:] = [None] * (len(t.names) - keep)
    text = "\n".join(",".join(c for c in line if c is not None) for line in [t.names] + t.rows) + "\n"
    t.rows = [[c or "" for c in row] for row in t.rows]
    return t, text


@kind("long rows", "more cells than the header")
def _(r):
    t = Table(r, rows=r.randrange(10, 100))
    extra = r.randrange(1, 3)
    long = set(r.sample(range(len(t.rows)), r.randrange(1, 5)))
    t.rows = [row + ([r.choice(WORDS)] * extra if i in long else []) for i, row in enumerate(t.rows)]
    text = t.join()
    width = len(t.names) + extra
    t.rows = [row + [""] * (width - len(row)) for row in t.rows]
    return t, text


@kind("long rows, surplus empty", "surplus cells")
def _(r):
    t = Table(r, rows=r.randrange(10, 100))
    long = set(r.sample(range(len(t.rows)), r.randrange(1, 5)))
    lines = [",".join(t.names)] + [",".join(row) + (",," if i in long else "") for i, row in enumerate(t.rows)]
    return t, "\n".join(lines) + "\n"


@kind("long rows (--ragged cut)", "cut", ["--ragged", "cut"])
def _(r):
    t = Table(r, rows=20)
    lines = [",".join(t.names)] + [",".join(row) + (",more" if i in (3, 9) else "") for i, row in enumerate(t.rows)]
    return t, "\n".join(lines) + "\n"


@kind("no header", "first record is data")
def _(r):
    t = Table(r, empties=False)
    return t, t.join(header=False)


@kind("no header (--no-header)", None, ["--no-header"])
def _(r):
    t = Table(r, kinds=["text", "word", "int"], columns=3)
    return t, t.join(header=False)


@kind("duplicate names", "name")
def _(r):
    t = Table(r)
    t.names[1] = t.names[0]
    return t, t.join()


@kind("empty names", "no name")
def _(r):
    t = Table(r, empties=False)
    t.names[r.randrange(len(t.names))] = ""
    return t, t.join()


@kind("header of two lines")
def _(r):
    t = Table(r, empties=False)
    second = [r.choice(["kg", "m", "s", "text"]) for _ in t.names]
    t.rows.insert(0, second)
    return t, t.join()


for label, end in [("CRLF", "\r\n"), ("CR", "\r")]:
    simple(f"line ends {label}", end=end)


@kind("line ends LF and CRLF")
def _(r):
    t = Table(r)
    return t, "".join(",".join(line) + r.choice(["\n", "\r\n"]) for line in [t.names] + t.rows)


@kind("line ends LF, CRLF and CR", "end in different ways")
def _(r):
    t = Table(r, empties=False)
    return t, "".join(",".join(line) + ["\n", "\r\n", "\r"][i % 3] for i, line in enumerate([t.names] + t.rows))


@kind("CR within cells")
def _(r):
    t = Table(r)
    t.rows[r.randrange(len(t.rows))][1] = r.choice(WORDS) + "\r" + r.choice(WORDS)
    return t, "\n".join(",".join(line) for line in [t.names] + t.rows) + "\n"


simple("no line end at the end", last=False)


@kind("blank lines", "blank line")
def _(r):
    t = Table(r)
    lines = t.join().split("\n")[:-1]
    for _ in range(r.randrange(1, 5)):
        lines.insert(r.randrange(1, len(lines)), "")
    return t, "\n".join(lines) + "\n"


@kind("NUL bytes")
def _(r):
    t = Table(r)
    t.put(lambda r: r.choice(WORDS) + "\0")
    return t, t.join()


@kind("one column")
def _(r):
    t = Table(r, columns=1, kinds=[r.choice(["int", "word"])], empties=False)
    t.names = ["value"] if t.kinds == ["int"] else ["name"]
    return t, t.join()


simple("one row", table={"rows": 1})
simple("header only", table={"rows": 0})
KINDS["empty"] = (lambda r: (None, r.choice(["", "\n", "\r\n\r\n", "\ufeff"])), "empty", [])
simple("1,000 columns", table={"columns": 60, "rows": 3})


def wide(r):
    t = Table(r, columns=3, rows=20)
    t.names = [f"c{i}" for i in range(1000)]
    t.rows = [[str(r.randrange(1000)) for _ in range(1000)] for _ in range(20)]
    return t, t.join()


KINDS["1,000 columns"] = (wide, None, [])


@kind("very long cell")
def _(r):
    t = Table(r, rows=10)
    t.put(lambda r: (r.choice(WORDS) + ", \n") * r.randrange(1, 40000))
    return t, t.join()


@kind("two pollutions: Latin-1, semicolon, CRLF, preamble", "separated by")
def _(r):
    t = Table(r)
    t.put(lambda r: r.choice(WORDS) + r.choice("äöü"), 0.5)
    return t, ("Bericht\r\n\r\n" + t.join(delimiter=";", end="\r\n")).encode("latin-1")


MARKS = "repeats? the header, or consists? of dashes or control characters"


def typed(r, rows=None):
    """A table whose first column is whole numbers, so that it is no table of texts."""
    return Table(r, columns=4, rows=rows or r.randrange(20, 200), kinds=["int", "word", "real", "date"], empties=False)


@kind("repeated header in the middle", MARKS)
def _(r):
    t = typed(r)
    lines = t.join().splitlines(keepends=True)
    for _ in range(r.randrange(1, 4)):
        lines.insert(r.randrange(2, len(lines) + 1), lines[0])
    return t, "".join(lines)


@kind("repeated header after a form feed", MARKS)
def _(r):
    t = typed(r)
    lines = t.join().splitlines(keepends=True)
    lines.insert(r.randrange(2, len(lines)), "\f" + lines[0])
    return t, "".join(lines)


@kind("rule below the header", MARKS)
def _(r):
    t = typed(r)
    header, rest = t.join().split("\n", 1)
    return t, header + "\n" + ",".join(r.choice("-=") * 5 for _ in t.names) + "\n" + rest


@kind("Ctrl-Z at the end", MARKS)
def _(r):
    t = typed(r)
    return t, t.join() + "\x1a"


@kind("NUL bytes after the end", MARKS)
def _(r):
    t = typed(r)
    return t, t.join() + "\0" * r.randrange(1, 2000)


@kind("units below the header", 'is text because of "')
def _(r):
    t = typed(r)
    t.rows.insert(0, ["", "", r.choice(["[EUR]", "kg", "m/s"]), ""])
    return t, t.join()


@kind("totals in the last row", 'is text because of "Total"')
def _(r):
    t = typed(r)
    t.rows.append(["Total", "", "12345.5", ""])
    return t, t.join()


@kind("byte order mark, sep= and CRLF", "sep=;")
def _(r):
    t = Table(r)
    return t, b"\xef\xbb\xbf" + ("sep=;\r\n" + t.join(delimiter=";", end="\r\n")).encode()


@kind("line end in a name")
def _(r):
    t = Table(r)
    t.names[1] = t.names[1] + "\n(EUR)"
    return t, t.join()


encoded("Windows-1252 with curved quotes", "cp1252", "windows-1252", "\u201c\u201d\u2013\u20ac\u2019")
encoded("UTF-16 without mark, big", "utf-16-be", "utf-16be", "äöüß")


@kind("blank line after every row", "blank lines")
def _(r):
    t = Table(r)
    return t, t.join(end="\n\n")


@kind("trailing delimiters in some rows", "surplus cells, all of them empty")
def _(r):
    t = typed(r)
    lines = t.join().splitlines()
    for i in r.sample(range(1, len(lines)), 3):
        lines[i] += ","
    return t, "\n".join(lines) + "\n"


@kind("negative numbers in parentheses", "is text: .* are not numbers|is text because of|is text: .* is not numbers")
def _(r):
    t = typed(r)
    for row in t.rows[::3]:
        row[2] = f"({row[2]})"
    return t, t.join()


@kind("dates in mixed order", "two ways|is text")
def _(r):
    t = typed(r)
    for row in t.rows:
        a, b = r.randrange(1, 13), r.randrange(1, 13)
        row[3] = f"{a:02}/{b:02}/2021"
    t.rows[0][3], t.rows[1][3] = "25/01/2021", "01/26/2021"
    return t, t.join()


@kind("formulas")
def _(r):
    t = typed(r)
    for row in t.rows:
        row[1] = f'="00{r.randrange(1000)}"'
    return t, "\n".join(",".join(row) for row in [t.names] + t.rows) + "\n"


@kind("escaped and doubled quotes", "backslash|quotes")
def _(r):
    t = typed(r)
    lines = [",".join(t.names)]
    for i, row in enumerate(t.rows):
        word = row[1]
        row[1] = f'x "{word}" y, z'
        inner = row[1].replace('"', '\\"' if i % 2 else '""')
        lines.append(",".join([row[0], f'"{inner}"'] + row[2:]))
    return t, "\n".join(lines) + "\n"


@kind("a leading empty column", "has no name")
def _(r):
    t = typed(r)
    text = "".join("," + line for line in t.join().splitlines(keepends=True))
    t.rows = [[""] + row for row in t.rows]
    return t, text


def same(value, text):
    if value is None:
        return text == ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(text) == float(value)
        except ValueError:
            return False
    return str(value) == text


def run(*arguments):
    return subprocess.run([str(a) for a in arguments], capture_output=True)


def check(firn, path, table, report, flags):
    """Returns (read, rows right, reported, lossless or explained, what is wrong)."""
    stored = path + ".firn"
    made = run(firn, "convert", "--force", *flags, path, stored)
    told = made.stderr.decode("utf-8", "replace")
    if table is None:
        refused = made.returncode == 3 and report in told
        return refused, refused, refused, refused, told
    if made.returncode != 0:
        return False, False, False, True, told
    rows = [json.loads(line) for line in run(firn, "query", stored, "--format", "ndjson").stdout.splitlines()]
    right = len(rows) == len(table.rows)
    wrong = f"{len(rows)} rows instead of {len(table.rows)}" if not right else ""
    for i, (row, expected) in enumerate(zip(rows, table.rows)):
        values = list(row.values())
        values += [None] * (len(expected) - len(values))
        reading = getattr(table, "reading", lambda cell: cell)
        if len(values) != len(expected) or not all(same(v, t) or same(v, reading(t)) for v, t in zip(values, expected)):
            right, wrong = False, f"row {i + 1}: {values} instead of {expected}"
            break
    reported = right and (report is None or re.search(report, told) is not None)
    kept = run(firn, "convert", "--force", "--lossless", *flags, path, stored)
    if kept.returncode == 0:
        back = path + ".back.csv"
        run(firn, "convert", "--force", stored, back)
        lossless = open(back, "rb").read() == open(path, "rb").read()
    else:
        lossless = None if b"cannot be reproduced from here on: " in kept.stderr else False
    return True, right, reported, lossless, wrong or (told if not reported else kept.stderr.decode("utf-8", "replace"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("firn")
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", help="only kinds whose name contains this text")
    parser.add_argument("--keep", help="folder for the files that were not read right")
    options = parser.parse_args()
    print("| kind | files | read | rows right | and reported | same bytes | why not is said |\n|---|---|---|---|---|---|---|")
    worst = 100
    for name, (make, report, flags) in KINDS.items():
        if options.kind and options.kind not in name:
            continue
        counts = [0] * 5
        for i in range(options.files):
            table, text = make(random.Random(f"{options.seed} {name} {i}"))
            with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
                path = os.path.join(folder, "in.csv")
                data = text if isinstance(text, bytes) else text.encode("utf-8")
                open(path, "wb").write(data)
                read, right, reported, lossless, wrong = check(options.firn, path, table, report, flags)
            for j, value in enumerate([read, right, reported, lossless is True, lossless is None]):
                counts[j] += value
            if not (read and reported and lossless is not False):
                print(f"{name} {i}: {wrong.strip()[:300]}", file=sys.stderr)
                if options.keep:
                    os.makedirs(options.keep, exist_ok=True)
                    open(os.path.join(options.keep, re.sub(r"\W+", "-", f"{name} {i}") + ".csv"), "wb").write(data)
        worst = min(worst, counts[1] * 100 / max(options.files, 1), counts[2] * 100 / max(options.files, 1))
        print(f"| {name} | {options.files} | " + " | ".join(map(str, counts)) + " |", flush=True)
    return 0 if worst >= 95 else 1


sys.exit(main())
