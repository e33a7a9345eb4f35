import FirnBytes
import FirnDisk

/// Where a writer's bytes go: a file, written beside its target and put in its place by `finish`, or standard output (`-`), or memory.
/// Released or cancelled before `finish`, a file output leaves its target as it was.
package final class Output {
    package let path: String
    package let name: String
    private let stream: StreamOut?
    private let replacement: Replacement?
    /// What was written, of an output in memory.
    package private(set) var bytes: [UInt8] = []
    private var finished = false

    /// Throws `.exists` if the target is there and `force` is false, or if it is a directory. A device or pipe is written to as it is.
    /// `sources`: the files that it is made from; a new target has no more permissions than they have.
    package init(path: String, force: Bool = false, sources: SourceModes = .none) throws(FirnError) {
        self.path = path
        if path == "-" {
            stream = .standardOutput()
            replacement = nil
            name = "standard output"
        } else {
            name = path
            if Paths.kind(path) == .other {
                stream = StreamOut(try File(path: path, .write))
                replacement = nil
            } else {
                let replacement = try Replacement(of: path, overwrite: force, sources: sources)
                self.replacement = replacement
                stream = StreamOut(replacement.file)
            }
        }
    }

    /// Keeps the bytes in `bytes`.
    package init(memory name: String = "memory") {
        path = name
        self.name = name
        stream = nil
        replacement = nil
    }

    /// Bytes written so far.
    package var position: UInt64 { stream?.position ?? UInt64(bytes.count) }

    package func write(_ more: UnsafeRawBufferPointer) throws(FirnError) {
        precondition(!finished, "write before finish")
        if let stream { try stream.write(more) } else { bytes.append(contentsOf: more) }
    }

    package func write(_ more: [UInt8]) throws(FirnError) {
        var failure: FirnError?
        more.withUnsafeBytes { do throws(FirnError) { try write($0) } catch { failure = error } }
        if let failure { throw failure }
    }

    package func write(_ text: String) throws(FirnError) { try write(Array(text.utf8)) }

    /// Everything is on its way to the disk, and the target is replaced. Once.
    package func finish() throws(FirnError) {
        precondition(!finished, "finish an output once")
        finished = true
        try stream?.flush()
        try replacement?.finish()
    }

    /// Removes what was written; the target stays as it was.
    package func cancel() {
        guard !finished else { return }
        finished = true
        replacement?.cancel()
    }

    deinit { cancel() }
}
