#!/usr/bin/env python3
"""Measures the cost of checking hashes at the first read: new processes read a whole file, in turn with and without checks, from the system's cache and from disk.

    Tools/bench/touch.py FILE.firn [--rounds 15] [--bench .build/release/firn-bench]

Prints the minimum and the median in milliseconds, and the increase of the minimum by the checks, for wall time and for processor time."""
import argparse, statistics, subprocess

def once(options, scan, check, cache):
    run = subprocess.run([options.bench, "touch", options.file, scan, check, cache], capture_output=True, text=True, check=True)
    figures = {line.split()[0]: float(line.split()[1]) for line in run.stdout.splitlines() if line.startswith("touch.")}
    return figures["touch.wall"], figures["touch.processor"]

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file"); parser.add_argument("--rounds", type=int, default=15); parser.add_argument("--bench", default=".build/release/firn-bench")
    options = parser.parse_args()
    for cache in ("cold", "cached"):
        for scan in ("all", "sums"):
            taken = {"checked": [], "unchecked": []}
            for _ in range(options.rounds):
                for check in taken: taken[check].append(once(options, scan, check, cache))
            for what, column in (("wall", 0), ("processor", 1)):
                with_, without = ([t[column] for t in taken[c]] for c in ("checked", "unchecked"))
                print(f"touch.{cache}.{scan}.{what} {min(with_):.1f} ms checked (median {statistics.median(with_):.1f}), {min(without):.1f} unchecked "
                      f"({statistics.median(without):.1f}): {100 * (min(with_) / min(without) - 1):+.1f} % (medians {100 * (statistics.median(with_) / statistics.median(without) - 1):+.1f} %)")

main()
