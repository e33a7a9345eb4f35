import FirnBytes
import FirnExchange

/// The file of `--rejects`: rows that could not be read, as they stood in the input.
final class RejectedRows {
    let path: String
    private let output: Output
    private(set) var count = 0

    init(path: String, force: Bool) throws(FirnError) {
        self.path = path
        output = try Output(path: path, force: force)
    }

    func add(_ row: UnsafeRawBufferPointer) throws(FirnError) {
        count += 1
        try output.write(row)
    }

    /// Puts the file in its place, empty if nothing was rejected.
    func finish() throws(FirnError) { try output.finish() }
}
