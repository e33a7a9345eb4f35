extension Program {
    /// The table of `firn`: its commands and their flags.
    package static let firn = Program(
        name: "firn", version: "0.1.0",
        summary: "convert, compact, compare and query files; .firn is a compressed, columnar, transactional format in a single file",
        commands: [
            .convert, .query, .sql, .append, .upsert, .delete, .diff, .patch, .compact, .info, .schema, .index, .log, .tag, .revert, .hash,
            .verify, .recover, .help,
            .man, .completions, .reference,
        ],
        shared: [
            Flag(
                "color", nil, in: .shared, "colour text output",
                detail: "auto colours terminals only, unless NO_COLOR or CLICOLOR_FORCE is set in the environment.",
                preset: "auto", choices: ["auto", "always", "never"]),
            Flag(
                "progress", nil, in: .shared, "show progress on standard error",
                detail: "By default it is shown on terminals only, after half a second."),
            Flag("quiet", "q", in: .shared, "print no progress, no summary and no remarks", detail: "Errors are still printed."),
            .keyFile,
            Flag(
                "no-mmap", nil, in: .shared, "read .firn files with system calls instead of mapping them",
                detail:
                    "For media that can fail during reads. Data that was read is held in memory. Used automatically where files cannot be mapped or locked."
            ),
            Flag(
                "strict", nil, in: .shared, "do not read an older version of a damaged .firn file",
                detail:
                    "By default, if the newest version cannot be read, the previous one is read, with a notice. With this flag that is an error with exit code 4."
            ),
            Flag(
                "memory", nil, "SIZE", in: .shared, "hold at most SIZE of file contents in memory, such as 500MB or 4GiB",
                detail:
                    "If the limit is exceeded, the command fails with exit code 5 and names the column. The limit matters for untrusted files: a small file can decode to any size. "
                    + "SIZE is a number of bytes, or of kB, MB, GB (powers of 1,000), KiB, MiB, GiB (of 1,024).",
                preset: "half of the machine's memory; a third of the address space where 'ulimit -v' limits it"),
            Flag("threads", nil, "N", in: .shared, "use at most N threads", preset: "one for each core"),
        ])
}

/// Flags that more than one command accepts.
extension Flag {
    package static let formats = ["firn", "csv", "tsv", "json", "ndjson", "parquet", "arrow", "sqlite"]
    /// The flags for the rows that queries return.
    static let rowFormat = Flag(
        "format", nil, "FORMAT", in: .writing,
        "how rows are printed: table, markdown, html, firn, csv, tsv, json, ndjson, parquet, arrow or sqlite",
        detail:
            "With --output, the extension of FILE decides. markdown and html are tables for people. parquet and firn are not printed on a terminal.",
        preset: "table", choices: ["table", "markdown", "html"] + Flag.formats)
    static let output = Flag(
        "output", "o", "FILE", in: .writing, "write the rows to FILE instead of standard output",
        detail: "A failed or interrupted run leaves FILE unchanged. A .firn file is encrypted with the key of an encrypted input.")
    /// Formats that are read and not written.
    static let inputFormats = ["realm"]

