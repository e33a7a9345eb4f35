import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnExchange
import FirnTable

/// Where the rows of `firn query` and `firn sql` go, and in which format.
struct RowOutput {
    let session: Session
    private var arguments: Arguments { session.arguments }

    init(_ session: Session) { self.session = session }

    /// The file that rows are written to; nil for standard output.
    var target: String? { arguments.text("output").flatMap { $0 == "-" ? nil : $0 } }

    /// A table for people, a document with such a table, or a format of files.
    enum Form {
        case table
        case document(DocumentForm)
        case file(FormatName)
    }

    /// The forms that are written to files, for advice.
    private static let names = (DocumentForm.allCases.map(\.rawValue) + [OutputForm.names]).joined(separator: ", ")

    /// Returns the form of the rows.
    func form() throws(FirnError) -> Form {
        if let target, !arguments.has("format"), !arguments.has("json") {
            if let document = DocumentForm(extensionOf: target) { return .document(document) }
            guard let format = FormatName(extensionOf: target), Flag.formats.contains(format.rawValue) else {
                throw FirnError(
                    .usage, "the format of the rows cannot be inferred from the name \"\(target)\"",
                    advice: "use --format \(RowOutput.names)")
            }
            return .file(format)
        }
        let name = try session.rowFormat()
        return FormatName(rawValue: name).map(Form.file) ?? DocumentForm(rawValue: name).map(Form.document) ?? .table
    }

    /// Returns the format of the rows; nil for a table for people.
    func format() throws(FirnError) -> FormatName? {
        if case .file(let format) = try form() { format } else { nil }
    }

    /// Checks the flags of the output before a long input is read.
    func check() throws(FirnError) {
        let format = try format()
        var options = WritingOptions(threads: 1)
        try options.readPages(arguments, format)
        if let target {
            guard !target.isEmpty else { throw FirnError(.usage, "the name of the output is empty") }
            guard !arguments.has("explain") else {
                throw FirnError(.usage, "--explain prints a plan and no rows", advice: "omit --output")
            }
            if case .table = try form() {
                throw FirnError(.usage, "a table for people is not written to a file", advice: "use --format \(RowOutput.names)")
            }
            if Paths.kind(target) != .other { try Replacement.check(target, overwrite: arguments.has("force")) }
        } else if let format, !arguments.has("explain") {
            guard format != .firn, format != .sqlite else {
                throw FirnError(
                    .usage, "a \(format.rawValue) file cannot be written to standard output", advice: "name a file with --output")
            }
            try OutputForm.checkTerminal(format)
        }
    }

    /// Returns a writer of the rows. `sources` are the names of the inputs, `keys` those that they are encrypted with: a `.firn` file is
    /// encrypted with the same key.
    func writer(_ schema: Schema, sources: [String], keys: [EncryptionKey?]) throws(FirnError) -> any BatchWriter {
        let format: FormatName
        switch try form() {
        case .table: return TablePrinter(session)
        case .document(let form):
            return DocumentPrinter(form, try TextTarget(session, path: target, sources: sources), title: sources.joined(separator: ", "))
        case .file(let name): format = name
        }
        var options = WritingOptions(threads: try session.threads())
        options.overwrites = arguments.has("force")
        try options.readPages(arguments, format)
        let path = target ?? "-"
        options.writesStream = OutputForm.isStream(path)
        if format == .firn {
            let keys = Set(keys.compactMap(\.self))
            guard keys.count <= 1 else {
                throw FirnError(
                    .usage, "the inputs are encrypted with different keys",
                    advice: "write another format, or choose the key of a .firn file with 'firn convert --new-key-file'")
            }
            options.key = keys.first
            return try FirnWriter(path: path, options, source: sources.joined(separator: ", "))
        }
        if format == .sqlite { return try FormatShelf.writer(database: path, options) }
        let packing = Output.Packing(target.flatMap { Compression(extensionOf: $0) } ?? .none, threads: options.threads)
        guard packing.compression == .none || format != .parquet else {
            throw FirnError(.usage, "a Parquet file cannot be compressed as a whole", advice: "write \"\(Compression.strip(path))\"")
        }
        return try FormatShelf.writer(
            try Output(path: path, force: options.overwrites, packing: packing), format: format, options, schema: schema)
    }
}
