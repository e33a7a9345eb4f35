/// The commands that change rows of a `.firn` file.
extension Command {
    static let append = Command(
        "append", operands: "FILE IN...", count: 2...Int.max, "adds the rows of files of any format to a .firn file, in a new version",
        detail: """
            All rows are added in one transaction, or none: a failed or interrupted run leaves FILE unchanged. Tags stay, and as many older versions as after every commit. IN is a file of any format that 'firn convert' reads, \
            a folder, a pattern in quotes, or - for standard input.

            Columns are matched by name, and no column of FILE changes its type: text is read with the types and notations that the columns have, and values of other formats are converted if nothing is \
            lost. A column that IN lacks is null in the new rows, or an error if it cannot be null. A column that FILE lacks is an error, and so is a column of links: the rows that these lead to are not in IN. CSV has the fields of objects as columns such as name.first, \
            and lists and maps as JSON.

            Numbers that can be read in two ways, such as 1.250 for a column with decimal commas, are an error until --decimal chooses the mark. A single JSON document that is not an array of rows may need --rows.

            If the type has a primary key, a key that exists already or occurs twice is an error that names the row.
            """,
        examples: [
            .init("firn append people.firn more.csv", "the rows of a CSV file"),
            .init("firn append db.firn -t events 'log/*.ndjson'", "several files, to one of several types"),
            .init("cat new.csv | firn append people.firn -", "from standard input"),
            .init("firn append --dry-run people.firn more.parquet", "would it work?"),
        ],
        flags: rowFlags,
        exit: "0 done", sought: ["import", "insert", "add", "load", "concat"])

    static let upsert = Command(
        "upsert", operands: "FILE IN...", count: 2...Int.max,
        "adds the rows of files to a .firn file, and changes those whose key exists already",
        detail: """
            Rows are found by the primary key of the type. A row with a key that exists replaces the values of that row: those of the columns that IN has. The other columns keep their values. \
            Objects are replaced as a whole, and CSV with only some of their fields is an error. Other rows are added. The last of several rows with one key prevails. A row that has these values already is not changed, and if no row changes, no new version is written.

            Inputs are read as by 'firn append', in one transaction. Of JSON, a column is missing if no row of IN has it; otherwise it becomes null where a row lacks it.
            """,
        examples: [
            .init("firn upsert people.firn changes.csv", "new and changed rows of a CSV file"),
            .init("firn upsert --dry-run people.firn changes.csv", "how many rows would change?"),
        ],
        flags: rowFlags,
        exit: "0 done", sought: ["merge", "update", "replace"])

    static let delete = Command(
        "delete", operands: "FILE PREDICATE", count: 2...2, "deletes the rows of a .firn file that match a predicate, in a new version",
        detail: """
            PREDICATE is a predicate of 'firn query', such as 'age > 120'; TRUEPREDICATE selects all rows. The rows are deleted in one transaction, and older versions of FILE keep them. Links to deleted rows \
            become null, and are removed from lists.
            """,
        examples: [
            .init("firn delete people.firn 'age > 120'", "the rows that match"),
            .init("firn delete --dry-run people.firn 'city == nil'", "how many would be deleted?"),
            .init("firn delete db.firn -t events TRUEPREDICATE", "all rows of a type"),
        ],
        flags: [.type, .dryRun, .json],
        exit: "0 done, 1 no row matched", sought: ["remove", "drop", "rm"])

    private static let rowFlags =
        [.type, .dryRun, Flag("force", "f", in: .writing, "overwrite an existing file of --rejects"), .json] + Flag.readingRows
}

extension Flag {
    fileprivate static let dryRun = Flag(
        "dry-run", nil, in: .writing, "change nothing; print how many rows would be added, removed and changed")
    /// The flags for reading rows with the types of a file.
    fileprivate static let readingRows = [
        from, null, dates, decimal, encoding, delimiter, quote, escape, skip, skipFooter, comment, ragged, header, noHeader, rejects, rows,
        map,
        object, views, internalTables, filename,
    ]
}