    static let from = Flag(
        "from", nil, in: .reading, "format of the inputs", detail: "By default it is detected from the content and the extension.",
        choices: formats + inputFormats)
    static let type = Flag(
        "type", "t", "NAME", in: .choosing, "the type (table) to use",
        detail: "Required if a file has several types. For convert: the name of the type that is written.")
    static let null = Flag(
        "null", nil, "WORDS", in: .reading, "cells of a CSV that are read as null, such as NA,N/A or, in one column only, age=-1",
        detail: """
            By default only an empty field without quotes is null, and in columns of numbers, bools and dates also texts such as NA, n/a and -, which \
            are kept. Items are separated by commas: WORD for all columns, COLUMN=WORD for one of them, =WORD for a word that contains =.
            """, repetition: .many, value: .words)
    static let dates = Flag(
        "dates", nil, "PATTERNS", in: .reading, "how dates of a CSV are written, such as dd/MM/yyyy or, in one column only, born=M/d/yy",
        detail: """
            Needed only for dates that can be read in two ways, such as 1/2/2026, and for years of two digits (69 to 99 are 1969 to 1999). \
            d, dd: day; M, MM: month; yy, yyyy: year; separated by /, . or -; then a time if there is one: H, HH (or h, hh with a at the end for \
            AM and PM, aa for am and pm), mm, ss, S for each digit of a fraction. Patterns are separated by commas. A pattern that fits no column is \
            reported.
            """, repetition: .many, value: .words)
    static let decimal = Flag(
        "decimal", nil, "MARK", in: .reading, "the mark before fractions in numbers of a CSV: , or . or, in one column only, price=,",
        detail: """
            Digits before the mark can be in groups of three, separated by a comma, point, apostrophe or any space: 1.234,56. By default such \
            numbers are recognised in columns where every cell allows one reading only, or where the other columns show the mark. A column in which \
            some number has the other mark is text.
            """, repetition: .many)
    static let encoding = Flag(
        "encoding", nil, "NAME", in: .reading, "encoding of CSV text",
        detail: """
            auto (the default) detects UTF-8 and UTF-16, and reads other text as UTF-8 with single bytes of Windows-1252, as Latin-1 or as \
            Windows-1252. Other names: utf-8, latin-1, windows-1252, utf-16le, utf-16be, utf-8+windows-1252 (UTF-8, and bytes that are not UTF-8 are \
            Windows-1252), and those that 'iconv -l' lists. If no input is CSV, the flag sets the encoding of the CSV that is written: by default \
            UTF-8, or after --lossless the encoding that was read.
            """)
    static let delimiter = Flag(
        "delimiter", "d", "CHARS", in: .reading, "the characters between the fields of a CSV; \\t is a tab",
        detail: "Usually one character, at most eight.", preset: "detected, tab in .tsv")
    static let quote = Flag(
        "quote", nil, "CHAR", in: .reading, "the character around fields of a CSV; none if quotes are text", preset: "detected")
    static let escape = Flag(
        "escape", nil, "CHAR", in: .reading, "the character before a quote within a quoted field of a CSV; none if quotes are doubled",
        preset: "detected")
    static let skip = Flag(
        "skip", nil, "N", in: .reading, "skip the first N lines of a CSV",
        detail: "Without this flag, lines before the table are skipped if it clearly begins later, with a remark.")
    static let skipFooter = Flag(
        "skip-footer", nil, "N", in: .reading, "skip the last N lines of a CSV",
        detail: "Without this flag, lines after the table are skipped if they clearly are not rows, with a remark.")
    static let comment = Flag(
        "comment", nil, "TEXT", in: .reading, "skip lines of a CSV that begin with TEXT, such as '#', or none", value: .anyText)
    static let ragged = Flag(
        "ragged", nil, in: .reading, "what to do with rows of a CSV that have too few or too many fields",
        detail: """
            widen: missing fields are null, surplus fields make more columns. pad: missing fields are null, and rows with surplus fields that are not \
            empty are bad. cut: missing fields are null, surplus fields are left out. reject: such rows are written to the file of --rejects. error: the \
            first such row aborts the command, unless --rejects is given. What was padded, added or cut is reported.
            """, preset: "widen; reject with --rejects", choices: ["widen", "pad", "cut", "reject", "error"])
    static let header = Flag(
        "header", nil, in: .reading, "treat the first line of a CSV as names of columns, whatever it contains")
    static let noHeader = Flag(
        "no-header", nil, in: .reading, "treat the first line of a CSV as data",
        detail:
            "The columns are then named column1, column2 and so on. By default the first line is data if its fields have the types of those below and not all columns are text."
    )
    static let rejects = Flag(
        "rejects", nil, "FILE", in: .reading, "write rows that cannot be read to FILE, and continue",
        detail: """
            FILE contains them unchanged, in UTF-8: rows of a CSV, lines of NDJSON, elements of a JSON array. The exit code is then 3. For JSON, the \
            first 20 are reported with position and reason. Without this flag the first such row aborts the command. A JSON document with invalid syntax is \
            an error in any case.
            """)
    static let schema = Flag(
        "schema", nil, "FILE", in: .reading, "take the types, columns and key from a JSON file",
        detail: """
            The file has the form that 'firn schema --json' prints. Columns of the rows that it does not name are inferred; objects within the rows \
            have only the fields that it names. Values that do not fit are rejected. --key overrides its key, and --type its name. If it has several \
            types of rows, --type, FILE:Type or the name of the input chooses one. CSV has no lists, sets, maps and objects.
            """)
    static let limit = Flag("limit", "n", "N", in: .choosing, "print or write at most N rows")
    static let condition = Flag(
        "where", "w", "PREDICATE", in: .choosing, "select only rows that match, such as 'age > 30 AND name BEGINSWITH \"A\"'")
    static let columns = Flag(
        "columns", "c", "NAMES", in: .choosing, "keep only these columns, in this order; a.b is field b of the objects in a",
        detail: "Names are separated by commas; write a comma within a name as \\,.", repetition: .many,
        value: .names)
    static let keyFile = Flag(
        "key-file", nil, "PATH", in: .shared, "the key of encrypted .firn and .realm files: a file of 64 bytes or 128 hexadecimal digits",
        detail:
            "The environment variable FIRN_KEY can contain a key, in digits; it is tried if a file is encrypted and --key-file does not fit. "
            + "With --key-file, a .firn or .realm file that is not encrypted is an error; with FIRN_KEY, it is read.")
    static let newKeyFile = Flag(
        "new-key-file", nil, "PATH", in: .writing, "encrypt OUT with the key in this file",
        detail: "By default OUT is encrypted with the key of the input, if it has one.")
    static let plain = Flag("plain", nil, in: .writing, "do not encrypt OUT, even if the input is encrypted")
    static let force = Flag("force", "f", in: .writing, "overwrite an existing target")
    static let json = Flag("json", nil, in: .writing, "print NDJSON with stable keys instead of text")
    static let profile = Flag(
        "profile", nil, in: .writing, "how much time to spend on compression",
        detail: "small is for archives: it makes the smallest files, takes several times as long to write and is also slower to read.",
        preset: "default", choices: ["fast", "default", "small"])

