#!/usr/bin/env python3
"""Prints a CSV table of accounts, in which text is made of other columns: make-pieces.py [ROWS] > pieces.csv"""
import random
import sys
import uuid

SYLLABLES = "an bel cor da el fi gor ha il jo ka len mi no or pa ro sa ti ul va wen xa yo zu".split()


def word(r, least=2, most=4):
    return "".join(r.choice(SYLLABLES) for _ in range(r.randint(least, most))).capitalize()


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    r = random.Random(7)
    firsts, lasts = [word(r) for _ in range(3000)], [word(r) for _ in range(20000)]
    print("id,key,number,first,last,full,mail,page,title,slug,lid,icao,name,plain,other")
    for row in range(rows):
        identity = uuid.UUID(int=r.getrandbits(128))
        number, first, last = r.randrange(10**9), r.choice(firsts), r.choice(lasts)
        host = r.choice(["example.com", "example.org", "mail.example.net"])
        title = " ".join(word(r) for _ in range(r.randint(2, 4)))
        lid = "".join(r.choice("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789") for _ in range(3))
        name = word(r) + "-é" * (r.random() < 0.1) + " " + word(r)
        other = number if r.random() < 0.988 else r.randrange(10**9)
        print(identity, str(identity)[:8], number, first, last, f"{first} {last}", f"{first}.{last}@{host}",
              f"https://example.com/accounts/{number}{'/edit' if row % 40 == 7 else ''}", title,
              title.lower().replace(" ", "-"), lid, f"K{lid}", name, name.replace("é", "e"), f"N{other}", sep=",")


main()
