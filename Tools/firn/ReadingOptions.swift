import FirnBytes
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnExchange
import FirnQuery
import FirnTable

/// The options for reading inputs, from the flags under "Reading".
struct ReadingOptions {
    /// The format; nil if it is detected.
    var format: FormatName?
    /// Cells of a CSV that are read as null, in addition to the empty field.
    var nullWords: [String] = []
    /// The same for single columns, by name.
    var nullWordsOf: [String: [String]] = [:]
    /// The notations of `--dates`, for all columns and for single ones.
    var dates: [Notation] = []
    var datesOf: [String: [Notation]] = [:]
    /// Whether numbers have a decimal comma (`--decimal ,`) or a point, in all columns and in single ones; nil if each column decides.
    var hasDecimalComma: Bool?
    var hasDecimalCommaOf: [String: Bool] = [:]
    var encoding: String?
    /// JSON: the pointer to the rows, and the paths of objects that are maps, and that are not.
    var rows: String?
    var maps: [String] = []
    var objects: [String] = []
    /// The columns of text whose cells are read as JSON, and whether columns that contain only arrays and objects are found in CSV: with
    /// `--nest`, which also reads the columns of given types that CSV does not have.
    var jsonColumns: [String] = []
    var nests = false
    /// Whether these columns of `.firn` files are read as JSON when the file is opened.
    var readsStoredJSON = true
    /// The notation of CSV text, as far as it is given.
    var notation = CSVFlags()
    /// The file for rejected rows; nil if the first one aborts the command.
    var rejected: RejectedRows?
    /// Whether rows that cannot be read are left out without being written anywhere, because an earlier reading has written them.
    var dropsRejected = false
    var isLossless = false
    var threads: Int
    /// The columns of CSV to read, in this order; empty for all.
    var columns: [String] = []
    /// A condition that the rows must meet; inputs that it excludes need not be read.
    var condition: PredicateSyntax?
    /// The types of `--schema`; nil if they are inferred.
    var schema: SchemaFile?
    /// The types of the file that rows are added to. Columns that an input lacks are missing in its schema.
    var given: GivenSchema?
    /// The type that `--type` names. If the schema has several types, it is the type of the rows.
    var typeName: String?
    /// How inputs are combined: values keep their texts, or numbers and dates in several notations get one; or all have the same columns.
    enum Union: String { case wide, values, strict }
    var union = Union.wide
    /// The name of a column that keeps which input a row is from; nil for none.
    var filename: String?
    /// The name of the type of the rows, for one of several inputs; nil derives it from the name of the input.
    var rowType: String?
    /// Whether JSON inputs keep the tokens of odd values among numbers, as one of several.
    var keepsTokens = false
    /// Whether an input may lack columns that are chosen or given, as one of several.
    var mayLackColumns = false
    /// Whether tables of a `.realm` file that are not classes, and virtual tables of an SQLite database, are read.
    var readsInternal = false
    /// SQLite: whether foreign keys become links, and whether views are read.
    var readsLinks = false, readsViews = false
    /// Whether the rows are written to a `.firn` file, which keeps what only the object layer uses.
    var keepsObjectFacts = false
    /// The version of the input that is read, if its name has one.
    var version: String?
    /// The keys of encrypted files.
    var keys = KeyRing()
    /// Input from a pipe must not be written to disk unencrypted, because the output will be encrypted.
    var staysOffDisk = false
    /// The command is going to write the file, so a damaged root is restored first.
    var restores = false

    init(threads: Int) { self.threads = threads }

    init(_ arguments: Arguments, threads: Int) throws(FirnError) {
        self.threads = threads
        keys = try KeyRing(arguments)
        staysOffDisk = arguments.has("new-key-file") || keys.hasAny
        format = arguments.text("from").flatMap(FormatName.init(rawValue:))
        if let path = arguments.text("schema") { schema = try FormatShelf.schema(of: path) }
        typeName = arguments.text("type")
        for item in arguments.names("null") {
            let (column, word) = ReadingOptions.assignment(item)
            if let column { nullWordsOf[column, default: []].append(word) } else { nullWords.append(word) }
        }
        for item in arguments.names("dates") {
            let (column, pattern) = ReadingOptions.assignment(item)
            guard let notation = Notation(datePattern: pattern) else {
                throw FirnError(
                    .usage, "--dates does not know the pattern \"\(pattern)\"",
                    advice: "write patterns such as dd.MM.yyyy, M/d/yyyy, yyyy/MM/dd, dd/MM/yy HH:mm:ss, yyyy-MM")
            }
            if let column { datesOf[column, default: []].append(notation) } else { dates.append(notation) }
        }
        try takeDecimalMarks(arguments)
        encoding = arguments.text("encoding")
        rows = arguments.text("rows")
        readsInternal = arguments.has("internal")
        readsLinks = arguments.has("links")
        readsViews = arguments.has("views")
        maps = arguments.texts("map")
        objects = arguments.texts("object")
        if let both = maps.first(where: objects.contains) {
            throw FirnError(
                .usage, "--map and --object both name \"\(both)\": the objects there are either maps or objects with fields",
                advice: "omit one of them")
        }
        jsonColumns = arguments.names("json-column")
        nests = arguments.has("nest")
        notation = try CSVFlags(arguments)
        if let path = arguments.text("rejects") {
            // Even --force must not replace an input, a schema or the target with the rejected rows.
            for operand in arguments.operands + arguments.texts("schema")
            where Paths.kind(path) != .other && (Paths.isSame(path, operand) || Paths.isSame(path, Address(operand).path)) {
                throw FirnError(
                    .usage, "--rejects names \"\(operand)\", which is itself read or written",
                    advice: "name another file for the rejected rows")
            }
            rejected = try RejectedRows(
                path: path, force: arguments.has("force"), sources: SourceModes(arguments.operands.map { Address($0).path }))
        }
        isLossless = arguments.has("lossless")
        let comparesValues = ["query", "sql", "diff"].contains(arguments.command.name)
        union = arguments.text("union").flatMap(Union.init(rawValue:)) ?? (comparesValues ? .values : .wide)
        filename = arguments.text("filename")
        if filename == "" { throw FirnError(.usage, "--filename needs the name of a column") }
    }

