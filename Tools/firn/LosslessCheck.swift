import FirnBytes
import FirnDatabase
import FirnDisk
import FirnExchange

/// The check of `--lossless` for CSV: exports the new file, and compares the result with the input byte by byte, before the target is
/// replaced.
struct LosslessCheck {
    let source: OpenedFile
    let threads: Int

    func run(_ snapshot: DatabaseSnapshot, beside path: String) throws(FirnError) {
        let copy = AbandonedFiles.sibling(of: path, AbandonedFiles.copyEnding)
        let output = try Output(path: copy, force: true, sources: SourceModes([path]))
        var options = WritingOptions(threads: threads)
        options.isLossless = true
        options.writesSurroundings = true
        let tables = snapshot.schema.roots.compactMap { snapshot.table(named: $0.name) }
        let reader = StoredReader(tables, schema: snapshot.schema, path: path, threads: threads, progress: Progress())
        let writer = try FormatShelf.writer(output, format: source.format, options, schema: snapshot.schema)
        try writer.begin(snapshot.schema)
        while let (type, batch) = try reader.next() { try writer.write(batch, type: type) }
        try writer.finish()
        do throws(FirnError) {
            try compare(copy)
            try Paths.remove(copy)
        } catch {
            try? Paths.remove(copy)
            throw error
        }
    }

    /// What the reader knows about the differences.
    private var reasons: String {
        guard case .stream(let reader) = source.content, !reader.unreproduced.isEmpty else { return "" }
        return ": " + reader.unreproduced.joined(separator: "; ")
    }

    private func compare(_ copy: String) throws(FirnError) {
        let original = try Input(path: source.address.path), written = try Input(path: copy)
        let size = 1 << 20
        var a = [UInt8](repeating: 0, count: size), b = a
        var line = 1, column = 1
        while true {
            let first = try LosslessCheck.fill(&a, original), second = try LosslessCheck.fill(&b, written)
            let common = min(first, second)
            if let index = (0..<common).first(where: { a[$0] != b[$0] }) ?? (first == second ? nil : common) {
                LosslessCheck.advance(&line, &column, over: a[..<index])
                throw FirnError(
                    .rejected, "the bytes of the input cannot be reproduced from here on\(reasons)",
                    at: .init(file: source.name, line: line, column: column),
                    advice: "omit --lossless to accept another notation of the same values")
            }
            if first == 0 { return }
            LosslessCheck.advance(&line, &column, over: a[..<first])
        }
    }

    private static func advance(_ line: inout Int, _ column: inout Int, over bytes: ArraySlice<UInt8>) {
        line += bytes.count { $0 == UInt8(ascii: "\n") }
        if let last = bytes.lastIndex(of: UInt8(ascii: "\n")) { column = bytes.endIndex - last } else { column += bytes.count }
    }

    private static func fill(_ buffer: inout [UInt8], _ input: Input) throws(FirnError) -> Int {
        try buffer.withMutableBytes { (bytes) throws(FirnError) in try input.read(into: bytes) }
    }
}
