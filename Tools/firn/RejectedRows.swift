import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnExchange

/// The file of `--rejects`: rows that could not be read, as they stood in the input.
final class RejectedRows {
    let path: String
    private let output: Output
    private(set) var count = 0
    /// What is wrong with the first rows, and where, as far as their readers know.
    private(set) var reasons: [String] = []
    static let mostReasons = 20

    init(path: String, force: Bool, sources: SourceModes) throws(FirnError) {
        self.path = path
        output = try Output(path: path, force: force, sources: sources)
    }

    func add(_ row: UnsafeRawBufferPointer, because reason: FirnError?) throws(FirnError) {
        count += 1
        if let reason, reasons.count < RejectedRows.mostReasons { reasons.append("\(reason)") }
        try output.write(row)
    }

    /// For the user: why the first rows were rejected, that others were too, and where all of them are.
    var remarks: [String] {
        guard count > 0 else { return [] }
        let others = reasons.isEmpty || reasons.count == count ? [] : ["… and \(Quantity.count(count - reasons.count, "row")) more"]
        return reasons + others + ["\(Quantity.count(count, "rejected row")) in \(path)"]
    }

    /// Puts the file in its place, empty if nothing was rejected.
    func finish() throws(FirnError) { try output.finish() }
}
