extension Command {
    static let convert = Command(
        "convert", operands: "IN... OUT", count: 2...Int.max, "converts files from one format to another",
        detail: """
            A failed or interrupted run leaves the target unchanged: OUT is written under a temporary name and renamed when it is complete. Everything that is changed or
            left out is reported, by column.

            Types are inferred from the whole input. A column gets another type than text only if that type round-trips every cell: leading zeros, long numbers
            and unusual notations are preserved.

            The formats are firn, csv, tsv, json, ndjson, parquet, arrow and sqlite; realm is read only. --to chooses the format of OUT; otherwise its extension does. Inputs can be compressed with gzip,
            zstd, xz or bzip2; OUT is compressed if its name ends in .gz, .zst, .xz or .bz2, or by --compress. Several inputs are
            written as one type, united by the names of their columns. An input can be a folder (all files of known formats in it and below) or a pattern in quotes, such
            as 'data/**/*.csv'; inputs are read one after the other, so that there can be thousands.
            """,
        examples: [
            .init("firn convert people.csv people.firn", "CSV to .firn"),
            .init("firn convert people.firn people.ndjson", ".firn to NDJSON"),
            .init("firn convert --filename source 'daily/*.csv' all.firn", "several files, one type, and where each row is from"),
            .init("firn convert --key id --null NA in.csv out.firn", "with a primary key"),
            .init("firn convert people.csv people.parquet", "CSV to Parquet"),
            .init("firn convert log.ndjson.xz log.csv.gz", "compressed input and output"),
            .init("cat log.csv.gz | firn convert - - --to csv --compress zst > log.csv.zst", "in a pipe"),
            .init("firn convert --schema s.json --rejects bad.ndjson in.ndjson out.firn", "with a schema; other rows are rejected"),
        ],
        flags: Flag.readingText + [
            .type, .columns, .condition, .limit,
            Flag(
                "flatten", nil, in: .choosing, "write the fields of objects as columns: name.first, name.last",
                detail: "Lists and maps stay whole; CSV contains them as JSON text. A dot in the name of a field is written \\."),
            Flag(
                "nest", nil, in: .choosing, "combine columns such as name.first and name.last in objects: the reverse of --flatten",
                detail:
                    "Columns of text in which every cell is a JSON array or object are read as JSON. An object without any value is missing."
            ),
            Flag(
                "to", nil, in: .writing, "format of OUT",
                detail: "By default the extension decides. A compression can follow the format: csv.gz, ndjson.zst.",
                choices: Flag.formats,
                endings: ["gz", "zst", "xz", "bz2"]),
            Flag(
                "compress", nil, in: .writing, "compress OUT",
                detail: "By default the extension decides. --profile sets how hard. A .firn file cannot be compressed as a whole.",
                choices: ["gz", "zst", "xz", "bz2", "none"]),
            Flag(
                "key", "k", "NAMES", in: .writing, "the columns of the primary key",
                detail:
                    "Their values identify a row: two rows with the same key are an error that names both. a.b is field b of the objects in a: the key is then an additional column of that name, which JSON output omits.",
                repetition: .many, value: .names),
            .profile,
        ] + Flag.pages + [
            .newKeyFile, .plain,
            Flag(
                "lossless", nil, in: .writing, "fail unless the input can be reproduced from OUT",
                detail:
                    "CSV must be reproduced byte for byte, JSON value by value: white space and the notation of numbers in JSON are not kept."
            ),
            .force, .json,
        ],
        exit: "0 done")

