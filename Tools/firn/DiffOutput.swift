import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnExchange

/// The format of differences, and where they are written: standard output, or the file of `--output`, without colours.
final class DiffOutput {
    enum Format: String, CaseIterable {
        case table, summary, ndjson, json, csv, markdown, html

        /// The names, for advice.
        static let names =
            allCases.dropLast().map(\.rawValue).joined(separator: ", ") + " or " + (allCases.last?.rawValue ?? "")

        /// The format of a file name's extension; nil if it is none of a format of differences.
        init?(extensionOf path: String) {
            switch (DocumentForm(extensionOf: path), FormatName(extensionOf: path)) {
            case (.markdown, _): self = .markdown
            case (.html, _): self = .html
            case (nil, .csv): self = .csv
            case (nil, .ndjson): self = .ndjson
            case (nil, .json): self = .json
            default: return nil
            }
        }
    }

    let format: Format
    /// The colours of text.
    let style: Style
    /// The width of the terminal; nil if lines are not cut.
    let width: Int?
    private let session: Session
    private let path: String?
    private var target: TextTarget?
    /// Whether a line of JSON, or a section of a document, was written.
    private var hasContent = false

    /// Throws `.usage` if the format cannot be inferred, or if the file is an input, and `.exists` if it exists and `--force` is not given.
    init(_ session: Session) throws(FirnError) {
        self.session = session
        let arguments = session.arguments, path = arguments.text("output").flatMap { $0 == "-" ? nil : $0 }
        self.path = path
        format = try DiffOutput.format(arguments, path)
        style = path == nil ? session.outStyle : .plain
        width = path == nil && Machine.isTerminal(1) ? Machine.terminalWidth(1) : nil
        guard let path else { return }
        try DiffOutput.check(path, "output", arguments)
        if let changes = arguments.text("changes"), changes == path || Paths.isSame(changes, path) {
            throw FirnError(.usage, "--changes and --output name the same file", advice: "name two files")
        }
        if Paths.kind(path) != .other { try Replacement.check(path, overwrite: arguments.has("force")) }
    }

    /// Throws `.usage` if the path of a flag is an input.
    static func check(_ path: String, _ flag: String, _ arguments: Arguments) throws(FirnError) {
        for operand in arguments.operands where Paths.kind(path) != .other && Paths.isSame(path, Address(operand).path) {
            throw FirnError(.usage, "--\(flag) names \"\(operand)\", which is an input", advice: "name another file")
        }
    }

    private static func format(_ arguments: Arguments, _ path: String?) throws(FirnError) -> Format {
        let given = arguments.text("format").flatMap(Format.init(rawValue:))
        if arguments.has("json") {
            guard let given, given != .table else { return .ndjson }
            guard [.summary, .ndjson, .json].contains(given) else {
                throw FirnError(
                    .usage, "--json and --format \(given.rawValue) request different formats", advice: "omit one of them")
            }
            return given
        }
        if let given { return given }
        guard let path else { return .table }
        guard let format = Format(extensionOf: path) else {
            throw FirnError(
                .usage, "the format of the differences cannot be inferred from the name \"\(path)\"",
                advice: "use --format \(Format.names)")
        }
        return format
    }

    // MARK: Writing

    func write(_ text: String) throws(FirnError) {
        if let target { return try target.write(text) }
        let opened = try TextTarget(session, path: path, sources: session.arguments.operands)
        target = opened
        if format == .html { try opened.write(HTMLText.head(title: session.arguments.operands.joined(separator: " → "))) }
        try opened.write(text)
    }

    /// Writes an object: a line of NDJSON, or an element of an array of JSON.
    func line(_ object: String) throws(FirnError) {
        guard format == .json else { return try write(object + "\n") }
        try write((hasContent ? ",\n" : "[\n") + object)
        hasContent = true
    }

    /// Writes the heading of a section of a document, and the empty line before it.
    func heading(_ names: (old: String, new: String)) throws(FirnError) {
        let title = names.old == names.new ? names.old : "\(names.old) → \(names.new)"
        switch format {
        case .markdown: try write((hasContent ? "\n" : "") + "### \(MarkdownText.escaped(title))\n\n")
        case .html: try write("<h2>\(HTMLText.escaped(title))</h2>\n")
        default: break
        }
        hasContent = true
    }

    /// Writes a paragraph of a document.
    func paragraph(_ text: String) throws(FirnError) {
        switch format {
        case .markdown: try write(MarkdownText.escaped(text) + "\n")
        case .html: try write("<p>\(HTMLText.escaped(text))</p>\n")
        default: break
        }
    }

    /// Writes what ends the output, and replaces the file.
    func finish() throws(FirnError) {
        switch format {
        case .json: try write(hasContent ? "\n]\n" : "[]\n")
        case .markdown where !hasContent: try paragraph("No differences.")
        case .html:
            if !hasContent { try paragraph("No differences.") }
            try write(HTMLText.foot)
        default: try write("")
        }
        try target?.finish()
    }
}
