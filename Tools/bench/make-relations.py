#!/usr/bin/env python3
"""Writes a random table as CSV, with columns that follow from others or without any.

    Tools/bench/make-relations.py SEED ROWS [--none] > table.csv

The seed decides on the schema and the values. With relations, about half of the columns follow from one to three others: by a map, as a sum or difference,
as a product or quotient rounded to some digits or not at all, as a relative change, as the last value in a group and a little more, as a copy, or as text
with pieces of others. One in fifty rows is an exception in some of them, and some columns have nulls. With --none, all columns are independent.
"""
import argparse, csv, random, sys

WORDS = "north south east west old new upper lower green stone river bridge mill field wood hill ford bury ton ham".split()


def base(random, rows, kind):
    """Returns the values of an independent column."""
    if kind == "int":
        most = 10 ** random.randint(1, 7)
        return [random.randrange(most) for _ in range(rows)]
    if kind == "decimal":
        most, digits, least = 10 ** random.randint(2, 6), random.randint(1, 3), random.choice([0, -1])
        return [round(random.uniform(least * most, most), digits) for _ in range(rows)]
    if kind == "double":
        return [random.gauss(0, 10 ** random.randint(-3, 5)) for _ in range(rows)]
    if kind == "code":
        values = [" ".join(random.choices(WORDS, k=2)) for _ in range(random.choice([3, 12, 200]))]
        return [random.choice(values) for _ in range(rows)]
    if kind == "id":
        return ["%08x-%04x" % (random.getrandbits(32), random.getrandbits(16)) for _ in range(rows)]
    return [" ".join(random.choices(WORDS, k=random.randint(2, 6))) + " %d" % random.randrange(10 ** 6) for _ in range(rows)]


def related(random, columns, kinds, rows):
    """Returns a column that follows from others, and its kind; None if there are none for the rule that was drawn."""
    numbers = [i for i, kind in enumerate(kinds) if kind in ("int", "decimal")]
    codes = [i for i, kind in enumerate(kinds) if kind == "code"]
    texts = [i for i, kind in enumerate(kinds) if kind in ("id", "int")]
    rule = random.choice(["map", "sum", "product", "quotient", "rounded quotient", "change", "last", "copy", "pieces"])
    if rule == "map" and codes:
        table = {}
        return [table.setdefault(code, random.randrange(10 ** 6)) for code in columns[random.choice(codes)]], "int"
    if rule == "last" and codes:
        last = {}
        values = []
        for code in columns[random.choice(codes)]:
            last[code] = last.get(code, random.randrange(10 ** 7)) + random.randrange(50)
            values.append(last[code])
        return values, "int"
    if rule == "pieces" and texts:
        source = columns[random.choice(texts)]
        return ["https://example.org/%s/view" % value for value in source], "text"
    if rule == "copy" and numbers:
        source = random.choice(numbers)
        return list(columns[source]), kinds[source]
    if len(numbers) < 2:
        return None
    a, b = (columns[i] for i in random.sample(numbers, 2))
    scale = random.choice([1, 100, 1e6, 0.19])
    divided = [x / y * scale if y else 0.0 for x, y in zip(a, b)]
    if rule == "sum":
        return [round(x + y, 3) for x, y in zip(a, b)], "decimal"
    if rule == "product":
        return [round(x * y, 2) for x, y in zip(a, b)], "decimal"
    if rule == "quotient":
        return divided, "double"
    if rule == "change":
        return [round((x - y) / y * 100, 2) if y else 0.0 for x, y in zip(a, b)], "decimal"
    if rule == "rounded quotient":
        return [round(x, 4) for x in divided], "decimal"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("rows", type=int)
    parser.add_argument("--none", action="store_true", help="all columns are independent")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    columns, kinds = [], []
    wanted = chance.randint(6, 24)
    while len(columns) < wanted:
        found = None
        if not options.none and len(columns) >= 4 and chance.random() < 0.5:
            found = related(chance, columns, kinds, options.rows)
        if found is None:
            kind = chance.choice(["int", "decimal", "double", "code", "id", "text", "int", "decimal"])
            found = base(chance, options.rows, kind), kind
        elif chance.random() < 0.3:
            values = found[0]
            for row in range(chance.randrange(50), options.rows, 50):
                values[row] = values[row - 1]
        columns.append(found[0])
        kinds.append(found[1])
    holes = [chance.random() < 0.2 for _ in columns]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow("%s%d" % (kind, i) for i, kind in enumerate(kinds))
    for row in range(options.rows):
        writer.writerow("" if holes[i] and (row * 7 + i) % 13 == 0 else column[row] for i, column in enumerate(columns))


if __name__ == "__main__":
    main()
