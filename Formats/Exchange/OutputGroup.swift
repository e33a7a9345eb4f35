import FirnBytes
import FirnDisk

/// Outputs whose targets are replaced when all of them are complete and durable. Not thread-safe.
package final class OutputGroup {
    private var complete: [Replacement] = []

    package init() {}

    /// Takes over a replacement whose file is complete, and makes its bytes durable.
    func add(_ replacement: Replacement) throws(FirnError) {
        try replacement.file.sync()
        complete.append(replacement)
    }

    /// Replaces all targets. Without this call, none is replaced, and the new files are deleted.
    package func finish() throws(FirnError) {
        for replacement in complete { try replacement.finish() }
        complete = []
    }
}