    static let pages = [
        Flag(
            "compression", nil, "CODEC", in: .writing, "compression of the pages of Parquet, such as zstd:9, or of the buffers of Arrow",
            detail:
                "zstd, gzip and brotli, each with :LEVEL if wanted, snappy, lz4 or none; for Arrow zstd, lz4 or none. --profile sets the "
                + "level of zstd.",
            preset: "zstd:3 for Parquet, none for Arrow"),
        Flag(
            "row-group", nil, "ROWS", in: .writing, "the maximum number of rows of a row group of Parquet",
            detail: "A row group also ends when its compressed pages take 32 MiB.", preset: "1048576"),
    ]

    static let internalTables = Flag(
        "internal", nil, in: .reading, "read tables too that are usually of no interest",
        detail: """
            In a .realm file: tables that are not classes, such as those of synchronisation. In an SQLite database: virtual tables, such as those of full-text search, and the tables \
            that store them. By default they are left out, and their names are reported. FILE:TABLE reads one of them.
            """)
    static let links = Flag(
        "links", nil, in: .reading, "read foreign keys of an SQLite database as links to rows",
        detail: """
            A column becomes a link if it is no part of the primary key, and its foreign key refers to a primary key of one column, of which every value exists. Other columns keep \
            their values, and the reason is reported. By default all foreign keys are values.
            """)
    static let views = Flag(
        "views", nil, in: .reading, "read the views of an SQLite database too",
        detail: "By default they are left out, and their names are reported. FILE:VIEW reads one of them.")
    static let rows = Flag(
        "rows", nil, "POINTER", in: .reading, "the rows in a JSON document, as a JSON Pointer such as /data/items",
        detail: """
            The rows are the elements of an array, or the members of an object of objects, with their keys in the column "key". Without this flag, they are the elements of the \
            document, or of the array of objects that prevails in it, at any depth. What surrounds the rows is kept: FILE:document.
            """, value: .anyText)
    static let map = Flag(
        "map", nil, "PATH", in: .reading, "read the JSON objects at this path as maps from key to value, such as data.*.stats",
        detail: """
            A path consists of names of members; * stands for each value of a map and each element of a list. Without this flag, objects are maps if their keys look like \
            data and their values have one shape. A path at which there is no object is an error.
            """, repetition: .many)
    static let object = Flag(
        "object", nil, "PATH", in: .reading, "read the JSON objects at this path as objects with fields, whatever their keys",
        repetition: .many)
    static let jsonColumn = Flag(
        "json-column", nil, "NAMES", in: .reading, "read the cells of these columns of text as JSON",
        detail:
            "Their types are inferred as those of JSON are. An invalid cell is an error with its row; with --rejects, the row is left out.",
        repetition: .many, value: .names)
    static let filename = Flag(
        "filename", nil, "COLUMN", in: .reading, "add a column with the path of the input that a row is from",
        detail: "It is the last column. The path is as given; for a folder or pattern, it begins with the folder as given.")
    static let union = Flag(
        "union", nil, in: .reading, "how several inputs are combined",
        detail: """
            wide unites by the names of the columns: a column that an input lacks is null in its rows, and the types of a column are widened until every \
            value keeps its text. Each such column is reported. values does the same, but numbers, dates and bools that the inputs write in several \
            notations keep their values and get one notation. strict is as wide, but requires the same columns, in any order. query, sql and diff \
            combine by values, other commands as wide.
            """,
        choices: ["wide", "values", "strict"])

    static let readingText = [
        from, null, dates, decimal, encoding, delimiter, quote, escape, skip, skipFooter, comment, ragged, header, noHeader, rejects,
        schema, rows,
        map, object, jsonColumn, links, views, internalTables, filename, union,
    ]
}
