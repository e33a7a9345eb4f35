import FirnBytes
import FirnDisk

/// The target of a writer: a file, standard output (`-`), or memory. A file is written under another name next to its target, and `finish`
/// replaces the target. If an output is cancelled or released before `finish`, its target is unchanged. The bytes can be compressed.
package final class Output {
    package let path: String
    package let name: String
    private let stream: StreamOut?
    private let sink: OutputSink?
    private let replacement: Replacement?
    private let group: OutputGroup?
    /// The bytes written, if the output is in memory.
    package private(set) var bytes: [UInt8] = []
    private var finished = false

    /// Opens the output. A device or pipe is written directly.
    /// - Parameters:
    ///   - sources: The files from which the output is made; a new target has no more permissions than they have.
    ///   - packing: How the bytes are compressed.
    ///   - group: The outputs with which the target is replaced; nil: `finish` replaces it.
    /// - Throws: `FirnError.exists` if the target exists and `force` is false, or if it is a directory.
    package init(
        path: String, force: Bool = false, sources: SourceModes = .none, packing: Packing = Packing(), group: OutputGroup? = nil
    ) throws(FirnError) {
        self.path = path
        self.group = group
        let stream: StreamOut
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
        self.stream = stream
        sink = try OutputSink.make(packing.compression, stream, effort: packing.effort, threads: packing.threads)
    }

    /// How an output is compressed.
    package struct Packing: Sendable {
        package var compression: Compression
        package var effort: Compression.Effort
        package var threads: Int

        package init(_ compression: Compression = .none, effort: Compression.Effort = .standard, threads: Int = 1) {
            self.compression = compression
            self.effort = effort
            self.threads = threads
        }
    }

    /// Makes an output that keeps its bytes in `bytes`.
    package init(memory name: String = "memory") {
        path = name
        self.name = name
        group = nil
        stream = nil
        sink = nil
        replacement = nil
    }

    /// The number of bytes written so far, compressed if the output is compressed.
    package var position: UInt64 { stream?.position ?? UInt64(bytes.count) }

    package func write(_ more: UnsafeRawBufferPointer) throws(FirnError) {
        trap(unless: !finished, "an output cannot be written after finish")
        if let sink { try sink.write(more) } else if let stream { try stream.write(more) } else { bytes.append(contentsOf: more) }
    }

    package func write(_ more: [UInt8]) throws(FirnError) { try more.withBytes(write) }

    package func write(_ text: String) throws(FirnError) { try write(Array(text.utf8)) }

    /// Flushes the output and replaces the target, or leaves this to the group. Call it once.
    package func finish() throws(FirnError) {
        trap(unless: !finished, "finish can be called only once, and not after cancel")
        finished = true
        try sink?.finish()
        try stream?.flush()
        guard let group, let replacement else { return try replacement?.finish() ?? () }
        try group.add(replacement)
    }

    /// Deletes what was written; the target is unchanged.
    package func cancel() {
        guard !finished else { return }
        finished = true
        replacement?.cancel()
    }

    deinit { cancel() }
}
