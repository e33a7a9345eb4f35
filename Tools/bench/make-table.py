#!/usr/bin/env python3
"""Writes the benchmark table as CSV: make-table.py OUT.csv [ROWS]. The bytes depend on the number of rows only.

Nine columns: id, name, city (one of 200), country (one of 30), age, balance (2 decimals), score (4 to 6 decimals),
active, created (ISO 8601, UTC). One million rows are about 76 MB.
"""
import random
import sys
from datetime import datetime, timedelta, timezone


def word(r, low, high):
    return "".join(r.choice("aeiou" if i & 1 else "bcdfghklmnprstvz") for i in range(r.randint(low, high))).capitalize()


def main():
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    r = random.Random(20160929)
    cities = [word(r, 4, 9) for _ in range(200)]
    countries = [word(r, 4, 7) for _ in range(30)]
    first = [word(r, 3, 5) for _ in range(400)]
    last = [word(r, 3, 6) for _ in range(2000)]
    start = datetime(2015, 1, 1, tzinfo=timezone.utc)
    with open(sys.argv[1], "w", encoding="utf-8", newline="") as out:
        out.write("id,name,city,country,age,balance,score,active,created\n")
        lines = []
        for i in range(rows):
            created = start + timedelta(seconds=r.randrange(300_000_000))
            score = repr(round(r.random() * 100, r.choice((4, 5, 6))))
            lines.append(
                f"{i + 1},{r.choice(first)} {r.choice(last)},{r.choice(cities)},{r.choice(countries)},{r.randint(18, 90)},"
                f"{r.randint(-500_000, 5_000_000) / 100:.2f},{score},{'true' if r.random() < 0.7 else 'false'},"
                f"{created.strftime('%Y-%m-%dT%H:%M:%SZ')}\n"
            )
            if len(lines) == 50_000:
                out.writelines(lines)
                lines = []
        out.writelines(lines)


main()
