import FirnBytes
import Synchronization

/// Reads one segment's stream of a text column. The bytes and those of the shared blobs must outlive the reader. Thread-safe.
///
/// Strings of rows that have a value are returned exactly as they were encoded. Strings of other rows are undefined: some string of the
/// column or an empty one. Pass `present` to `decode` to get empty strings for them.
package final class TextReader: Sendable {
    /// The number of strings in the stream.
    package let count: Int
    private let form: Form
    private let memory: MemoryScope

    private enum Form: Sendable {
        case constant(DictionaryText)
        case dictionary(DictionaryReader)
        case pages(PageReader)
        case symbols(SymbolReader)
        case raw(RawTextReader)
        case modelled(ModelledTextReader)
        case contexts(ContextReader)
    }

    /// Opens a stream. `shared` are the shared blobs of the group, in the order of `TextGroupEncoder.finish`.
    /// `memory` is charged with what is decompressed and with decoded texts.
    package init(_ bytes: UnsafeRawBufferPointer, count: Int, shared: [SharedText], memory: MemoryScope = .unlimited) throws(Damage) {
        guard count >= 0, count < 1 << 40 else { throw Damage("too many strings") }
        self.count = count
        self.memory = memory
        var reader = ByteReader(bytes)
        let id = try reader.read(UInt8.self)
        guard let encoding = TextEncoding(rawValue: id) else { throw Damage(unknown: "text encoding \(id)") }
        switch encoding {
        case .constant:
            let value = try reader.read(count: reader.remaining)
            var text = Text()
            try text.reserve(value.count, memory)
            text.append(value)
            form = .constant(DictionaryText(text))
        case .dictionary: form = .dictionary(try DictionaryReader(&reader, count: count, shared: shared, memory: memory))
        case .pages: form = .pages(try PageReader(&reader, count: count, shared: shared, memory: memory))
        case .symbols: form = .symbols(try SymbolReader(&reader, count: count, shared: shared, memory: memory))
        case .raw: form = .raw(try RawTextReader(&reader, count: count, memory: memory))
        case .modelled: form = .modelled(try ModelledTextReader(&reader, count: count, memory: memory))
        case .contexts: form = .contexts(try ContextReader(&reader, count: count, shared: shared, memory: memory))
        }
    }

    /// The encoding, as `firn info` prints it.
    package var encodingName: String {
        switch form {
        case .constant: "constant"
        case .dictionary(let reader): "dictionary(\(reader.codes.encodingName))"
        case .pages(let reader): reader.isTrained ? "zstd pages + dictionary" : "zstd pages"
        case .symbols(let reader): "symbol-table(\(reader.lengthsName))"
        case .raw: "raw"
        case .modelled: "modelled"
        case .contexts: "symbols in contexts"
        }
    }

    /// Replaces the contents of `text` with the strings of one vector: `min(1024, count - 1024 · vector)` strings.
    /// `present`, if given, holds one bit for each of them; strings whose bit is clear become empty.
    package func decode(vector: Int, present: UnsafePointer<UInt64>? = nil, into text: inout Text) throws(Damage) {
        let n = size(ofVector: vector)
        guard n > 0 else {
            text.removeAll()
            return
        }
        switch form {
        case .constant(let value):
            let length = value.text.bytes.count
            guard length <= Text.maximumVectorBytes / n, Text.isBelievable(length * n, stored: length) else {
                throw Damage("a vector of text is too long")
            }
            try text.reserve(length * n, memory)
            value.text.bytes.withUnsafeBytes { bytes in
                text.fill(n) { _ in
                    (0, length)
                } from: {
                    bytes
                }
            }
        case .dictionary(let reader): try reader.decode(vector: vector, into: &text)
        case .pages(let reader): try reader.decode(vector: vector, into: &text)
        case .symbols(let reader): try reader.decode(vector: vector, into: &text)
        case .raw(let reader): try reader.decode(vector: vector, into: &text)
        case .modelled(let reader): try reader.decode(vector: vector, into: &text)
        case .contexts(let reader): try reader.decode(vector: vector, into: &text)
        }
        if let present { text.blank(unless: present) }
    }

    /// Tests the strings of a vector on their stored form: writes 16 words with one bit for each string, set if it matches; bits past the
    /// end are zero. Returns false, with undefined contents of `out`, if the caller must decode the strings and test them.
    package func search(_ pattern: TextPattern, vector: Int, into out: UnsafeMutablePointer<UInt64>) throws(Damage) -> Bool {
        guard case .symbols(let reader) = form, size(ofVector: vector) > 0 else { return false }
        return try reader.search(pattern, vector: vector, into: out)
    }

    /// Calls `body` with one string, which is valid only during the call. Decompresses at most one page.
    package func withValue<R>(at row: Int, _ body: (UnsafeRawBufferPointer) -> R) throws(Damage) -> R {
        trap(unless: row >= 0 && row < count, "the row must be less than the stream's count")
        switch form {
        case .constant(let value): return value.text.withBytes(0, body)
        case .dictionary(let reader): return try reader.withValue(at: row, body)
        case .pages(let reader): return try reader.withValue(at: row, body)
        case .symbols(let reader): return try reader.withValue(at: row, body)
        case .raw(let reader): return try reader.withValue(at: row, body)
        case .modelled(let reader): return try reader.withValue(at: row, body)
        case .contexts(let reader): return try reader.withValue(at: row, body)
        }
    }

    /// The values that codes index, sorted by bytes and distinct, if the stream is constant or dictionary-coded; otherwise nil.
    package var values: Text? {
        get throws(Damage) {
            switch form {
            case .constant(let value): value.text
            case .dictionary(let reader): try reader.values().text
            default: nil
            }
        }
    }

    /// Writes the codes of one vector, indexes into `values`. `codes` must have space for 1,024. May be called only if `values` is not nil.
    package func decodeCodes(vector: Int, into codes: UnsafeMutablePointer<Int64>) throws(Damage) {
        switch form {
        case .constant: codes.update(repeating: 0, count: size(ofVector: vector))
        case .dictionary(let reader):
            guard size(ofVector: vector) > 0 else { return }
            try reader.decodeCodes(vector: vector, into: codes, valueCount: try reader.values().text.count)
        default: trap("codes exist only if the reader has values")
        }
    }

    /// The features that nested streams need.
    var nestedFeatures: EncodingFeatures {
        switch form {
        case .constant, .pages, .modelled, .contexts: []
        case .dictionary(let reader): reader.features
        case .symbols(let reader): reader.features
        case .raw(let reader): reader.features
        }
    }

    /// The codes if the stream is dictionary-coded.
    var codes: IntegersReader? {
        if case .dictionary(let reader) = form { reader.codes } else { nil }
    }

    private func size(ofVector vector: Int) -> Int {
        trap(
            unless: vector >= 0 && vector < max(1, (count + 1023) >> 10),
            "the vector must be less than the stream's count / 1024, rounded up")
        return min(1024, count - vector << 10)
    }
}

extension Text {
    /// Replaces the strings whose bit is clear with empty ones.
    mutating func blank(unless present: UnsafePointer<UInt64>) {
        let n = count
        guard (0..<n).contains(where: { present[$0 >> 6] >> UInt64($0 & 63) & 1 == 0 && length($0) > 0 }) else { return }
        var into = 0
        bytes.withUnsafeMutableBytes { out in
            var start = 0
            for i in 0..<n {
                let end = offsets[i &+ 1]
                if present[i >> 6] >> UInt64(i & 63) & 1 == 1 {
                    if end > start, into != start {
                        (out.baseAddress! + into).copyMemory(from: out.baseAddress! + start, byteCount: end &- start)
                    }
                    into &+= end &- start
                }
                offsets[i &+ 1] = into
                start = end
            }
        }
        bytes.removeLast(bytes.count - into)
    }
}
