import FirnBytes
import FirnDisk
import FirnExchange
import FirnTable

/// Writes rows of several types into a folder: one file for each type, with the name of the type. The files are replaced when all of them
/// are complete; if the writer fails, none is, and a folder that it has made is removed.
final class FolderWriter: BatchWriter {
    private let folder: String
    private let ending: String
    private let make: (_ path: String, _ group: OutputGroup, _ schema: Schema, _ types: [String]) throws(FirnError) -> any BatchWriter
    private var group = OutputGroup()
    /// Whether the writer has made the folder, which is removed if the writer fails.
    private var isNew = false
    private var writers: [(type: String, writer: any BatchWriter)] = []

    /// `make` makes the writer of a file. It gets the names of all types, which the file states (`FolderTypes`).
    init(
        _ folder: String, ending: String,
        _ make: @escaping (_ path: String, _ group: OutputGroup, _ schema: Schema, _ types: [String]) throws(FirnError) -> any BatchWriter
    ) throws(FirnError) {
        guard folder != "-" else {
            throw FirnError(
                .usage, "several types are written into a folder, and not to standard output",
                advice: "name a folder, or choose a type with --type")
        }
        self.folder = folder.hasSuffix("/") && folder.count > 1 ? String(folder.dropLast()) : folder
        self.ending = ending
        self.make = make
    }

    func begin(_ schema: Schema) throws(FirnError) {
        if Paths.kind(folder) != .directory {
            try Paths.makeDirectory(folder)
            isNew = true
        }
        for type in schema.roots {
            var own = schema.reachable(from: type.name)
            own.otherAttributes = schema.otherAttributes
            let writer = try make("\(folder)/\(FolderWriter.fileName(type.name)).\(ending)", group, own, schema.roots.map(\.name))
            writers.append((type.name, writer))
            try writer.begin(own)
        }
    }

    /// Returns the name with the characters that a file name cannot have as `%XX`.
    private static func fileName(_ name: String) -> String {
        let safe = name.replacing("%", with: "%25").replacing("/", with: "%2F")
        return safe.hasPrefix(".") ? "%2E" + safe.dropFirst() : safe
    }

    func write(_ batch: Batch, type: String) throws(FirnError) {
        // Rows of embedded types only keep facts of the object layer.
        try writers.first { $0.type == type }?.writer.write(batch, type: type)
    }

    func finish() throws(FirnError) {
        for (_, writer) in writers { try writer.finish() }
        try group.finish()
        isNew = false
    }

    deinit {
        guard isNew else { return }
        // The new files are deleted first.
        (writers, group) = ([], OutputGroup())
        Paths.removeEmptyDirectory(folder)
    }

    var remarks: [String] {
        writers.flatMap { type, writer in writer.remarks.map { "\(type): \($0)" } }
    }
}