    private mutating func takeDecimalMarks(_ arguments: Arguments) throws(FirnError) {
        for item in arguments.texts("decimal") {
            let (column, mark) = ReadingOptions.assignment(item)
            guard mark == "," || mark == "." else {
                throw FirnError(
                    .usage, "--decimal takes a comma or a point, not \"\(mark)\"",
                    advice: "for example --decimal , or, in one column only, --decimal price=,")
            }
            guard column.map({ hasDecimalCommaOf[$0] }) ?? hasDecimalComma == nil else {
                throw FirnError(
                    .usage, "--decimal sets the mark of \(column.map { "column \"\($0)\"" } ?? "all columns") twice",
                    advice: "omit one of them")
            }
            if let column { hasDecimalCommaOf[column] = mark == "," } else { hasDecimalComma = mark == "," }
        }
    }

    /// The formats of inputs, for checks.
    struct Formats {
        private var first: FormatName?
        private var all: Set<FormatName> = []
        private var count = 0

        init(_ files: [OpenedFile] = []) { for file in files { add(file) } }

        mutating func add(_ file: OpenedFile) {
            first = first ?? file.format
            all.formUnion(file.formats)
            count += file.fileCount
        }

        /// Throws if a flag is given that applies to none of the formats.
        fileprivate func check(
            _ arguments: Arguments, _ flags: [String], apply formats: Set<FormatName>, _ name: String, advice: String
        ) throws(FirnError) {
            guard let first, all.isDisjoint(with: formats), let flag = flags.first(where: arguments.has) else { return }
            throw FirnError(
                .usage,
                "--\(flag) applies to \(name) only, and \(count == 1 ? "the input is \(first.rawValue)" : "no input is \(name.contains(" ") ? "such a file" : name)")",
                advice: advice)
        }
    }

    /// Throws `.usage` if a flag does not apply to the formats of the inputs.
    /// - Parameter writesCSV: Whether `--encoding` applies to the output, if no input is CSV.
    static func check(_ arguments: Arguments, for formats: Formats, writesCSV: Bool = false) throws(FirnError) {
        try formats.check(
            arguments, ["null", "dates", "decimal"] + CSVFlags.names + (writesCSV ? [] : ["encoding"]), apply: [.csv, .tsv], "CSV",
            advice: "omit it, or use --from csv if the input is CSV")
        try formats.check(
            arguments, ["rows", "map", "object"], apply: [.json, .ndjson], "JSON",
            advice: "omit it, or use --from json if the input is JSON")
        try formats.check(arguments, ["links", "views"], apply: [.sqlite], "SQLite databases", advice: "omit it")
        try formats.check(arguments, ["internal"], apply: [.realm, .sqlite], ".realm files and SQLite databases", advice: "omit it")
        try formats.check(
            arguments, ["schema", "rejects"], apply: [.csv, .tsv, .json, .ndjson], "CSV and JSON",
            advice: "omit it, or use --from if the input is CSV or JSON")
    }

    /// `rejected`, in the form that readers take.
    var rejects: Rejects? {
        if dropsRejected { return Rejects { (_, _) throws(FirnError) in } }
        return rejected.map { rejected in Rejects { (row, reason) throws(FirnError) in try rejected.add(row, because: reason) } }
    }

    /// Splits `COLUMN=VALUE`; the column is nil if there is none. `=VALUE` is a value that contains `=`.
    private static func assignment(_ text: String) -> (column: String?, value: String) {
        guard let (column, value) = text.halves(at: UInt8(ascii: "=")), !value.isEmpty else { return (nil, text) }
        return (column.isEmpty ? nil : column, value)
    }
}
