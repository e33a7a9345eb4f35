#!/usr/bin/env python3
"""Draws the figures of the benchmarks as SVG: sizes and times next to those of the peers, and the curves of Tools/bench/curve.py.

    Tools/bench/plot.py FOLDER --figures run.json … [--curve curve.json …]

`run.json` is what `Tools/bench/run --only sizes,convert,query,diff --json run.json` writes; several files add up. FOLDER gets sizes.svg (three large tables), tables.svg
(all tables relative to Parquet), speed.svg and curve.svg; a drawing whose figures are missing is left out. No library is used. The drawings have no background,
and colours that can be read on light and dark pages.
"""
import argparse, json, math, os
from xml.sax.saxutils import escape

TEXT, LINE, OURS, PEER = "#768390", "#8b949e", "#2f81f7", "#a0a8b1"
COLOURS = ["#2f81f7", "#d1772e", "#b35900", "#3fa45b", "#a371f7", "#e5534b", "#b08800", "#1f9d9d"]
FONT = "font-family='-apple-system,Segoe UI,Helvetica,Arial,sans-serif'"


class Drawing:
    """The elements of an SVG document, and its size."""

    def __init__(self, width, height, title):
        self.width, self.height, self.title, self.parts = width, height, title, []

    def text(self, x, y, text, size=12, anchor="start", weight="normal", colour=TEXT):
        self.parts.append(f"<text x='{x:.1f}' y='{y:.1f}' font-size='{size}' text-anchor='{anchor}' font-weight='{weight}' fill='{colour}'>{escape(text)}</text>")

    def bar(self, x, y, width, height, colour):
        self.parts.append(f"<rect x='{x:.1f}' y='{y:.1f}' width='{max(width, 1):.1f}' height='{height:.1f}' rx='2' fill='{colour}'/>")

    def line(self, x1, y1, x2, y2, colour=LINE, opacity=0.35, dash=None):
        style = f" stroke-dasharray='{dash}'" if dash else ""
        self.parts.append(f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' stroke='{colour}' stroke-opacity='{opacity}'{style}/>")

    def path(self, points, colour):
        steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f"<polyline points='{steps}' fill='none' stroke='{colour}' stroke-width='2'/>")
        for x, y in points:
            self.dot(x, y, colour, 2.5)

    def dot(self, x, y, colour, radius=4):
        self.parts.append(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{radius}' fill='{colour}'/>")

    def write(self, path):
        head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {self.width} {self.height:.0f}' width='{self.width}' height='{self.height:.0f}' {FONT} role='img'>"
        with open(path, "w") as file:
            file.write("\n".join([head, f"<title>{escape(self.title)}</title>", *self.parts, "</svg>\n"]))
        print(path)


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def panels(title, found, path, columns=3, width=880):
    """Draws panels of horizontal bars. `found` has (heading, unit, [(label, value)]); bars whose label begins with "firn" are ours."""
    gap, label, bar, head = 16, 112, 18, 34
    wide = (width - gap * (columns - 1)) / columns
    rows = [found[i:i + columns] for i in range(0, len(found), columns)]
    heights = [head + max(len(bars) for _, _, bars in row) * bar + 14 for row in rows]
    drawing, y = Drawing(width, 26 + sum(heights), title), 26
    drawing.text(0, 15, title, 14, weight="bold")
    for row, height in zip(rows, heights):
        for place, (heading, unit, bars) in enumerate(row):
            x, longest = place * (wide + gap), max(value for _, value in bars)
            drawing.text(x, y + 20, f"{heading}, {unit}", 12, weight="bold")
            for i, (name, value) in enumerate(bars):
                at, ours = y + head + i * bar, name.startswith("firn")
                drawing.text(x + label - 6, at + 11, name, 11, "end", "bold" if ours else "normal")
                length = value / longest * (wide - label - 40)
                drawing.bar(x + label, at + 1, length, bar - 5, OURS if ours else PEER)
                drawing.text(x + label + length + 5, at + 11, number(value), 11)
        y += height
    drawing.write(path)


def dots(title, found, path, width=720):
    """Draws a row for each (label, [(series, value)]) with a dot for each value, relative to 1."""
    label, row, head = 250, 15, 52
    drawing = Drawing(width, head + len(found) * row + 30, title)
    drawing.text(0, 15, title, 14, weight="bold")
    series = list(dict.fromkeys(name for _, values in found for name, _ in values))
    for i, name in enumerate(series):
        drawing.dot(label + 6 + 190 * i, 32, COLOURS[i], 4)
        drawing.text(label + 16 + 190 * i, 36, name, 12)
    x = lambda value: label + value * (width - label - 40)
    for step in range(0, 6):
        drawing.line(x(step / 5), head - 6, x(step / 5), head + len(found) * row, opacity=0.8 if step == 5 else 0.3)
        drawing.text(x(step / 5), head + len(found) * row + 16, f"{step / 5:g}", 11, "middle")
    for i, (name, values) in enumerate(found):
        y = head + i * row + row / 2
        drawing.text(label - 10, y + 4, name, 11, "end")
        drawing.line(x(0), y, x(1), y, opacity=0.15)
        for what, value in reversed(values):
            drawing.dot(x(value), y, COLOURS[series.index(what)], 4)
    drawing.write(path)


def exponents(low, high):
    return range(math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9) + 1)


