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
            Rows are matched by key; their order does not matter. Values are compared as values, not as text: 1 and 1.0 are equal, sets and maps have no order, and a link
            is compared by the key of its target row. Differences of the schema are reported separately. Duplicate keys are an error that names them.

            For two .firn files, all types are compared unless one is chosen. Types without a key are then compared as a whole.
            """,
        examples: [
            .init("firn diff old.csv new.csv --key id", "what changed"),
            .init("firn diff a.firn b.firn --format summary", "only the counts"),
            .init("firn diff db.firn@3 db.firn --format ndjson", "since version 3"),
            .init("firn diff old.firn new.firn --changes c.firn", "for firn patch"),
        ],
        flags: [
            Flag(
                "key", "k", "NAMES", in: .comparing, "the columns that identify a row",
                detail: "Fields of objects are written as paths: --key name.official.", preset: "the type's own key", repetition: .many,
                value: .names),
            Flag("ignore", nil, "NAMES", in: .comparing, "do not compare these columns", repetition: .many, value: .names),
            Flag(
                "duplicates", nil, in: .comparing, "what to do if several rows of one side have the same key",
                detail: "With first, the first row is used, and the number of the others is reported.", preset: "error",
                choices: ["error", "first"]),
            Flag("tolerance", nil, "X", in: .comparing, "treat numbers that differ by at most X as equal", preset: "0"),
            Flag(
                "only", nil, in: .comparing, "print only these kinds of differences",
                detail:
                    "All rows are still compared and counted in the totals. The exit code is 1 if there are rows of these kinds or if the columns differ.",
                choices: ["added", "removed", "changed"], repetition: .many),
            .type, .columns, .condition, .limit,
            Flag(
                "format", nil, in: .writing, "how differences are printed",
                detail: "For nested cells, the changed parts are printed with their paths. With --json, summary is one JSON object.",
                preset: "table", choices: ["table", "summary", "ndjson"]),
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

    static let compact = Command(
        "compact", operands: "FILE [OUT]", count: 1...2, "drops dead space and old versions, and encodes every column again",
        detail: """
            Writes OUT, or replaces FILE when the new file is complete. Prints the size of each column before and after.

            Tagged versions and their tags are kept. With --keep, only the named versions are kept, and the dropped ones are printed. Versions are numbered again from 1; \
            data that successive versions share is stored once.

            --in-place needs no second copy: it drops deleted rows and moves data from the end of the file into free space, by small commits, while others read and write \
            the file. The file is valid whenever the command ends. Of the old versions, the two newest and tagged ones are kept; space that readers or tags hold is \
            reported, and a later run can release it.
            """,
        examples: [
            .init("firn compact people.firn", "replace the file"),
            .init("firn compact --in-place people.firn", "while others read it, with little free disk space"),
            .init("firn compact --profile small a.firn b.firn", "as small as possible"),
            .init("firn compact --dry-run people.firn", "only print what would be saved"),
        ],
        flags: [
            .profile, .newKeyFile, .plain,
            Flag(
                "keep", nil, "N|TAGS", in: .writing, "keep the N newest versions, or these tags and the newest version",
                detail:
                    "Can be repeated: --keep 3 --keep v1,v2. --keep 1 keeps only the newest version. If versions are dropped, the file is replaced even if it does not become smaller.",
                preset: "all tags", repetition: .many, value: .names),
            Flag("dry-run", nil, in: .writing, "change nothing; print what would be saved"),
            Flag("in-place", nil, in: .writing, "shorten the file itself, while others read and write it"),
            .force, .json,
        ],
        exit: "0 done")

    static let info = Command(
        "info", operands: "FILE", count: 1...1,
        "prints the types, rows, versions and dead space of a file, and each column's size and encodings",
        detail: """
            FILE@5 selects version 5, FILE@TAG the version with that tag. Of a file of another format, a folder or a pattern, it prints the format, the types and their \
            columns, and the number of rows if the file states it.
            """,
        examples: [
            .init("firn info people.firn", "as text"),
            .init("firn info --json people.firn", "as JSON"),
            .init("firn info people.parquet", "a file of another format"),
        ],
        flags: [.type, .json],
        exit: "0 done, 4 some columns are damaged; the others are printed")

    static let schema = Command(
        "schema", operands: "FILE...", count: 1...Int.max, "prints the types of a file with their columns",
        detail: """
            FILE is a file of any format that 'firn convert' reads. For CSV and JSON files, these are the types that would be inferred. Several files are united as 'firn convert' does.

            With --set-meta the command changes the metadata of a .firn file, in a new version, and prints nothing. Metadata are named texts that Firn keeps \
            and does not interpret.
            """,
        examples: [
            .init("firn schema people.firn", "as a table"),
            .init("firn schema --json people.csv > people.schema.json", "as a file for --schema"),
            .init("firn schema people.firn --as swift", "as Swift classes for 'import Firn'"),
            .init("firn schema people.firn --set-meta unit=cm --of people.height", "a note on a column"),
        ],
        flags: [
            .type,
            Flag(
                "as", nil, in: .writing, "print the schema in another form",
                detail:
                    "sql: CREATE TABLE. json-schema: JSON Schema 2020-12. parquet, arrow: their schema texts. swift: classes of the Firn library.",
                choices: ["sql", "json-schema", "parquet", "arrow", "swift"]),
            Flag(
                "set-meta", nil, "KEY=VALUE", in: .working, "set metadata of the file, or of what --of names",
                detail: "KEY= without a value removes the entry. The flag can be repeated; all changes are one version.", repetition: .many),
            Flag("of", nil, "TYPE|TYPE.COLUMN", in: .working, "the type or column whose metadata --set-meta changes"),
            .json,
        ] + Flag.readingText,
        exit: "0 done, 1 no such metadata to remove")

    static let index = Command(
        "index", operands: "FILE [TYPE.COLUMN...]", count: 1...Int.max, "creates, drops and lists the indexes of a file",
        detail: """
            An index finds the rows of a column by value. Every commit maintains it. Queries with == < <= > >= IN BETWEEN BEGINSWITH use it if few rows match; \
            'firn query --explain' shows whether an index was used. --full-text creates an index of the words of a text, for TEXT. Without columns, the command lists the indexes.

            A primary key of one column gets an index automatically if it needs one: if the type has more than 65,536 rows and the keys do not ascend in row order.
            """,
        examples: [
            .init("firn index people.firn people.name people.age", "create two indexes"),
            .init("firn index people.firn", "list the indexes"),
            .init("firn index --drop people.firn people.age", "drop an index"),
        ],
        flags: [
            .type,
            Flag("full-text", nil, in: .working, "index the words of a text"),
            Flag("drop", nil, in: .working, "drop the indexes of these columns"),
            Flag("list", nil, in: .working, "list the indexes"),
            .json,
        ],
        exit: "0 done, 1 no such index to drop")

    static let log = Command(
        "log", operands: "FILE", count: 1...1,
        "lists the versions of a file with time, tags, rows and changes, and which of them are being read",
        detail: """
            Lists the kept versions and older versions that have a tag, newest first, each with the rows that were added, removed and changed since the version listed below it. \
            The cost is proportional to the changes, not to the size of the file. Commands that read take each of these versions as FILE@VERSION or FILE@TAG.

            With --keep or --keep-for nothing is listed: these flags store in the file which versions its writers keep.
            """,
        examples: [
            .init("firn log db.firn", "all versions"),
            .init("firn log -n 1 --json db.firn", "the newest version, as JSON"),
            .init("firn log --keep 100 --keep-for 7d db.firn", "keep 100 versions, and all of a week"),
        ],
        flags: [
            .type,
            Flag("limit", "n", "N", in: .choosing, "list at most N versions"),
            Flag(
                "keep", nil, "N", in: .working, "make writers keep the N newest versions", detail: "At least 2; 0 restores the default, 8."),
            Flag(
                "keep-for", nil, "TIME", in: .working, "also keep versions that were the newest within TIME: 90m, 12h, 7d",
                detail: "0 removes the time limit."),
            .json,
        ],
        exit: "0 done")

    static let tag = Command(
        "tag", operands: "FILE [NAME[@VERSION]...]", count: 1...Int.max, "adds, moves, deletes and lists the tags of versions",
        detail: """
            A version with a tag is kept until the tag is deleted; it costs the bytes that have changed since. Commands that read take it as FILE@NAME. Without VERSION the newest \
            version is tagged; VERSION can be another tag.

            A name contains no spaces and none of @ : / \\ , " ' and is not a number. Releases of this program without support for tags cannot write a file with tags.
            """,
        examples: [
            .init("firn tag db.firn before-migration", "the newest version"),
            .init("firn tag db.firn v1@5", "version 5"),
            .init("firn tag db.firn", "list the tags"),
            .init("firn tag --delete db.firn v1", "delete a tag"),
        ],
        flags: [
            Flag("delete", nil, in: .working, "delete these tags"),
            Flag("force", "f", in: .working, "move existing tags to another version"),
            .json,
        ],
        exit: "0 done, 1 no such tag to delete")

    static let revert = Command(
        "revert", operands: "FILE VERSION|TAG", count: 2...2, "restores the rows of an older version, in a new version",
        detail: """
            Restores all rows of all types to that version, with the same row ids. The versions in between are not changed. Types and columns that were added since are kept, without \
            rows and values. Segments that have not changed since are not written again.
            """,
        examples: [
            .init("firn revert db.firn before-migration", "to a tag"),
            .init("firn revert db.firn 5", "to version 5"),
        ],
        flags: [.json],
        exit: "0 done")

    static let hash = Command(
        "hash", operands: "FILE...", count: 1...Int.max, "prints a content hash of files, which is equal for equal contents",
        detail: """
            The hash has 128 bits and depends on the rows, their columns and types only: not on encodings, versions, indexes, row ids, the order of columns, or the format of the file, which can be any \
            that 'firn convert' reads. The order of rows matters for types without a key only. The hash is not collision-resistant; do not use it as a signature.

            The hash of a file with one type is the hash of that type, independent of its name. Values are hashed as 'firn diff' compares them, but 1 in a column of int and 1 in a \
            column of double differ.
            """,
        examples: [
            .init("firn hash people.firn", "of all rows"),
            .init("firn hash db.firn@v1 db.firn", "of two versions"),
            .init("firn hash --key id people.csv people.firn", "independent of the order of rows"),
            .init("firn hash --each-column people.firn", "which column differs"),
        ],
        flags: [
            .type,
            Flag(
                "key", "k", "NAMES", in: .working, "the columns that identify a row", detail: "The order of rows then does not matter.",
                preset: "the type's own key", repetition: .many, value: .names),
            Flag("each-column", nil, in: .working, "also print a hash of each column"),
            .json,
        ] + Flag.readingText,
        exit: "0 done")

    static let verify = Command(
        "verify", operands: "FILE...", count: 1...Int.max, "checks that files are intact",
        detail: """
            By default, headers, structure and hashes are checked. With --full every value is decoded, and indexes, order and links are checked. \
            All readable versions are checked; FILE@5 and FILE@TAG check only that version.

            Each defect is reported with its type, column, part (segment, delta, index, directory), rows by row id, and byte. Defects that belong to no type are reported as \
            structure, by name.
            """,
        examples: [
            .init("firn verify people.firn", "structure and hashes"),
            .init("firn verify --full *.firn", "everything"),
        ],
        flags: [
            Flag("full", nil, in: .working, "decode every value, and check indexes, order and links"),
            .json,
        ],
        exit: "0 intact, 1 damage found, 4 not a .firn file, or its key is missing or wrong")

    static let recover = Command(
        "recover", operands: "FILE OUT", count: 2...2,
        "copies everything intact from a damaged file to a new one, and reports what is lost",
        detail: """
            FILE is never written, and OUT must be another file. Bytes whose hash does not match are never copied: each loss is reported by type, column, rows and byte. Rows and \
            values that an older version in the file still has are taken from it and reported with that version. Other lost values become null in rows that are otherwise intact. \
            Row ids are kept.

            The command recovers the newest version that can be read; FILE@5 and FILE@TAG recover that version. Damaged or missing roots, records and directories are bypassed if the \
            data that they refer to has a matching hash.

            Rows that no hash proves (an inline file without its root, a damaged catalogue or header) are written only with --unproven, and each range of them is reported: \
            "unproven: Type, rows 0 to 99", in --json a member of "losses" with "unproven": true.

            OUT is written under a temporary name and renamed when it is complete. If nothing can be recovered, OUT is not created, and the exit code is 4. An encrypted file needs one \
            intact root. OUT is encrypted with the same key, unless --plain or --new-key-file is given.
            """,
        examples: [
            .init("firn recover people.firn saved.firn", "everything intact"),
            .init("firn recover --json people.firn saved.firn", "with a report in JSON"),
            .init("firn recover --key-file key people.firn saved.firn", "an encrypted file"),
        ],
        flags: [
            Flag("unproven", nil, in: .working, "also write rows that no hash proves, and report each range of them"),
            .profile, .newKeyFile, .plain, .force, .json,
        ],
        exit: "0 nothing lost, 1 rows or values are lost or unproven, 4 nothing can be recovered")

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
