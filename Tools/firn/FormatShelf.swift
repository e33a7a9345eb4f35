import FirnArrow
import FirnBytes
import FirnCSV
import FirnCommandLine
import FirnDisk
import FirnExchange
import FirnJSON
import FirnParquet
import FirnRealmFile
import FirnSQLite
import FirnTable

/// Creates readers and writers by format. No other file of the command names the modules of formats.
enum FormatShelf {
    /// Opens an input of an outside format, and infers the schema as far as it is not given.
    static func reader(
        _ input: Input, format: FormatName, _ options: ReadingOptions, typeName: String, given: GivenSchema?, progress: Progress
    ) throws(FirnError) -> any BatchReader {
        switch format {
        case .csv, .tsv: return try CSVReader(input, options: try csvOptions(options, format, typeName, given, progress))
        case .json, .ndjson:
            var json = JSONOptions(layout: format == .json ? .document : .lines, typeName: typeName)
            json.findsLayout = true
            if options.format == nil, let named = FormatName(extensionOf: input.path), named == .csv || named == .tsv {
                json.note = "the content is JSON, not \(named.rawValue) as the name says; use --from \(named.rawValue) to read it as such"
            }
            json.rows = options.rows
            json.maps = options.maps
            json.objects = options.objects
            json.mayLackPaths = options.mayLackColumns
            json.isLossless = options.isLossless
            // In a union with texts of other formats, strings and numbers would become the same.
            json.keepsOriginals = !options.mayLackColumns || options.keepsTokens
            json.threads = options.threads
            json.given = given.map { GivenSchema($0.schema.visible, rows: $0.rows) }
            json.omitsMissing = options.given != nil
            json.rejects = options.rejects
            return try JSONReader(input, options: json, progress: progress)
        case .realm: return try realm(input, options, progress)
        case .parquet:
            var parquet = ParquetOptions(typeName: typeName)
            if !options.columns.isEmpty { parquet.columns = options.columns }
            parquet.threads = options.threads
            parquet.staysOffDisk = options.staysOffDisk
            parquet.keepsTypeName = options.keepsObjectFacts && options.rowType == nil
            return try ParquetReader(input, options: parquet, progress: progress)
        case .sqlite:
            var sqlite = SQLiteOptions()
            sqlite.readsLinks = options.readsLinks
            sqlite.readsViews = options.readsViews
            sqlite.readsInternal = options.readsInternal
            sqlite.wanted = options.rowType ?? options.typeName
            sqlite.threads = options.threads
            return try SQLiteReader(input, options: sqlite, progress: progress)
        case .arrow:
            var arrow = ArrowOptions(typeName: typeName)
            if !options.columns.isEmpty { arrow.columns = options.columns }
            arrow.keepsTypeName = options.keepsObjectFacts
            arrow.threads = options.threads
            arrow.staysOffDisk = options.staysOffDisk
            return try ArrowReader.open(input, options: arrow, progress: progress)
        case .firn: trap("OpenedFile opens .firn files itself")
        }
    }

    /// Opens a file that can be one of a folder of a file for each type. Its type has the name with which it was written.
    static func reader(folderPart input: Input, format: FormatName, _ options: ReadingOptions, progress: Progress) throws(FirnError)
        -> any BatchReader
    {
        if format == .parquet {
            var parquet = ParquetOptions(typeName: Address.stem(of: input.path))
            (parquet.keepsTypeName, parquet.readsFolder, parquet.threads) = (true, true, options.threads)
            return try ParquetReader(input, options: parquet, progress: progress)
        }
        var arrow = ArrowOptions(typeName: Address.stem(of: input.path))
        (arrow.keepsTypeName, arrow.readsFolder, arrow.threads) = (true, true, options.threads)
        return try ArrowReader.open(input, options: arrow, progress: progress)
    }

    /// Opens a `.realm` file with the key that fits.
    private static func realm(_ input: Input, _ options: ReadingOptions, _ progress: Progress) throws(FirnError) -> RealmFileReader {
        try options.keys.trying { (key) throws(FirnError) in
            var realm = RealmFileOptions()
            realm.key = key
            realm.readsInternal = options.readsInternal
            realm.wanted = options.rowType ?? options.typeName
            realm.readsPrevious = options.version == RealmFileFormat.previous
            realm.keepsSchemaVersion = options.keepsObjectFacts
            try input.rewind()
            return try RealmFileReader(input, options: realm, progress: progress)
        }
    }

    /// Returns why files of a format have no version of this name; nil if they have.
    static func refusal(ofVersion version: String, _ format: FormatName) -> (message: String, advice: String?)? {
        switch format {
        case .firn: nil
        case .realm:
            version == RealmFileFormat.previous
                ? nil : ("a .realm file has the versions of its two top references only", "use FILE, or FILE@\(RealmFileFormat.previous)")
        default: ("only .firn and .realm files have versions, and this is \(format.rawValue)", nil)
        }
    }