def seconds(power):
    unit, shift = next((unit, shift) for unit, shift in (("s", 0), ("ms", -3), ("µs", -6), ("ns", -9)) if power >= shift or unit == "ns")
    return f"{10 ** (power - shift):g} {unit}"


def curves(title, found, path, columns=2, width=880):
    """Draws panels of lines with logarithmic axes. `found` has (name of the size, [(label, [(size, seconds)])])."""
    gap, left, right, head, high, foot = 20, 52, 92, 30, 250, 40
    wide = (width - gap * (columns - 1)) / columns
    rows = math.ceil(len(found) / columns)
    drawing = Drawing(width, 26 + rows * (head + high + foot), title)
    drawing.text(0, 15, title, 14, weight="bold")
    every = [value for _, lines in found for _, points in lines for _, value in points]
    powers = exponents(min(every), max(every))
    for place, (name, lines) in enumerate(found):
        x0, y0 = place % columns * (wide + gap) + left, 26 + place // columns * (head + high + foot) + head
        sizes = [size for _, points in lines for size, _ in points]
        steps = exponents(min(sizes), max(sizes))
        x = lambda size: x0 + (math.log10(size) - steps[0]) / max(1, steps[-1] - steps[0]) * (wide - left - right)
        y = lambda value: y0 + high - (math.log10(value) - powers[0]) / (powers[-1] - powers[0]) * high
        drawing.text(x0, y0 - 12, name, 12, weight="bold")
        for power in powers:
            drawing.line(x0, y(10.0 ** power), x(10.0 ** steps[-1]), y(10.0 ** power), opacity=0.25)
            if power % 3 == 0:
                drawing.text(x0 - 6, y(10.0 ** power) + 4, seconds(power), 11, "end")
        for power in steps:
            drawing.text(x(10.0 ** power), y0 + high + 17, f"{10 ** power:,}" if power < 5 else "10" + "⁰¹²³⁴⁵⁶⁷⁸⁹"[power], 11, "middle")
        # Labels are moved apart where lines end near each other.
        ends, low = sorted((y(points[-1][1]), i) for i, (_, points) in enumerate(lines)), -1e9
        for end, i in ends:
            low = max(end, low + 13)
            drawing.text(x(lines[i][1][-1][0]) + 8, low + 4, lines[i][0], 11, colour=COLOURS[i % len(COLOURS)])
        for i, (_, points) in enumerate(lines):
            drawing.path([(x(size), y(value)) for size, value in points], COLOURS[i % len(COLOURS)])
    drawing.write(path)


# ---- the drawings -----------------------------------------------------------------------------------------------------------------------

