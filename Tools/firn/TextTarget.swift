import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnExchange

/// Where a command writes text: standard output, or a file. `finish` replaces the file; a failed or interrupted run leaves it unchanged.
final class TextTarget {
    private let stream: StreamOut
    private let file: Output?

    /// - Parameters:
    ///   - path: The file, which is compressed if its name ends in `.gz`, for example; nil: standard output.
    ///   - sources: The inputs; a new file has no more permissions than they have.
    init(_ session: Session, path: String?, sources: [String] = []) throws(FirnError) {
        stream = session.out
        file = try path.map { (path) throws(FirnError) in
            try Output(
                path: path, force: session.arguments.has("force"), sources: SourceModes(sources.map { Address($0).path }),
                packing: Output.Packing(Compression(extensionOf: path) ?? .none, threads: try session.threads()))
        }
    }

    func write(_ text: String) throws(FirnError) {
        if let file { try file.write(text) } else { try stream.write(text) }
    }

    func finish() throws(FirnError) { try file?.finish() }
}

/// A form of text for documents, in which rows are a table.
enum DocumentForm: String, CaseIterable {
    case markdown, html

    /// The form of a file name's extension (a final `.gz`, for example, is skipped); nil if it is none of these.
    init?(extensionOf path: String) {
        switch Compression.strip(path).lowercased().fields(at: UInt8(ascii: ".")).last {
        case "md", "markdown": self = .markdown
        case "html", "htm": self = .html
        default: return nil
        }
    }
}
