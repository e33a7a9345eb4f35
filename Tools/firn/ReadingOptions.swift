import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnExchange
import FirnModel

/// How inputs are to be read, from the flags under "Reading".
struct ReadingOptions {
    /// The format, if the content is not to decide.
    var format: FormatName?
    /// Words of a CSV that stand for no value, beside the empty field.
    var nullWords: [String] = []
    var encoding: String?
    var delimiter: UInt8?
    var hasHeader = true
    /// Where rejected rows go; nil: the first one ends the command.
    var rejected: RejectedRows?
    var isLossless = false
    var threads: Int
    /// Columns of CSV to read, in this order; empty: all.
    var columns: [String] = []
    /// The types of the rows and what they lead to, if they are known beforehand.
    var schema: SchemaFile?
    /// The type that `--type` names: of a schema with several types, the one of the rows.
    var typeName: String?
    /// What several inputs were found to have in common: goes before `schema`.
    var forced: GivenSchema?
    /// The keys of encrypted files.
    var keys = KeyRing()
    /// What comes through a pipe must not stand on a disk: what is made of it will be encrypted.
    var staysOffDisk = false
    /// The file is written next: a damaged root is restored first.
    var restores = false

    init(threads: Int) { self.threads = threads }

    init(_ arguments: Arguments, threads: Int) throws(FirnError) {
        self.threads = threads
        keys = try KeyRing(arguments)
        staysOffDisk = arguments.has("new-key-file") || keys.hasAny
        format = arguments.text("from").flatMap(FormatName.init(rawValue:))
        if let path = arguments.text("schema") { schema = try FormatShelf.schema(of: path) }
        typeName = arguments.text("type")
        nullWords = arguments.names("null")
        encoding = arguments.text("encoding")
        hasHeader = !arguments.has("no-header")
        if let path = arguments.text("rejects") {
            // Even --force does not mean that a table goes for the rows rejected from it, or a schema for those it rejects.
            for operand in arguments.operands + arguments.texts("schema") where Paths.kind(path) != .other && (Paths.isSame(path, operand) || Paths.isSame(path, Address(operand).path)) {
                throw FirnError(.usage, "--rejects names \(operand), which is read or written itself", advice: "name another file for the rejected rows")
            }
            rejected = try RejectedRows(path: path, force: arguments.has("force"), sources: SourceModes(arguments.operands.map { Address($0).path }))
        }
        isLossless = arguments.has("lossless")
        if let text = arguments.text("delimiter") {
            guard let byte = ReadingOptions.delimiter(text) else {
                throw FirnError(.usage, "--delimiter takes one ASCII character, not \"\(text)\"", advice: "write \\t for a tab")
            }
            delimiter = byte
        }
    }

    /// Flags that say nothing about the inputs are refused rather than passed over.
    static func check(_ arguments: Arguments, for files: [OpenedFile]) throws(FirnError) {
        guard files.allSatisfy({ $0.format == .firn }), let flag = ["schema", "rejects"].first(where: arguments.has) else { return }
        throw FirnError(.usage, "--\(flag) is for CSV and JSON, and \(files.count == 1 ? "the input is" : "all inputs are") firn", advice: "leave it out")
    }

    /// For readers: the same as `rejected`.
    var rejects: Rejects? {
        rejected.map { rejected in Rejects { (row, reason) throws(FirnError) in try rejected.add(row, because: reason) } }
    }

    private static func delimiter(_ text: String) -> UInt8? {
        if text == "\\t" || text == "tab" { return UInt8(ascii: "\t") }
        guard text.utf8.count == 1, let byte = text.utf8.first, byte < 0x80, !"\"\r\n".utf8.contains(byte) else { return nil }
        return byte
    }
}