INPUTS = {"table": "1 M rows × 9", "babynames": "US baby names, 2.1 M × 4", "lineitem": "TPC-H lineitem, 3 M × 16"}
SHORT = {"table": "1 M rows × 9", "babynames": "US baby names", "lineitem": "TPC-H lineitem"}
FILES = [("firn", "firn"), ("duckdb-parquet", "Parquet, DuckDB"), ("pyarrow-parquet", "Parquet, pyarrow"), ("duckdb", "DuckDB"), ("sqlite3", "SQLite")]
QUESTIONS = {"group": "filter + group, 1 M rows", "count": "filtered count, 1 M rows", "point": "one row by id"}
DIFFERENCES = [("firn", "firn"), ("diff", "GNU diff"), ("sqldiff", "sqldiff")]
LINES = [("open", 1e-6), ("point", 1e-6), ("indexed", 1e-6), ("commit", 1e-6), ("diff", 1e-6), ("begin", 1e-6), ("scan", 1e-9), ("compact", 1e-9)]


def bars(figures, names, form):
    return [(label, figures[form.format(key)]) for key, label in names if form.format(key) in figures]


def draw_figures(figures, folder):
    sizes = [(label, "MB", bars(figures, FILES, f"convert.{name}.{{}}.size")) for name, label in INPUTS.items()]
    if all(found for _, _, found in sizes):
        panels("Size of the file (less is better)", sizes, os.path.join(folder, "sizes.svg"))
    asked = [("firn", "firn"), ("duckdb", "DuckDB"), ("duckdb-parquet", "Parquet, DuckDB")]
    speed = [(f"CSV to file: {label}", "s", bars(figures, FILES, f"convert.{name}.{{}}.seconds")) for name, label in SHORT.items()]
    for name, label in QUESTIONS.items():
        # The time of a peer excludes the start of Python.
        found = [(label_, 1000 * figures.get(f"query.{name}.{key}.inner", figures.get(f"query.{name}.{key}.seconds", 0))) for key, label_ in asked]
        speed.append((label, "ms", [bar for bar in found if bar[1]]))
    speed += [(f"difference: {SHORT[name]}", "s", bars(figures, DIFFERENCES, f"diff.{name}.{{}}.seconds")) for name in ("table", "babynames")]
    speed = [panel for panel in speed if panel[2]]
    if speed:
        panels("Time of a process; queries of DuckDB without the start of Python (less is better)", speed, os.path.join(folder, "speed.svg"))
    tables = []
    for name in figures:
        if name.startswith("sizes.") and name.endswith(".convert.ratio"):
            table = name[len("sizes."):-len(".convert.ratio")]
            values = [(label, figures[key]) for label, key in (("firn convert", name), ("with --profile small", f"sizes.{table}.small.ratio")) if key in figures]
            # Parquet files of dictionaries have a column for each key.
            if values[0][1] > 0.1:
                tables.append((table.replace(".csv.zst", "").replace("realm-converter/", ""), values))
    if tables:
        dots("Size relative to the smaller Parquet file (zstd) of pyarrow and DuckDB", sorted(tables, key=lambda t: t[1][0][1]), os.path.join(folder, "tables.svg"))


def draw_curves(curves_, folder):
    found = []
    for dimension, sizes in curves_.items():
        points = sorted((int(size), figures) for size, figures in sizes.items())
        found.append((dimension, [(name, [(size, figures[name] * unit) for size, figures in points]) for name, unit in LINES]))
    if found:
        curves("Processor time by rows, columns, versions and types (scan: a row, compact: a value)", found, os.path.join(folder, "curve.svg"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--figures", nargs="*", default=[])
    parser.add_argument("--curve", nargs="*", default=[])
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    figures, curves_ = {}, {}
    for path in options.figures:
        with open(path) as file:
            figures.update((figure["name"], figure["value"]) for figure in json.load(file)["figures"])
    for path in options.curve:
        with open(path) as file:
            curves_.update(json.load(file)["curves"])
    draw_figures(figures, options.folder)
    draw_curves(curves_, options.folder)


if __name__ == "__main__":
    main()
