#!/usr/bin/env python3
"""survey-peers.py [rounds]: the corruption survey of Tests/Attacks on other stores: SQLite, LMDB and Parquet files of 1,000 rows, each damaged by 100
flipped bits, 40 zeroed sectors and 40 truncations (times rounds), read completely in a separate process. Counts the results: correct data, wrong data
without an error (silent), an error, a crash, a hang. Missing modules are skipped with a notice. The table of docs/evidence/survey.md is from this script."""
import os, random, subprocess, sys, tempfile

ROWS = 1000

def rows():
    r = random.Random(7)
    return [(i, 'name %d' % (i * 7919 % 1000), r.random() * 1000, ['red', 'green', 'blue'][i % 3], r.getrandbits(40)) for i in range(ROWS)]

def make(kind, path):
    if kind == 'sqlite':
        import sqlite3
        c = sqlite3.connect(path)
        c.execute('create table t(id integer primary key, name text, x real, colour text, n integer)')
        c.execute('create index i on t(name)')
        c.executemany('insert into t values(?,?,?,?,?)', rows())
        c.commit(); c.close()
    elif kind == 'lmdb':
        import lmdb
        e = lmdb.open(path, subdir=False, map_size=1 << 24, lock=False)
        with e.begin(write=True) as t:
            for row in rows(): t.put(b'%08d' % row[0], repr(row[1:]).encode())
        e.close()
    else:
        import pyarrow as pa, pyarrow.parquet as pq
        columns = list(zip(*rows()))
        table = pa.table({n: list(c) for n, c in zip(['id', 'name', 'x', 'colour', 'n'], columns)})
        pq.write_table(table, path, compression='zstd', write_page_checksum=kind == 'parquet-checksums')

def read(kind, path):
    if kind == 'sqlite':
        import sqlite3
        c = sqlite3.connect('file:%s?mode=ro' % path, uri=True)
        got = c.execute('select id, name, x, colour, n from t order by id').fetchall()
        for i in (3, 500, 999):      # also through the index
            name = 'name %d' % (i * 7919 % 1000)
            if [g for g in got if g[1] == name] != c.execute('select id, name, x, colour, n from t where name = ?', (name,)).fetchall(): return 'other'
    elif kind == 'lmdb':
        import lmdb
        e = lmdb.open(path, subdir=False, readonly=True, lock=False, map_size=1 << 24)
        with e.begin() as t: got = [(k, v) for k, v in t.cursor()]
        return 'same' if got == [(b'%08d' % row[0], repr(row[1:]).encode()) for row in rows()] else 'other'
    else:
        import pyarrow.parquet as pq
        d = pq.read_table(path, page_checksum_verification=kind == 'parquet-checksums').to_pydict()
        got = list(zip(*[d[n] for n in ['id', 'name', 'x', 'colour', 'n']]))
    return 'same' if [tuple(g) for g in got] == rows() else 'other'

def serve(kind):
    """Reads the paths that come on standard input: one word a line."""
    for line in sys.stdin:
        try: print(read(kind, line.strip()), flush=True)
        except Exception: print('error', flush=True)

class Reader:
    def __init__(self, kind): self.kind, self.process = kind, None
    def ask(self, path):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen([sys.executable, __file__, '--serve', self.kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        import select
        self.process.stdin.write(path + '\n'); self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], 20)[0]:
            self.process.kill(); self.process.wait()
            return 'hang'
        word = self.process.stdout.readline().strip()
        if not word:
            self.process.wait()
            return 'crash'
        return word

def damages(whole, rounds):
    r = random.Random(1)
    for _ in range(100 * rounds):
        b = bytearray(whole); b[r.randrange(len(b))] ^= 1 << r.randrange(8)
        yield 'bit flips', bytes(b)
    for _ in range(40 * rounds):
        b = bytearray(whole); s = r.randrange((len(b) + 511) // 512) * 512; n = min(512, len(b) - s); b[s:s + n] = bytes(n)
        yield 'zeroed sectors', bytes(b)
    for _ in range(40 * rounds):
        yield 'truncations', whole[:r.randrange(len(whole))]

def main(rounds):
    needs = {'sqlite': 'sqlite3', 'lmdb': 'lmdb', 'parquet': 'pyarrow', 'parquet-checksums': 'pyarrow'}
    print('| store | damage | cases | right data | error | silent wrong | crash | hang |\n|---|---|---|---|---|---|---|---|')
    for kind, module in needs.items():
        try: __import__(module)
        except ImportError:
            print('| %s | skipped: no module %s | | | | | | |' % (kind, module)); continue
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'whole'); make(kind, path)
            whole, reader, counts = open(path, 'rb').read(), Reader(kind), {}
            if kind == 'lmdb': whole = whole.rstrip(b'\0') + bytes(-len(whole.rstrip(b'\0')) % 4096)
            bad = os.path.join(folder, 'bad')
            for damage, data in damages(whole, rounds):
                with open(bad, 'wb') as f: f.write(data)
                word = reader.ask(bad)
                counts.setdefault(damage, {}).setdefault(word, 0); counts[damage][word] += 1
            for damage, c in counts.items():
                print('| %s | %s | %d | %s |' % (kind, damage, sum(c.values()), ' | '.join(str(c.get(w, 0)) for w in ['same', 'error', 'other', 'crash', 'hang'])), flush=True)

if sys.argv[1:2] == ['--serve']: serve(sys.argv[2])
else: main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
