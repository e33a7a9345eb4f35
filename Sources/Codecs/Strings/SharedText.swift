import FirnBytes
import Synchronization

/// A blob that the segments of one group of a text column share. A group has at most one of each kind.
package struct SharedBlob: Sendable {
    package enum Kind: UInt8, Sendable {
        /// Sorted distinct values (`DictionaryValues`).
        case values = 1
        /// A zstd dictionary, a symbol table or symbols in contexts (`TrainedText`).
        case trained = 2
    }
    package var kind: Kind
    package var bytes: [UInt8]

    package init(kind: Kind, bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }
}

/// A shared blob, opened once per process and usable from any thread. Its bytes must outlive it; they are decompressed at the first use.
package final class SharedText: Sendable {
    package let kind: SharedBlob.Kind
    private let bytes: BorrowedBytes
    private let opened = Mutex<Opened?>(nil)

    var storedBytes: Int { bytes.buffer.count }

    enum Opened: Sendable {
        case values(DictionaryText)
        case trained(TrainedText)
    }

    /// Opens a blob that `TextGroupEncoder.finish` returned. Damage inside the blob is reported at the first use.
    package init(kind: SharedBlob.Kind, bytes: UnsafeRawBufferPointer) throws(Damage) {
        guard !bytes.isEmpty else { throw Damage("shared text is empty") }
        self.kind = kind
        self.bytes = BorrowedBytes(bytes)
    }

    /// Returns the sorted values.
    /// - Throws: `Damage` if the blob is of the other kind or damaged.
    func values(_ memory: MemoryScope) throws(Damage) -> DictionaryText {
        if case .values(let values) = try open(memory) { return values }
        throw Damage("shared text is not a dictionary")
    }

    func trained(_ memory: MemoryScope) throws(Damage) -> TrainedText {
        if case .trained(let trained) = try open(memory) { return trained }
        throw Damage("shared text is not a trained table")
    }

    /// `memory` is the scope of the column that needs the blob first; the opened blob stays charged to it.
    private func open(_ memory: MemoryScope) throws(Damage) -> Opened {
        try opened.withLock { (state) throws(Damage) -> Opened in
            if let found = state { return found }
            let made: Opened =
                switch kind {
                case .values: .values(DictionaryText(try DictionaryValues.decode(bytes.buffer, memory)))
                case .trained: .trained(try TrainedText(bytes.buffer, memory))
                }
            state = made
            return made
        }
    }
}

/// Bytes whose owner keeps them alive and unchanged.
struct BorrowedBytes: @unchecked Sendable {
    let buffer: UnsafeRawBufferPointer
    init(_ buffer: UnsafeRawBufferPointer) { self.buffer = buffer }

    subscript(range: Range<Int>) -> BorrowedBytes { BorrowedBytes(UnsafeRawBufferPointer(rebasing: buffer[range])) }
}

/// Sorted values in memory.
final class DictionaryText: Sendable {
    let text: Text
    init(_ text: Text) { self.text = text }
}

/// A zstd dictionary, a symbol table or symbols in contexts that were trained on a column and are shared by its segments.
///
///     form u8 (0 zstd dictionary, 1 symbol table, 2 symbols in contexts) · block
final class TrainedText: Sendable {
    enum Form: Sendable {
        case dictionary(PageDictionary)
        case symbols(SymbolTable)
        case contexts(ContextModel)
    }
    let form: Form
    private let charge: MemoryCharge

    init(_ blob: UnsafeRawBufferPointer, _ memory: MemoryScope) throws(Damage) {
        charge = try memory.holding(0)
        var reader = ByteReader(blob)
        let kind = try reader.read(UInt8.self)
        let bytes = try PageBlock.read(&reader, limit: 1 << 20, charge, memory)
        // The memory that zstd or the symbol table needs for it.
        try charge.add(max(64 << 10, bytes.count), for: memory.name)
        guard reader.isAtEnd else { throw Damage("trained text is followed by other bytes", at: reader.position) }
        switch kind {
        case 0:
            form = .dictionary(try bytes.withUnsafeBufferPointer { (b) throws(Damage) in try PageDictionary(UnsafeRawBufferPointer(b)) })
        case 1: form = .symbols(try bytes.withUnsafeBufferPointer { (b) throws(Damage) in try SymbolTable(UnsafeRawBufferPointer(b)) })
        case 2:
            try charge.add(ContextModel.maximumBytes(bytes), for: memory.name)
            form = .contexts(try bytes.withUnsafeBufferPointer { (b) throws(Damage) in try ContextModel(UnsafeRawBufferPointer(b)) })
        default: throw Damage("unknown trained text")
        }
    }

    /// `level` nil stores the dictionary uncompressed.
    static func encode(dictionary: [UInt8], level: Int?) -> [UInt8] {
        var out = ByteWriter()
        out.append(UInt8(0))
        PageBlock.append(dictionary, level: level, to: &out)
        return out.bytes
    }

    static func encode(symbols: SymbolTable, level: Int) -> [UInt8] {
        var out = ByteWriter()
        out.append(UInt8(1))
        PageBlock.append(symbols.encoded(), level: level, to: &out)
        return out.bytes
    }

    static func encode(contexts: ContextPlan, level: Int) -> [UInt8] {
        var out = ByteWriter()
        out.append(UInt8(2))
        PageBlock.append(contexts.encoded(), level: level, to: &out)
        return out.bytes
    }
}