    static let query = Command(
        "query", operands: "FILE... [QUERY]", count: 1...Int.max,
        "prints the rows that match a predicate, optionally sorted, grouped and aggregated",
        detail: """
            QUERY is a predicate that can end with SORT(name ASC), DISTINCT(name) and LIMIT(10); the flags have the same meaning, and --where is combined with it by AND.
            FILE is a file of any format that 'firn convert' reads. The rows of CSV and JSON are read once and not held in memory, except for a SORT without LIMIT. FILE:Type selects a type, \
            FILE@5 the file as of version 5. Several files, folders and patterns such as 'data/*.csv' are queried as one, as 'firn convert' unites them.

            Predicates: == != < <= > >= · BEGINSWITH ENDSWITH CONTAINS LIKE (with * and ?), followed by [c] to ignore case · IN {1, 2} · BETWEEN {1, 10} · \
            AND OR NOT · == nil · + - * / · `any name` in back-quotes · object.field · ANY ALL NONE list · list.@count .@min .@max .@sum .@avg · list[0] · map['key']. \
            Text is in single or double quotes; dates are written 2016-09-29@10:30:00. The complete language: docs/guide/query.md.
            """,
        examples: [
            .init("firn query people.firn 'age > 30'", "rows that match"),
            .init("firn query people.firn -g city -a 'count, avg(age)'", "groups"),
            .init("firn query people.csv -s name,age -S '-age' -n 5", "the five oldest"),
            .init("firn query people.firn --format csv > people.csv", "all rows as CSV"),
            .init("firn query people.firn 'age > 30' -o old.parquet", "rows that match as Parquet"),
        ],
        flags: [
            .type, .condition,
            Flag(
                "select", "s", "PATHS", in: .choosing, "print only these columns; a.b is field b of the object in a", repetition: .many,
                value: .names),
            Flag("sort", "S", "PATHS", in: .choosing, "sort by these columns; -age sorts descending", repetition: .many, value: .names),
            Flag(
                "distinct", nil, "PATHS", in: .choosing, "keep the first row for each combination of these columns", repetition: .many,
                value: .names),
            .limit,
            Flag("offset", nil, "N", in: .choosing, "skip the first N rows"),
            Flag(
                "group-by", "g", "PATHS", in: .choosing, "print one row for each combination of these columns", repetition: .many,
                value: .names),
            Flag(
                "agg", "a", "LIST", in: .choosing,
                "aggregates: count, sum, avg, min, max, first, median, quantile(x, 0.9), count(distinct x)",
                detail:
                    "The argument is a column or an expression of columns: sum(price * (1 - discount)). 'as' names the result: sum(price) as total.",
                repetition: .many),
            .rowFormat, .output, .force,
        ] + Flag.pages + [
            .json,
            Flag("explain", nil, in: .writing, "print the plan and what was skipped instead of the rows"),
        ] + Flag.readingText,
        exit: "0 rows matched, 1 no row matched")

    static let sql = Command(
        "sql", operands: "FILE... STATEMENTS", count: 2...Int.max,
        "runs SQL queries over the types of one or several files, with SQLite's dialect",
        detail: """
            Files are never changed; statements can create temporary tables only. STATEMENTS is one statement of SQLite's SQL, or several separated by ;. With - it is \
            read from standard input. Joins, window functions and common table expressions work as in SQLite. Comparisons, IN, LIKE, NULL, ORDER BY and LIMIT are \
            executed by Firn where the result is the same.

            Each type of a file is a table of the same name, or FILE_Type if several files have a type of that name. A file without types, such as CSV, is a table named after the file. \
            A folder, or a pattern in quotes such as 'data/*.csv', is one table, named after the folder. \
            FILE:Type selects one type, FILE@5 the file as of version 5. Dates are texts such as '2016-09-29 10:30:00' in UTC. A link is the key of its target row, so \
            Dog.owner = Person.id joins them. Lists, sets, maps and objects are JSON text, for json_each and ->>. The details, and how to load Firn into the sqlite3 shell: \
            docs/guide/sql.md.
            """,
        examples: [
            .init("firn sql people.firn 'SELECT city, count(*) FROM Person GROUP BY city'", "groups"),
            .init("firn sql a.firn 'SELECT * FROM Dog JOIN Person ON Dog.owner = Person.id'", "a join along a link"),
            .init("firn sql old.csv new.csv 'SELECT id FROM new EXCEPT SELECT id FROM old'", "several files"),
            .init("firn sql p.csv 'SELECT * FROM p WHERE age > :age' -p age=30 --format csv", "with a parameter"),
            .init("firn sql p.firn 'SELECT * FROM p ORDER BY age' -o sorted.parquet", "the rows as Parquet"),
        ],
        flags: [
            Flag(
                "param", "p", "NAME=VALUE", in: .choosing, "bind a value to :name in the statements; the name of ?1 is 1",
                detail: "Whole and decimal numbers are bound as numbers, everything else as text.", repetition: .many),
            .rowFormat, .output, .force,
        ] + Flag.pages + [
            .json,
            Flag("explain", nil, in: .writing, "print the plan, the conditions that Firn executed and what it skipped instead of the rows"),
            Flag(
                "timeout", nil, "TIME", in: .working, "end the statements after TIME: 30 (seconds), 5m, 1h",
                detail: "Files are not changed. The exit code is then 130, as after Ctrl-C. The time to read the inputs is not counted."),
        ] + Flag.readingText,
        exit: "0 rows were printed, 1 no rows")

