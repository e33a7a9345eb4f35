import FirnBytes
import FirnCodecs
import FirnCrypto
import FirnDisk
import FirnThreads

/// The one write transaction of a file. Readers do not see what it writes before `commit`. If it is released without `commit`, it is
/// cancelled.
/// `write`, `read` and `free` can be called from several threads.
package final class StoreTransaction: ExtentSource, @unchecked Sendable {
    /// Extents of at least this length are written immediately. Shorter ones are buffered, so that neighbours share a call.
    static let directBytes = 64 << 10
    private static let bufferLimit = 1 << 20

    /// The version that it is based on. Released when the transaction ends.
    package let base: StoreSnapshot
    package var memory: MemoryBudget { base.store.memory }
    /// The version that it commits.
    package let version: UInt64
    /// The store that it writes to.
    package let store: Store

    struct Written {
        var ref: ExtentRef
        /// The bytes that are not in the file yet.
        var buffer: UnsafeMutableRawBufferPointer?
        /// `read` has returned the buffer, so it must live as long as the transaction.
        var isGiven = false
    }

    // Guarded by `lock`.
    let lock = Lock()
    var written: [UInt64: Written] = [:]
    var freed: [ExtentRef] = []
    var taken = RangeMap()
    var holes = RangeMap()
    let baseEnd: UInt64
    /// The length of the file when the transaction began.
    let startLength: UInt64
    /// The unit after the extent that was allocated last.
    var lastEnd: UInt64?
    /// How many of the units that the commit before used are still expected.
    var expectedUnits: UInt64
    /// The total number of units that were allocated.
    private(set) var givenUnits: UInt64 = 0
    var neededFeatures: UInt64 = 0
    /// The state that `rollBack` restores.
    var mark: Mark?
    var neededWriterFeatures: UInt64 = 0
    /// The changed history, if it changes, and the snapshots of versions that are tagged, held until the commit.
    var history: KeptHistory?
    var tagged: [StoreSnapshot] = []
    /// The tags for the version that this transaction commits.
    var ownTags: [String] = []
    /// The first units of extents with a proof, which a search through the file finds (`writeFindable`).
    var findable: Set<UInt64> = []
    /// How positions are chosen: see `StoreTransaction+Moving`.
    var placing = Placing.usual
    /// Whether the history extent is rewritten even if it does not change.
    var movesHistory = false
    private var bufferedBytes = 0
    /// Buffers that `read` returned, of extents that have been written or dropped since. They live as long as the transaction.
    private(set) var retired: [UnsafeMutableRawBufferPointer] = []
    private var mappings: [Mapping] = []
    /// In an encrypted file: the transaction's own extents that were read again.
    private let held: HeldExtents?
    /// Copies of extents that are in the file and not in a buffer any more, if the file is not mapped.
    private var copies: [ExtentRef: UnsafeRawBufferPointer] = [:]
    private(set) var isOpen = true
    private var broken: FirnError?
    private let compressionFailures = CompressionFailures.count
    /// True for the commit that ends a group: it does not end the turn of the writer.
    let isLast: Bool

    init(store: Store, base: StoreSnapshot, isLast: Bool = false) {
        self.store = store
        self.isLast = isLast
        self.base = base
        version = base.version + 1
        held = store.opened.map { HeldExtents($0, store.memory) }
        baseEnd = store.writer.space!.end
        startLength = store.writer.length
        expectedUnits = store.writer.usualUnits
    }

    deinit {
        cancel()
        for buffer in retired { buffer.deallocate() }
        for copy in copies.values { File.giveBack(copy) }
    }

    // MARK: Writing

    /// Writes an extent. The returned reference contains its hash.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(FirnError) -> ExtentRef {
        trap(
            unless: UInt64(bytes.count) <= ExtentRef.maximumLength,
            "an extent has at most one tebibyte: store longer data in several extents")
        if let cipher = store.cipher { return try writeSealed(bytes, cipher) }
        let hash = Hash128(of: bytes)
        let direct = bytes.count >= StoreTransaction.directBytes
        let ref = try lock.withLock { () throws(FirnError) -> ExtentRef in
            trap(unless: isOpen, "write before commit or cancel")
            guard !store.isInherited else { throw store.file.inherited }
            try checkUnbroken()
            let range = allocate(ExtentRef.units(of: UInt64(bytes.count)))
            let ref = ExtentRef(offset: range.start * 64, length: UInt64(bytes.count), birth: version, hash: hash)
            var entry = Written(ref: ref)
            if !direct {
                let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 16)
                if bytes.count > 0 { buffer.copyMemory(from: bytes) }
                entry.buffer = UnsafeMutableRawBufferPointer(rebasing: buffer[..<bytes.count])
            }
            if direct { store.writer.extend(to: ref.offset + ref.length) }
            try keep(entry)
            return ref
        }
        if direct { try writeDirect(bytes, at: ref.offset) }
        return ref
    }

    /// Records an extent, and flushes the buffers if they are full. The lock must be held.
    func keep(_ entry: Written) throws(FirnError) {
        written[entry.ref.offset / 64] = entry
        bufferedBytes += entry.buffer?.count ?? 0
        if bufferedBytes > StoreTransaction.bufferLimit { try flush() }
    }

    func writeDirect(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FirnError) {
        do throws(FirnError) { try store.file.write(bytes, at: offset) } catch {
            lock.withLock { fail(error) }
            throw error
        }
    }

    /// Writes an extent. The returned reference contains its hash.
    package func write(_ bytes: [UInt8]) throws(FirnError) -> ExtentRef {
        try bytes.withBytes { (bytes) throws(FirnError) in try write(bytes) }
    }

    /// Reads an extent that this transaction has written, or one of the base version.
    package func read(_ ref: ExtentRef) throws(Damage) -> UnsafeRawBufferPointer {
        guard ref.birth == version else { return try base.read(ref) }
        return try lock.withLock { () throws(Damage) -> UnsafeRawBufferPointer in
            guard let entry = written[ref.offset / 64], entry.ref == ref else {
                throw Damage("reference to an extent that was never written", inFileAt: ref.offset)
            }
            if let buffer = entry.buffer {
                if held == nil, !entry.isGiven { written[ref.offset / 64]!.isGiven = true }
                return try opened(ref, UnsafeRawBufferPointer(buffer))
            }
            if let copy = copies[ref] { return try opened(ref, copy) }
            if let mapping = mappings.last, UInt64(mapping.reach) >= ref.offset + ref.length {
                return try opened(ref, mapping.bytes(at: Int(ref.offset), count: Int(ref.length)))
            }
            guard let mapping = store.mapping(covering: ref.offset + ref.length) else {
                let copy = try store.file.copy(ref, isSealed: held != nil)
                copies[ref] = copy
                return try opened(ref, copy)
            }
            mappings.append(mapping)
            return try opened(ref, mapping.bytes(at: Int(ref.offset), count: Int(ref.length)))
        }
    }

    /// Returns the contents of one of the transaction's own extents, whose stored bytes are given.
    private func opened(_ ref: ExtentRef, _ bytes: UnsafeRawBufferPointer) throws(Damage) -> UnsafeRawBufferPointer {
        guard let held else { return bytes }
        return try held.read(ref, bytes)
    }

    /// Sets a feature bit that readers must know from this commit on. A file never loses a feature; only a new file made from it may lack
    /// it.
    package func require(_ feature: ReaderFeature) {
        lock.withLock { neededFeatures |= feature.bit }
    }

    /// Sets the feature bits that encodings in written chunks need.
    package func require(_ encodings: EncodingFeatures) {
        if !encodings.isEmpty { lock.withLock { neededFeatures |= encodings.rawValue } }
    }

    /// Sets a feature bit that writers must know from this commit on.
    package func require(_ feature: WriterFeature) {
        lock.withLock { neededWriterFeatures |= feature.bit }
    }

    /// Marks an extent as dead from this commit on. The space of an extent that this transaction wrote is free immediately.
    package func free(_ ref: ExtentRef) {
        lock.withLock {
            trap(unless: isOpen, "free before commit or cancel")
            if ref.isNone { return }
            guard ref.birth == version, let entry = written[ref.offset / 64], entry.ref == ref else {
                freed.append(ref)  // the commit rejects extents that were not in use
                return
            }
            if mark?.written.contains(ref.offset / 64) ?? false { mark!.postponed.append(ref) } else { drop(ref) }
        }
    }

    /// Discards the transaction. Does nothing after `commit`.
    package func cancel() {
        // In a child of the writer's process, the file and the lock belong to the parent.
        if store.isInherited { return }
        lock.withLock {
            guard isOpen else { return }
            for range in holes.ranges { store.writer.space!.takeHole(range) }
            store.writer.space!.end = baseEnd
            for range in taken.ranges { store.writer.space!.giveBack(range) }
            let length = max(base.root.fileLength, startLength)
            if !store.hasFailed, store.writer.length > length { try? store.cut(to: length) }
            close()
        }
    }

    // MARK: Inside (the lock is held)

    /// Frees an extent that this transaction wrote.
    func drop(_ ref: ExtentRef) {
        if findable.remove(ref.offset / 64) != nil { wipe(ref) }
        if let entry = written.removeValue(forKey: ref.offset / 64), let buffer = entry.buffer {
            retire(entry)
            bufferedBytes -= buffer.count
        }
        giveBack(UnitRange(start: ref.units.lowerBound, end: ref.units.upperBound))
    }

    /// Frees a buffer that is not needed any more, unless `read` has returned it. So a transaction of any size holds in memory only what
    /// was read of it.
    private func retire(_ entry: Written) {
        guard let buffer = entry.buffer else { return }
        if entry.isGiven { retired.append(buffer) } else { buffer.deallocate() }
    }

    func allocate(_ size: UInt64) -> UnitRange {
        let range = chooseRange(size)
        givenUnits += range.count
        if range.start < baseEnd {
            taken.insert(range)
        } else if holes.overlaps(range) {
            holes.remove(range)
        }
        return range
    }

    func giveBack(_ range: UnitRange) {
        if range.start < baseEnd {
            taken.remove(range)
        } else {
            holes.insert(range)
        }
        store.writer.space!.giveBack(range)
        // Space after the end is not a hole.
        if let last = holes.last, last.end > store.writer.space!.end { holes.remove(last) }
    }

    /// Writes the buffered extents, neighbours in one call.
    func flush() throws(FirnError) {
        let waiting = written.values.filter { $0.buffer != nil }.sorted { $0.ref.offset < $1.ref.offset }
        var run: [UInt8] = [], start: UInt64 = 0
        run.reserveCapacity(min(bufferedBytes + 64 * waiting.count, 4 << 20))
        if let last = waiting.last { store.writer.extend(to: last.ref.units.upperBound * 64) }
        do throws(FirnError) {
            for entry in waiting {
                if !run.isEmpty, start + UInt64(run.count) != entry.ref.offset || run.count > 4 << 20 {
                    try store.file.write(run, at: start)
                    run.removeAll(keepingCapacity: true)
                }
                if run.isEmpty { start = entry.ref.offset }
                run.append(contentsOf: entry.buffer!)
                run.append(contentsOf: repeatElement(0, count: Int(ExtentRef.units(of: entry.ref.length) * 64) - entry.buffer!.count))
            }
            if !run.isEmpty { try store.file.write(run, at: start) }
        } catch {
            fail(error)
            throw error
        }
        for entry in waiting {
            retire(entry)
            written[entry.ref.offset / 64]!.buffer = nil
        }
        bufferedBytes = 0
    }

    func fail(_ error: FirnError) {
        if broken == nil { broken = error }
        store.fail(error)
    }

    func checkUnbroken() throws(FirnError) {
        if let broken { throw broken }
        // The pages that failed cannot be attributed to a transaction, because they share the memory.
        if CompressionFailures.count != compressionFailures {
            throw FirnError(.inputOutput, "zstd could not compress: there is not enough memory", at: .init(file: store.path))
        }
    }

    func close() {
        isOpen = false
        for entry in written.values { retire(entry) }
        written = [:]
        mappings = []
        tagged = []
        base.release()
        if !isLast { store.endWriting() }
    }
}