    /// Returns the text of the JSON document around the rows of a type, with null in their place; nil if there is none.
    static func document(around type: TypeSchema, _ budget: MemoryBudget) -> [UInt8]? { JSONSurroundings.document(of: type, budget) }

    /// Returns the envelope of a type whose rows are those of several inputs with the envelope of `type`.
    static func envelope(ofSeveral type: TypeSchema, hasNames: Bool) -> String? {
        // Without a header, the names that another input has would be lost.
        if hasNames, var dialect = CSVDialect(envelope: type.envelope), !dialect.hasHeader {
            dialect.hasHeader = true
            return dialect.envelope
        }
        return JSONSurroundings.envelope(ofSeveral: type, .process)
    }

    /// Whether columns have names that are not made by the reader: those of a CSV without a header are.
    static func hasNames(_ type: TypeSchema) -> Bool { CSVDialect(envelope: type.envelope)?.hasHeader ?? true }

    /// Returns a reader of a JSON document as one row.
    static func reader(document: [UInt8], name: String, typeName: String) throws(FirnError) -> any BatchReader {
        var options = JSONOptions(layout: .document, typeName: typeName)
        options.rows = ""
        return try JSONReader(Input(bytes: document, name: name), options: options)
    }

    /// Returns a reader of the values of a column: one JSON text per line.
    static func reader(
        cells: [UInt8], column: String, of schema: Schema, given: GivenSchema?, name: String, rejects: Rejects?, threads: Int
    ) throws(FirnError) -> any BatchReader {
        var options = JSONOptions(layout: .lines, typeName: schema.roots.first?.name ?? "Row")
        options.column = column
        options.takenNames = schema.types.map(\.name)
        options.given = given
        options.rejects = rejects
        options.threads = threads
        return try JSONReader(Input(bytes: cells, name: name), options: options)
    }

    /// Returns the options of a reader of CSV.
    static func csvOptions(
        _ options: ReadingOptions, _ format: FormatName, _ typeName: String, _ given: GivenSchema?, _ progress: Progress
    ) throws(FirnError) -> CSVOptions {
        var csv = format == .tsv ? CSVOptions.tsv : CSVOptions()
        let notation = options.notation
        if let delimiter = notation.delimiter { csv.delimiterBytes = delimiter }
        switch notation.quote {
        case .detected: break
        case .none: csv.quoting = .none
        case .byte(let byte): csv.quoting = .mark(byte)
        }
        switch notation.escape {
        case .detected: break
        case .none: csv.doublesQuotes = true
        // Quotes that escape quotes are doubled.
        case .byte(let byte):
            if csv.quoting == .mark(byte) || byte == UInt8(ascii: "\"") { csv.doublesQuotes = true } else { csv.escape = byte }
        }
        csv.skipped = notation.skipped
        csv.skippedFooter = notation.skippedFooter
        csv.comment = notation.comment
        csv.ragged = notation.ragged.flatMap(CSVRagged.init(rawValue:))
        csv.hasHeader = notation.hasHeader
        csv.nullWords += options.nullWords
        csv.nullWordsOf = options.nullWordsOf
        csv.hasDecimalComma = options.hasDecimalComma
        csv.hasDecimalCommaOf = options.hasDecimalCommaOf
        csv.dates = options.dates
        csv.datesOf = options.datesOf
        csv.encoding = try encoding(options.encoding)
        csv.typeName = given?.rows ?? typeName
        if !options.columns.isEmpty { csv.columns = options.columns }
        csv.mayLackColumns = options.mayLackColumns
        csv.types = given?.type
        csv.readsOtherNotations = options.given != nil
        csv.fileAttributes = given?.schema.otherAttributes ?? []
        csv.threads = options.threads
        csv.progress = progress
        csv.rejects = options.rejects
        csv.isLossless = options.isLossless
        return csv
    }

    /// Returns the encoding of a name; nil stands for the detected one.
    private static func encoding(_ name: String?) throws(FirnError) -> CSVEncoding? {
        guard let name, name != "auto" else { return nil }
        guard let encoding = CSVEncoding(rawValue: name) else {
            throw FirnError(
                .usage, "the encoding \"\(name)\" is not known",
                advice: "use auto, utf-8, latin-1, windows-1252, utf-16le, utf-16be, or a name that 'iconv -l' lists")
        }
        return encoding
    }