    static let diff = Command(
        "diff", operands: "OLD NEW", count: 2...2, "compares two files of any format, or two versions of one, row by row by key",
        detail: """
            Rows are matched by key; their order does not matter. Values are compared as values, not as text: 1 and 1.0 are equal, a cell that is stored as null together with its text is null (a remark reports if such texts differ), sets and maps have no order, and a link
            is compared by the key of its target row. Differences of the schema are reported separately. Duplicate keys are an error that names them.

            If neither file has a key and --key is omitted, rows are matched by columns that are unique in both files and have the most values in common, and a remark names them; ignored columns are not tried. If there are none, whole rows are matched: a changed row is one removed and one added row.

            For two .firn files, all types are compared unless one is chosen. If they have several types, those without a key are compared as a whole.
            """,
        examples: [
            .init("firn diff old.csv new.csv --key id", "what changed"),
            .init("firn diff a.firn b.firn --format summary", "only the counts"),
            .init("firn diff db.firn@3 db.firn --format ndjson", "since version 3"),
            .init("firn diff old.csv new.csv -k id -o diff.html", "a page with the rows that differ"),
            .init("firn diff old.firn new.firn --changes c.firn", "for firn patch"),
        ],
        flags: [
            Flag(
                "key", "k", "NAMES", in: .comparing, "the columns that identify a row",
                detail: "Fields of objects are written as paths: --key name.official.",
                preset: "the type's own key, or columns that are unique in both files", repetition: .many,
                value: .names),
            Flag(
                "ignore", nil, "NAMES", in: .comparing, "do not compare these columns, even if only one file has them",
                detail: "Fields of objects are written as paths: --ignore name.official.", repetition: .many, value: .names),
            Flag(
                "duplicates", nil, in: .comparing, "what to do if several rows of one side have the same key",
                detail: "With first, the first row is used, and the number of the others is reported.", preset: "error",
                choices: ["error", "first"]),
            Flag(
                "tolerance", nil, "X", in: .comparing, "treat numbers that differ by at most X as equal: 0.01, 0.1% or price=0.01,qty=1%",
                detail:
                    "A percentage is one of the number with the larger magnitude. Items are separated by commas: X for all columns, COLUMN=X for one of them, instead of the X for all.",
                preset: "0", repetition: .many, value: .words),
            Flag(
                "rename", nil, "NAMES", in: .comparing, "compare columns that have another name in the new file: OLD=NEW",
                detail: "Items are separated by commas. Other flags name these columns as the new file does.", repetition: .many,
                value: .words),
            Flag(
                "only", nil, in: .comparing, "print only these kinds of differences",
                detail:
                    "All rows are still compared and counted in the totals. The exit code is 1 if there are rows of these kinds, or a column that only one file has.",
                choices: ["added", "removed", "changed"], repetition: .many),
            .type, .columns, .condition, .limit,
            Flag(
                "format", nil, in: .writing, "how differences are printed",
                detail: """
                    With --output, the extension of FILE decides. csv has a record for each row that differs, in the tabular diff format of daff. \
                    markdown and html are tables of these rows for people. json is an array of the objects of ndjson. For nested cells, the changed parts are \
                    printed with their paths, except in csv. With --json, summary is one JSON object.
                    """,
                preset: "table", choices: ["table", "summary", "ndjson", "json", "csv", "markdown", "html"]),
            Flag(
                "output", "o", "FILE", in: .writing, "write the differences to FILE instead of standard output",
                detail: "A failed or interrupted run leaves FILE unchanged."),
            Flag(
                "changes", nil, "FILE", in: .writing, "write the differences to FILE, for 'firn patch'",
                detail:
                    "A .firn file with the old and new values of all rows, cells and parts of nested cells that differ, for all compared types. It is encrypted if an input is."
            ),
            .force, .json,
        ] + Flag.readingText,
        exit: "0 no differences, 1 differences")

