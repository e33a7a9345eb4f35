import FirnBytes
import FirnCrypto
import FirnDisk

/// The bytes of a file after decryption, read where they are needed: through a mapping, or page by page into memory. For one thread.
final class RealmBytes {
    /// The number of bytes.
    let count: Int
    private let source: Source
    /// The encrypted bytes that these are decrypted from; nil if the file is not encrypted.
    private let sealed: RealmBytes?

    private enum Source {
        case mapped(Mapping)
        case pages(RealmPages)
        case memory(UnsafeMutableRawBufferPointer, MemoryCharge)
    }

    /// The number of nodes of trees that were read.
    private var nodes = 0

    private init(_ source: Source, count: Int, from sealed: RealmBytes? = nil) {
        self.source = source
        self.sealed = sealed
        self.count = count
    }

    /// Opens a file. `.copied` reads it page by page.
    convenience init(_ file: File, _ reading: FileReading, _ budget: MemoryBudget) throws(FirnError) {
        let size = try file.size()
        guard size < UInt64(Int.max / 4) else { throw FirnError(.damaged, "the file is too long", at: .init(file: file.path, byte: size)) }
        if reading != .copied, let mapping = Mapping.watched(file) {
            self.init(.mapped(mapping), count: Int(size))
        } else {
            let pages = try RealmPages(file, count: Int(size), budget) { (page, out) throws(Damage) in
                try RealmPages.read(file, at: page * RealmPages.pageBytes, into: out)
            }
            self.init(.pages(pages), count: Int(size))
        }
    }

    /// Copies bytes in memory, such as those of a compressed file.
    convenience init(_ bytes: [UInt8], _ budget: MemoryBudget) throws(Damage) {
        let charge = try budget.holding(bytes.count, for: "the file")
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(8, bytes.count), alignment: 8)
        copy.copyBytes(from: bytes)
        self.init(.memory(copy, charge), count: bytes.count)
    }

    /// The contents of an encrypted file, whose pages are decrypted where they are needed.
    convenience init(_ cipher: RealmCipher, _ file: File, _ budget: MemoryBudget) throws(FirnError) {
        let pages = try RealmPages(file, count: cipher.count, budget) { (page, out) throws(Damage) in try cipher.open(page, into: out) }
        self.init(.pages(pages), count: cipher.count, from: cipher.sealed)
    }

    /// The contents of encrypted bytes in memory: all pages are decrypted.
    convenience init(_ cipher: RealmCipher, _ budget: MemoryBudget) throws(Damage) {
        var plain = try budget.scoped(cipher.count, for: "the file") { () throws(Damage) in [UInt8](repeating: 0, count: cipher.count) }
        try plain.withMutableBytes { (out) throws(Damage) in
            for start in stride(from: 0, to: out.count, by: RealmPages.pageBytes) {
                let page = UnsafeMutableRawBufferPointer(rebasing: out[start..<start + RealmPages.pageBytes])
                try cipher.open(start / RealmPages.pageBytes, into: page)
            }
        }
        try self.init(plain, budget)
    }

    deinit {
        if case .memory(let copy, _) = source { copy.deallocate() }
    }

    /// Returns the bytes `offset ..< offset + count`, which must be in the file. They are valid until `release`.
    @inline(__always)
    func pointer(_ offset: Int, _ count: Int) throws(Damage) -> UnsafeRawPointer {
        trap(unless: offset >= 0 && count >= 0 && offset <= self.count - count, "check the bounds of the file first")
        switch source {
        case .mapped(let mapping): return mapping.base + offset
        case .memory(let copy, _): return UnsafeRawPointer(copy.baseAddress!) + offset
        case .pages(let pages): return try pages.pointer(offset, count)
        }
    }

    /// Frees pages if many are held. Pointers from before the call are invalid.
    func release() throws(Damage) {
        if case .pages(let pages) = source { try pages.release() }
    }

    /// Throws if the file was truncated while it was read.
    func checkWhole() throws(Damage) {
        try sealed?.checkWhole()
        if case .mapped(let mapping) = source, mapping.isBroken { throw Damage("the file was truncated while it was read", at: count) }
    }

    /// Counts a node of a tree. A valid version reaches every node once, so that there are at most as many as fit into the file.
    func visit(_ ref: Int) throws(Damage) {
        nodes += 1
        if nodes > count / RealmFileFormat.nodeHeaderBytes { throw Damage("references lead to the same nodes again and again", at: ref) }
    }
}

/// Pages of a file in memory that are filled when they are first needed.
final class RealmPages {
    static let pageBytes = 4096
    /// Pages are freed between batches if they are more than this.
    private static let heldBytes = 64 << 20

    private let count: Int
    private let file: File
    private let fill: (Int, UnsafeMutableRawBufferPointer) throws(Damage) -> Void
    private let charge: MemoryCharge
    private var memory: UnsafeMutableRawBufferPointer
    private var filled: Bits
    private var filledCount = 0

    init(
        _ file: File, count: Int, _ budget: MemoryBudget,
        _ fill: @escaping (Int, UnsafeMutableRawBufferPointer) throws(Damage) -> Void
    ) throws(FirnError) {
        self.count = count
        self.file = file
        self.fill = fill
        charge = MemoryCharge(budget)
        let pages = (count + RealmPages.pageBytes - 1) / RealmPages.pageBytes
        do throws(Damage) {
            try charge.add(pages / 8, for: "the file")
        } catch { throw FirnError(error, in: file.path) }
        memory = try RealmPages.room(pages, file)
        filled = Bits(count: pages)
    }

    deinit { File.giveBack(UnsafeRawBufferPointer(memory)) }

    /// Returns address space for pages, of which those that are written occupy memory.
    private static func room(_ pages: Int, _ file: File) throws(FirnError) -> UnsafeMutableRawBufferPointer {
        let bytes = max(1, pages) * pageBytes
        return UnsafeMutableRawBufferPointer(start: try file.zeroedMemory(bytes: bytes), count: bytes)
    }

    func pointer(_ offset: Int, _ length: Int) throws(Damage) -> UnsafeRawPointer {
        if length > 0 {
            for page in offset / RealmPages.pageBytes...(offset + length - 1) / RealmPages.pageBytes where !filled[page] {
                try charge.add(RealmPages.pageBytes, for: "the file")
                try fill(
                    page, UnsafeMutableRawBufferPointer(rebasing: memory[page * RealmPages.pageBytes..<(page + 1) * RealmPages.pageBytes]))
                filled[page] = true
                filledCount += 1
            }
        }
        return UnsafeRawPointer(memory.baseAddress!) + offset
    }

    func release() throws(Damage) {
        guard filledCount * RealmPages.pageBytes > RealmPages.heldBytes else { return }
        File.giveBack(UnsafeRawBufferPointer(memory))
        memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        do throws(FirnError) { memory = try RealmPages.room(filled.count, file) } catch {
            throw Damage(error.message, beyondMemory: true)
        }
        try charge.set(filled.count / 8, for: "the file")
        filled = Bits(count: filled.count)
        filledCount = 0
    }

    /// Fills a page from a file; bytes after its end are zero.
    static func read(_ file: File, at offset: Int, into out: UnsafeMutableRawBufferPointer) throws(Damage) {
        do throws(FirnError) { _ = try file.read(into: out, at: UInt64(offset)) } catch {
            throw Damage(error.message, at: offset, isUnread: true)
        }
    }
}
