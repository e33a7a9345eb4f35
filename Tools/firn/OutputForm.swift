import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnExchange

/// The format and compression of OUT: from `--to` and `--compress`, otherwise from the extension.
struct OutputForm {
    let format: FormatName
    let compression: Compression

    init(_ arguments: Arguments, target: String) throws(FirnError) {
        let to = arguments.text("to"), given = arguments.text("compress").flatMap(Compression.init(rawValue:))
        let named = to.flatMap(Compression.init(extensionOf:))
        if let given, let named, given != named {
            throw FirnError(
                .usage, "--to \(to ?? "") and --compress \(given.rawValue) ask for different compressions", advice: "omit one of them")
        }
        let implied = target == "-" ? nil : Compression(extensionOf: target)
        if let explicit = given ?? named, explicit != .none, let implied, explicit != implied {
            throw FirnError(
                .usage, "the name \"\(target)\" and \(given == nil ? "--to" : "--compress") ask for different compressions",
                advice: "omit the flag, or change the name")
        }
        let compression = given ?? named ?? implied ?? .none
        guard let format = to.flatMap({ FormatName(rawValue: Compression.strip($0)) }) ?? FormatName(extensionOf: target) else {
            throw FirnError(
                .usage,
                target == "-"
                    ? "the format of standard output is not specified" : "the format of OUT cannot be inferred from the name \"\(target)\"",
                advice: "use --to \(OutputForm.names)")
        }
        guard format != .realm else {
            throw FirnError(.usage, "Realm files can be read, not written", advice: "use --to \(OutputForm.names)")
        }
        if target == "-" { try OutputForm.checkTerminal(format) }
        guard format != .parquet || compression == .none else {
            throw FirnError(
                .usage, "a Parquet file cannot be compressed as a whole: its pages are compressed already",
                advice: Compression(extensionOf: target) == nil
                    ? "use --compression to choose how" : "write \"\(Compression.strip(target))\", and use --compression to choose how")
        }
        guard format != .firn && format != .sqlite || compression == .none else {
            throw FirnError(
                .usage,
                format == .sqlite
                    ? "an SQLite database is not written compressed"
                    : "a .firn file cannot be compressed as a whole: its columns are compressed already",
                advice: Compression(extensionOf: target) == nil
                    ? "omit --compress" : "write \"\(Compression.strip(target))\", or choose another format with --to")
        }
        self.format = format
        self.compression = compression
    }

    /// Whether Arrow is written to a target as a stream: to standard output and pipes, and if the name says so.
    static func isStream(_ target: String) -> Bool {
        target == "-" || Paths.kind(target) == .other || Compression.strip(target).lowercased().hasSuffix(".arrows")
    }

    /// The formats that are written, for advice.
    static let names = Flag.formats.dropLast().joined(separator: ", ") + " or " + (Flag.formats.last ?? "")

    /// Throws `.usage` if the format is not text and standard output is a terminal.
    static func checkTerminal(_ format: FormatName) throws(FirnError) {
        guard format.isBinary, Machine.isTerminal(1) else { return }
        throw FirnError(
            .usage, "\(format.rawValue) is not text, and standard output is a terminal", advice: "name a file, or redirect the output")
    }

    /// The packing of the output; `--profile` sets the effort.
    func packing(_ options: WritingOptions) -> Output.Packing {
        let effort: Compression.Effort =
            switch options.effort {
            case .fast: .fast
            case .standard: .standard
            case .small: .small
            }
        return Output.Packing(compression, effort: effort, threads: options.threads)
    }
}