    static let patch = Command(
        "patch", operands: "FILE CHANGES", count: 2...2, "applies a changes file that 'firn diff --changes' wrote, forwards or in reverse",
        detail: """
            Applies all changes in one commit, or none. Changed and removed rows must match the recorded cells, added keys must not exist yet, and the targets of new links must exist; \
            otherwise the conflicting rows are listed, and FILE is not changed. Other rows of FILE can differ from the file that the changes were made from. For types without a key \
            they cannot: rows of these are identified by their position.

            If FILE has exactly the rows that the changes were made from, the result has exactly the rows that they lead to: the content hashes (see 'firn hash') are compared before the \
            commit. If there is nothing to change, no new version is written.
            """,
        examples: [
            .init("firn diff old.csv new.csv --key id --changes c.firn", "write the changes file"),
            .init("firn patch db.firn c.firn", "from old to new"),
            .init("firn patch --reverse db.firn c.firn", "from new to old"),
            .init("firn patch --check db.firn c.firn", "would it apply?"),
        ],
        flags: [
            .type,
            Flag("reverse", "R", in: .working, "apply the changes in reverse, from new to old"),
            Flag("check", nil, in: .working, "only check whether the changes apply; change nothing"),
            .json,
        ],
        exit: "0 applied, 1 conflicts, nothing applied")

    static let help = Command(
        "help", operands: "[COMMAND]", count: 0...1, "explains a command", detail: "",
        examples: [.init("firn help convert", "the complete help of convert")], flags: [])

    static let man = Command(
        "man", operands: "[COMMAND]", count: 0...1, "prints the manual page of the program or of a command",
        detail: """
            The page uses the macros of man(7): read it with 'firn man convert | man -l -'. With --dir all pages are written to a folder, as firn.1, firn-convert.1 and so on: \
            man finds them in a folder named man1 within a folder of $MANPATH.
            """,
        examples: [
            .init("firn man query > firn-query.1", "the page of 'firn query'"),
            .init("firn man --dir ~/.local/share/man/man1", "write all pages"),
        ],
        flags: [Flag("dir", nil, "DIR", in: .writing, "write the pages of all commands to this folder"), .force], exit: "0 done")

    static let completions = Command(
        "completions", operands: "bash|zsh|fish", count: 1...1, "prints the completions of a shell",
        detail:
            "bash: source <(firn completions bash). zsh: save as _firn in a folder of $fpath. fish: save as ~/.config/fish/completions/firn.fish.",
        examples: [.init("firn completions bash > /etc/bash_completion.d/firn", "for all users")], flags: [], exit: "0 done")

    /// Prints `docs/cli.md`.
    static let reference = Command(
        "reference", operands: "", count: 0...0, "prints this reference", detail: "", examples: [], flags: [], isHidden: true)
}
