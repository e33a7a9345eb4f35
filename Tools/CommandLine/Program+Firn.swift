extension Program {
    /// The table of `firn`: its commands and their flags.
    package static let firn = Program(
        name: "firn", version: "0.1.0",
        summary: "convert, compact, compare and query files, with .firn at the centre: a compact, compressed, columnar, transactional single file",
        commands: [.convert, .query, .sql, .diff, .patch, .compact, .info, .schema, .index, .log, .tag, .revert, .hash, .verify, .recover, .help, .man, .completions, .reference],
        shared: [
            Flag("color", nil, in: .shared, "colour in what people read",
                 detail: "auto colours terminals only; NO_COLOR and CLICOLOR_FORCE in the environment decide for auto.",
                 preset: "auto", choices: ["auto", "always", "never"]),
            Flag("progress", nil, in: .shared, "show progress on standard error",
                 detail: "By default it is shown on terminals only, once a command has taken half a second."),
            Flag("quiet", "q", in: .shared, "print no progress, no summary and no remarks", detail: "Errors are printed all the same."),
            .keyFile,
            Flag("no-mmap", nil, in: .shared, "read .firn files with calls, not by mapping them",
                 detail: "For media that fail while they are read: what is read is held in memory. By itself where files cannot be mapped or locked."),
            Flag("strict", nil, in: .shared, "do not read an older version of a damaged .firn file",
                 detail: "Where the newest version cannot be read, the one before is, with a notice. With this flag that is an error, and the exit code is 4."),
            Flag("memory", nil, "SIZE", in: .shared, "hold at most SIZE of what files contain, such as 500MB or 4GiB",
                 detail: "Beyond it the command ends with an error that names the column, exit code 5. A small file can unpack to any size: the limit keeps it from taking the machine. "
                     + "SIZE is a number of bytes, or of kB, MB, GB (powers of 1,000), KiB, MiB, GiB (of 1,024).",
                 preset: "half of the machine's memory; a third of the address space where 'ulimit -v' limits it"),
            Flag("threads", nil, "N", in: .shared, "use at most N threads", preset: "one for each core"),
        ])
}

/// Flags that several commands take.
extension Flag {
    static let formats = ["firn", "csv", "tsv", "json", "ndjson"]

    static let from = Flag("from", nil, in: .reading, "format of the inputs", detail: "Otherwise the content and the extension tell.", choices: formats)
    static let type = Flag("type", "t", "NAME", in: .choosing, "the type (table) meant",
                           detail: "Needed where a file holds several. When converting: the name of the type written.")
    static let null = Flag("null", nil, "WORDS", in: .reading, "words of a CSV that stand for no value, such as NA,N/A",
                           detail: "By default only an empty field that is not quoted stands for none.", repetition: .many)
    static let encoding = Flag("encoding", nil, in: .reading, "encoding of CSV text",
                               detail: "By default UTF-8, or UTF-16 if the file begins with its byte order mark. Of a CSV that is written, where no input is CSV: by default UTF-8, or after --lossless the encoding that was read.", choices: ["utf-8", "latin-1", "auto"])
    static let delimiter = Flag("delimiter", "d", "CHAR", in: .reading, "what separates the fields of a CSV; \\t is a tab", preset: "comma, tab in .tsv")
    static let noHeader = Flag("no-header", nil, in: .reading, "the first line of a CSV is data", detail: "The columns are then called column1, column2 and so on.")
    static let rejects = Flag("rejects", nil, "FILE", in: .reading, "write rows that cannot be read to FILE and go on",
                              detail: """
                                  FILE holds them as they stood: rows of a CSV, lines of NDJSON, elements of a JSON array. The exit code is then 3, and of JSON the first 20 \
                                  are told with their places and what is wrong. Without this flag the first such row ends the command. A JSON document that is broken is an \
                                  error all the same.
                                  """)
    static let schema = Flag("schema", nil, "FILE", in: .reading, "take types, columns and key from a JSON file",
                             detail: """
                                 In the form that 'firn schema --json' prints. Columns of the rows that it does not name are inferred; objects within the rows hold what it \
                                 names. Values that do not fit are rejected. --key goes before its key, --type before its name; of several types of rows, --type, FILE:Type \
                                 or the name of the input chooses. CSV has no lists, sets, maps and objects.
                                 """)
    static let limit = Flag("limit", "n", "N", in: .choosing, "at most N rows")
    static let condition = Flag("where", "w", "PREDICATE", in: .choosing, "only rows that match, such as 'age > 30 AND name BEGINSWITH \"A\"'")
    static let columns = Flag("columns", "c", "NAMES", in: .choosing, "only these columns, in this order", detail: "Names are separated by commas; a comma within a name is written \\,.", repetition: .many)
    static let keyFile = Flag("key-file", nil, "PATH", in: .shared, "the key of encrypted .firn files: a file of 64 bytes, or of 128 hexadecimal digits",
                              detail: "The variable FIRN_KEY holds a key too, in digits; it is tried where a file is encrypted and --key-file does not fit. "
                                  + "A .firn file that is not encrypted is refused with --key-file, and read beside FIRN_KEY.")
    static let newKeyFile = Flag("new-key-file", nil, "PATH", in: .writing, "encrypt OUT with the key in this file",
                                 detail: "Otherwise OUT is encrypted as the input is.")
    static let plain = Flag("plain", nil, in: .writing, "do not encrypt OUT, though the input is encrypted")
    static let force = Flag("force", "f", in: .writing, "overwrite an existing target")
    static let json = Flag("json", nil, in: .writing, "NDJSON with stable keys instead of text for people")
    static let profile = Flag("profile", nil, in: .writing, "how much work goes into compression", preset: "default", choices: ["fast", "default", "small"])

    static let readingText = [from, null, encoding, delimiter, noHeader, rejects, schema]
}
