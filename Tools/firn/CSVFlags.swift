import FirnBytes
import FirnCommandLine

/// The flags that describe the notation of CSV text. What they do not say is detected.
struct CSVFlags {
    enum Mark { case detected, none, byte(UInt8) }

    var delimiter: [UInt8]?
    var quote = Mark.detected
    var escape = Mark.detected
    var skipped = 0
    var skippedFooter = 0
    /// The start of comment lines; empty if there are none, nil if they are detected.
    var comment: String?
    /// The value of `--ragged`.
    var ragged: String?
    /// Nil if neither `--header` nor `--no-header` is given.
    var hasHeader: Bool?

    /// The flags, which apply to CSV only.
    static let names = ["delimiter", "quote", "escape", "skip", "skip-footer", "comment", "ragged", "header", "no-header"]

    init() {}

    init(_ arguments: Arguments) throws(FirnError) {
        if let text = arguments.text("delimiter") {
            let bytes = text == "tab" ? [9] : Array(text.replacing("\\t", with: "\t").utf8)
            guard !bytes.isEmpty, bytes.count <= 8, bytes.allSatisfy({ $0 < 0x80 && !"\"\r\n".utf8.contains($0) }) else {
                throw FirnError(
                    .usage, "--delimiter takes one to eight ASCII characters without quotes and line breaks, not \"\(text)\"",
                    advice: "write \\t for a tab")
            }
            delimiter = bytes
        }
        quote = try CSVFlags.mark(arguments, "quote")
        escape = try CSVFlags.mark(arguments, "escape")
        skipped = try arguments.count("skip") ?? 0
        skippedFooter = try arguments.count("skip-footer") ?? 0
        guard skippedFooter <= 10_000 else {
            throw FirnError(
                .usage, "--skip-footer takes at most 10000 lines, not \(skippedFooter)", advice: "use --where to omit rows")
        }
        comment = arguments.text("comment").map { $0 == "none" ? "" : $0 }
        if let comment, comment.contains(where: \.isNewline) {
            throw FirnError(
                .usage, "--comment takes the text at the start of comment lines, or none", advice: "for example --comment '#'")
        }
        ragged = arguments.text("ragged")
        if ragged == "reject", !arguments.has("rejects") {
            throw FirnError(.usage, "--ragged reject needs a file for the rejected rows", advice: "add --rejects FILE")
        }
        if arguments.has("header"), arguments.has("no-header") {
            throw FirnError(.usage, "--header and --no-header contradict each other", advice: "use one of them")
        }
        if arguments.has("header") { hasHeader = true } else if arguments.has("no-header") { hasHeader = false }
        if case .byte(let byte) = quote, delimiter == [byte] {
            throw FirnError(.usage, "--quote and --delimiter are the same character", advice: "use two characters")
        }
    }

    private static func mark(_ arguments: Arguments, _ flag: String) throws(FirnError) -> Mark {
        guard let text = arguments.text(flag) else { return .detected }
        if text == "none" { return .none }
        guard text.utf8.count == 1, let byte = text.utf8.first, byte > 32, byte < 0x7F else {
            throw FirnError(
                .usage, "--\(flag) takes one ASCII character or none, not \"\(text)\"", advice: "write it in quotes for the shell")
        }
        return .byte(byte)
    }
}
