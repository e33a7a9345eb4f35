import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnExchange

/// The file of `--rejects`: rows that cannot be read, copied unchanged from the input.
final class RejectedRows {
    let path: String
    private let output: Output
    private(set) var count = 0
    /// Whether the last row has no line end: it was the last one of its input.
    private var endsOpen = false
    /// The reasons and positions of the first rejected rows, if their readers report them.
    private(set) var reasons: [String] = []
    static let maximumReasons = 20

    init(path: String, force: Bool, sources: SourceModes) throws(FirnError) {
        self.path = path
        output = try Output(path: path, force: force, sources: sources)
    }

    func add(_ row: UnsafeRawBufferPointer, because reason: FirnError?) throws(FirnError) {
        count += 1
        if let reason, reasons.count < RejectedRows.maximumReasons { reasons.append("\(reason)") }
        if endsOpen { try output.write("\n") }
        try output.write(row)
        endsOpen = row.last.map { $0 != 10 && $0 != 13 } ?? endsOpen
    }

    func add(_ row: [UInt8], because reason: FirnError?) throws(FirnError) {
        try row.withBytes { (row) throws(FirnError) in try add(row, because: reason) }
    }

    /// Remarks for the user: the reasons of the first rows, the number of all rows, and the path of the file.
    var remarks: [String] {
        guard count > 0 else { return [] }
        let others = reasons.isEmpty || reasons.count == count ? [] : ["… and \(Quantity.count(count - reasons.count, "row")) more"]
        return reasons + others + ["\(Quantity.count(count, "rejected row")) in \(path)"]
    }

    /// Completes the file. It is empty if nothing was rejected.
    func finish() throws(FirnError) { try output.finish() }
}
