"""Tables and queries for `Tools/bench/run --only sql`: joins. `Tools/bench/joins.py FOLDER` writes the tables.

`counts` has a row for each county and day: `fips` repeats every day, `cases` and `deaths` are skewed and constant for many days, and `key` is a long
text that begins with digits. `small` is its first 64,707 rows. `counties` and `states` have a row for each county and state.
"""
import os, random, sys

COUNTIES, DAYS, SMALL = 3122, 270, 64_707
TABLES = {
    "counts": "id integer primary key, day text, fips integer, cases integer, deaths integer, rate real, key text",
    "small": "id integer primary key, day text, fips integer, cases integer, deaths integer, rate real, key text",
    "counties": "fips integer primary key, name text, state text, people integer",
    "states": "state text primary key, region text",
}
# (name, statement): each returns a few rows.
JOINS = [
    ("two", "select count(*), sum(a.deaths + b.deaths) from small a join small b on a.fips = b.fips and a.cases = b.cases"),
    ("two-swapped", "select count(*), sum(a.deaths + b.deaths) from small a join small b on a.cases = b.cases and a.fips = b.fips"),
    ("three", "select count(*), sum(b.id) from small a join small b on a.fips = b.fips and a.cases = b.cases and a.deaths = b.deaths"),
    ("left", "select count(*), count(b.id) from small a left join small b on b.fips = a.fips and b.cases = a.cases + 1"),
    ("tables", "select count(*), sum(c.cases) from counts c join counties k on k.fips = c.fips join states s on s.state = k.state where s.region = 'north' and c.cases > 2000"),
    ("large", "select count(*), sum(b.cases) from counts a join counts b on a.fips = b.fips and a.day = b.day"),
    ("large-skewed", "select count(*), sum(b.rate) from counts a join small b on a.cases = b.cases and a.fips = b.fips and a.deaths = b.deaths"),
    ("text", "select count(*), sum(b.cases) from small a join counts b on a.key = b.key"),
    ("range", "select count(*), sum(b.cases) from small a join small b on a.fips = b.fips and b.cases between a.cases and a.cases + 3"),
    ("group", "select k.name, count(*), sum(c.cases), avg(c.rate) from counts c join counties k on k.fips = c.fips group by k.name order by 2 desc, 1 limit 5"),
    ("groups", "select s.region, k.state, count(*), sum(c.cases), max(c.day) from counts c join counties k on k.fips = c.fips join states s on s.state = k.state where c.cases > 10 group by 1, 2 order by 3 desc, 1, 2 limit 5"),
    ("product", "select c.day, sum(c.cases * k.people) from counts c join counties k on k.fips = c.fips group by c.day order by 2 desc limit 3"),
    ("conditional", "select s.region, count(*), sum(c.cases) filter (where c.deaths > 0), count(*) filter (where k.people < 100000) from counts c join counties k on k.fips = c.fips join states s on s.state = k.state group by 1 order by 1"),
    ("views", "with large as (select fips, state, people from counties where people > 500000), late as (select fips as f, cases, deaths from counts where day > '2020-06-01') select l.state, count(*), sum(p.cases) from late p join large l on l.fips = p.f group by 1 order by 3 desc limit 5"),
    ("cte", "with c as (select fips, max(cases) as most, sum(deaths) as deaths from counts group by fips) select k.state, sum(c.most), max(c.deaths) from c join counties k on k.fips = c.fips group by 1 order by 2 desc limit 5"),
    ("id", "select count(*), sum(b.cases) from counts a join counts b on b.id = a.id + 1 where a.rate > 0.5"),
]


def write(folder):
    """Writes the tables as CSV; the contents are always the same."""
    draw = random.Random(7)
    names = {table: [part.split()[0] for part in columns.split(", ")] for table, columns in TABLES.items()}
    states = [f"S{i:02}" for i in range(50)]
    with open(os.path.join(folder, "states.csv"), "w") as out:
        print(*names["states"], sep=",", file=out)
        for i, state in enumerate(states):
            print(state, ("north", "south", "east", "west")[i % 4], sep=",", file=out)
    codes = [1001 + 17 * i for i in range(COUNTIES)]
    with open(os.path.join(folder, "counties.csv"), "w") as out:
        print(*names["counties"], sep=",", file=out)
        for i, code in enumerate(codes):
            print(code, f"County {i}", states[i % 50], draw.randrange(1000, 900_000), sep=",", file=out)
    with open(os.path.join(folder, "counts.csv"), "w") as large, open(os.path.join(folder, "small.csv"), "w") as small:
        for out in (large, small):
            print(*names["counts"], sep=",", file=out)
        # Each county starts at 0 and increases on some days, some of them fast.
        cases, deaths, speed, number = [0] * COUNTIES, [0] * COUNTIES, [draw.expovariate(1) for _ in codes], 0
        for day in range(DAYS):
            date = f"2020-{day // 28 + 1:02}-{day % 28 + 1:02}"
            for i, code in enumerate(codes):
                if draw.random() < 0.3:
                    cases[i] += int(draw.expovariate(1 / (1 + speed[i] * day / 3)))
                    deaths[i] += draw.random() < 0.1
                number += 1
                row = ",".join(map(str, (number, date, code, cases[i], deaths[i], round(draw.random(), 4), f"{date}T00:00:00/{code}")))
                print(row, file=large)
                if number <= SMALL:
                    print(row, file=small)


if __name__ == "__main__":
    write(sys.argv[1])
