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

    /// Returns the format of the rows; nil for a table for people.
    func format() throws(FirnError) -> FormatName? {
        if let target, !arguments.has("format"), !arguments.has("json") {
            guard let format = FormatName(extensionOf: target), Flag.formats.contains(format.rawValue) else {
                throw FirnError(
                    .usage, "the format of the rows cannot be inferred from the name \"\(target)\"",
                    advice: "use --format \(OutputForm.names)")
            }
            return format
        }
        return FormatName(rawValue: try session.rowFormat())
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
            guard format != nil else {
                throw FirnError(.usage, "a table for people is not written to a file", advice: "use --format \(OutputForm.names)")
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
        guard let format = try format() else { return TablePrinter(session) }
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