    /// Returns a writer of a format other than .firn. Only JSON documents take several types of rows.
    static func writer(_ output: Output, format: FormatName, _ options: WritingOptions, schema: Schema) throws(FirnError)
        -> any BatchWriter
    {
        switch format {
        case .csv, .tsv:
            let tab = UInt8(ascii: "\t")
            var csv = CSVWriterOptions()
            csv.isExact = options.isLossless
            csv.encoding = try encoding(options.encoding)
            csv.writesSurroundings = options.writesSurroundings
            csv.threads = options.threads
            // Rows that were read from a TSV keep its dialect, except the delimiter.
            let dialect = schema.roots.first.flatMap { CSVDialect(envelope: $0.envelope) }
            if format == .tsv {
                csv.delimiter = tab
            } else if let dialect, dialect.delimiter == tab, !dialect.isExact {
                csv.delimiter = UInt8(ascii: ",")
            }
            return PlainTextsWriter(CSVWriter(output, options: csv))
        case .json, .ndjson:
            var json = JSONOptions(layout: format == .json ? .document : .lines)
            json.isLossless = options.isLossless
            json.budget = .process
            json.threads = options.threads
            return JSONWriter(output, options: json)
        case .realm: trap("OutputForm refuses to write .realm files")
        case .parquet: return ParquetWriter(output, options: try parquetOptions(options))
        case .sqlite: trap("FormatShelf.writer(database:) writes databases")
        case .arrow: return ArrowWriter(output, options: arrowOptions(options))
        case .firn: trap("FirnWriter writes .firn files")
        }
    }

    /// Whether the rows were in a JSON document that contains more than them.
    static func isPartOfDocument(_ schema: Schema) -> Bool {
        schema.roots.count == 1 && JSONSurroundings.hasOthers(schema.roots[0], .process)
    }

    /// Returns a writer of an SQLite database.
    static func writer(database path: String, _ options: WritingOptions) throws(FirnError) -> any BatchWriter {
        guard path != "-" else {
            throw FirnError(
                .usage, "an SQLite database cannot be written to a pipe", advice: "name a file, or choose another format with --to")
        }
        return try SQLiteWriter(path: path, overwrite: options.overwrites, sources: options.sources)
    }

    /// Returns the schema in which links are the keys of the rows that they lead to, with foreign keys, and the positions of these keys by type and
    /// column.
    static func keyedLinks(_ schema: Schema) -> (schema: Schema, keys: [String: [Int: Int]]) { SQLiteForeignKeys.keyed(schema) }

    private static func arrowOptions(_ options: WritingOptions) -> ArrowWriterOptions {
        var arrow = ArrowWriterOptions()
        arrow.isStream = options.writesStream
        arrow.compression = options.bufferCompression.flatMap(ArrowWriterOptions.Compression.init(rawValue:)) ?? .none
        switch options.effort {
        case .fast: arrow.level = 1
        case .standard: break
        case .small: arrow.level = 15
        }
        arrow.threads = options.threads
        arrow.folderTypes = options.folderTypes
        return arrow
    }

    /// Returns the fields with which Arrow files of a schema are written, as text.
    static func arrowSchema(of schema: Schema) -> String { ArrowSchemaText.text(schema) }

    private static func parquetOptions(_ options: WritingOptions) throws(FirnError) -> ParquetWriterOptions {
        var parquet = ParquetWriterOptions()
        switch options.effort {
        case .fast: parquet.compression = try ParquetCompression("zstd:1")
        case .standard: break
        case .small: parquet.compression = try ParquetCompression("zstd:15")
        }
        if let text = options.pageCompression { parquet.compression = try ParquetCompression(text) }
        if let rows = options.groupRows { parquet.groupRows = rows }
        parquet.threads = options.threads
        parquet.folderTypes = options.folderTypes
        return parquet
    }

    /// Returns the schema of Parquet files of a schema, as text.
    static func parquetSchema(of schema: Schema) -> String { ParquetSchemaText(schema).text }

    /// Returns one row of the only root type as a line in the notation of its input.
    static func text(of batch: Batch, row: Int, _ schema: Schema, _ format: FormatName) throws(FirnError) -> [UInt8] {
        guard let index = schema.types.firstIndex(where: { !$0.isEmbedded }) else { return [] }
        var schema = schema
        let output = Output(memory: "rejected rows"), writer: any BatchWriter
        if format == .json || format == .ndjson {
            schema.types[index].envelope = nil
            writer = JSONWriter(output, options: JSONOptions(layout: .lines))
        } else {
            var options = CSVWriterOptions(), dialect = CSVDialect(envelope: schema.types[index].envelope) ?? CSVDialect()
            (options.hasHeader, options.writesSurroundings) = (false, false)
            (dialect.hasByteOrderMark, dialect.endsWithNewline) = (false, true)
            schema.types[index].envelope = dialect.envelope
            writer = CSVWriter(output, options: options)
        }
        try writer.begin(schema)
        try writer.write(Batch(count: 1, columns: batch.columns.map { $0.slice(row..<row + 1) }), type: schema.types[index].name)
        try writer.finish()
        return output.bytes
    }
}
