/// The commands about files themselves: their types, versions, indexes and integrity.
extension Command {
    static let compact = Command(
        "compact", operands: "FILE [OUT]", count: 1...2, "drops dead space and old versions, and encodes every column again",
        detail: """
            Writes OUT, or replaces FILE when the new file is complete. Prints the size of each column before and after.

            Tagged versions and their tags are kept, and as many others as 'firn log --keep' has set. With --keep, only the named versions are kept, and the dropped ones are printed. Versions are numbered again from 1; \
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

            Encodings have the names of docs/glossary.md and docs/format/ids.md. previous-row(X): runs of equal values, marked in a bitmap. validity-of(C): the same \
            nulls as column C; validity-within(C): values only where C has some. map(C), copy(C), linear(C), last(C), product(C), quotient(C) and pieces(C): the values \
            follow from column C.
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
            The cost is proportional to the changes, not to the size of the file. Commands that read take each of these versions as FILE@VERSION, FILE@TAG or FILE@TIME, such as db.firn@2026-11-29T12:00: the newest version that was committed by then.

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
            By default, headers, structure and hashes are checked. With --full every value is decoded, and indexes, keys, order and links are checked. \
            All readable versions are checked; FILE@5 and FILE@TAG check only that version.

            Each defect is reported with its type, column, part (segment, delta, index, directory), rows by row id, and byte. Defects that belong to no type are reported as \
            structure, by name.
            """,
        examples: [
            .init("firn verify people.firn", "structure and hashes"),
            .init("firn verify --full *.firn", "everything"),
        ],
        flags: [
            Flag("full", nil, in: .working, "decode every value, and check indexes, keys, order and links"),
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
}
