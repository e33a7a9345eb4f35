"""Runs the Python blocks of docs/guide/notebook.md in order, as a notebook does, and compares what they show.

`python3 python/tests/test_notebook.py --write` writes what they show into the page.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/guide/notebook.md"
NEEDED = ("pyarrow", "pandas", "duckdb", "polars", "matplotlib")
_BLOCK = re.compile(r"```python\n(.*?)```\n(?:```text\n(.*?)```\n)?", re.DOTALL)


def shown(code: str, names: dict) -> str:
    """Runs a block, and returns what it prints and the value of its last expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(tree, "notebook.md", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "notebook.md", "eval"), names)
            if value is not None:
                print(repr(value))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def run(page: str) -> list[tuple[str, str | None, str]]:
    """Returns the code, the expected and the actual output of each block."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    before, names, found = os.getcwd(), {}, []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for block in _BLOCK.finditer(page):
                found.append((block[1], block[2], shown(block[1], names)))
        finally:
            os.chdir(before)
            names.clear()
    return found


class Notebook(unittest.TestCase):
    def test_the_blocks_of_the_page_show_what_it_says(self):
        missing = []
        for name in NEEDED:
            try:
                __import__(name)
            except ImportError:
                missing.append(name)
        if missing or not PAGE.exists():
            print(f"skipped: no {', '.join(missing) or PAGE}")
            self.skipTest("libraries are missing")
        blocks = run(PAGE.read_text())
        self.assertGreater(len(blocks), 5)
        for code, expected, actual in blocks:
            with self.subTest(code):
                self.assertEqual(actual, "\n" if expected is None else expected)


def write() -> None:
    outputs = iter(run(PAGE.read_text()))

    def replaced(block: re.Match[str]) -> str:
        code, _, actual = next(outputs)
        return f"```python\n{code}```\n" + (f"```text\n{actual}```\n" if actual.strip() else "")

    PAGE.write_text(_BLOCK.sub(replaced, PAGE.read_text()))


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    else:
        unittest.main()
