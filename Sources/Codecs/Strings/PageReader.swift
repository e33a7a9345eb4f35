import FirnBytes
import Synchronization

/// Reads a stream of zstd pages. `PageEncoder` describes the layout.
final class PageReader: Sendable {
    let count: Int
    let isTrained: Bool
    private let terminated: Bool
    private let log2: Int
    private let largest: Int
    private let training: SharedText?
    private let memory: MemoryScope
    private let offsets: Offsets
    private let payload: BorrowedBytes
    private let outliers: [Outlier]
    /// The page that was decompressed last; kept only if pages hold more than one vector.
    private let last = Mutex<UnpackedPage?>(nil)
    /// Pages of up to one vector that were decompressed for single values.
    private let kept = KeptPages<[UInt8]>()

    private struct Outlier: Sendable {
        var row: Int, size: Int, start: Int, stored: Int
    }
    struct Offsets: @unchecked Sendable { let table: PageOffsets }
    private final class UnpackedPage: Sendable {
        let page: Int
        let text: Text
        init(page: Int, text: Text) {
            self.page = page
            self.text = text
        }
    }

    /// `reader` is positioned after the id of the encoding.
    init(_ reader: inout ByteReader, count: Int, shared: [SharedText], memory: MemoryScope) throws(Damage) {
        self.count = count
        self.memory = memory
        let flags = try reader.read(UInt8.self)
        guard flags < 16, flags & 6 != 6 else { throw Damage("unknown flags of text pages", at: reader.position) }
        terminated = flags & 1 != 0
        log2 = Int(try reader.read(UInt8.self))
        guard log2 <= 40 else { throw Damage("pages have too many values", at: reader.position) }
        largest = try reader.readCount(limit: 64 << 20)
        if flags & 2 != 0 {
            training = try SharedText(kind: .trained, bytes: try reader.readLengthPrefixed())
        } else if flags & 4 != 0 {
            let index = Int(try reader.read(UInt8.self))
            guard index < shared.count else { throw Damage("text refers to a shared blob that does not exist", at: reader.position) }
            training = shared[index]
        } else {
            training = nil
        }
        isTrained = training != nil
        var outliers: [Outlier] = []
        var start = 0
        if flags & 8 != 0 {
            let many = try reader.readCount(limit: min(count, reader.remaining / 3))
            var row = 0
            for i in 0..<many {
                row &+= try reader.readCount(limit: count)
                guard row < count, i == 0 || row > outliers[i &- 1].row else {
                    throw Damage("outlier outside the column", at: reader.position)
                }
                let size = try reader.readCount()
                let stored = try reader.readCount(limit: reader.bytes.count)
                outliers.append(Outlier(row: row, size: size, start: start, stored: stored))
                start &+= stored
                guard start <= reader.bytes.count else { throw Damage("outlier outside the stream", at: reader.position) }
            }
        }
        let pages = count == 0 ? 0 : ((count &- 1) >> log2) &+ 1
        let table = try PageOffsets(&reader, pages: pages)
        offsets = Offsets(table: table)
        payload = BorrowedBytes(try reader.read(count: table.total &+ start))
        guard reader.isAtEnd else { throw Damage("text pages are followed by other bytes", at: reader.position) }
        for i in outliers.indices { outliers[i].start &+= table.total }
        self.outliers = outliers
    }

    // MARK: Pages

    private func dictionary() throws(Damage) -> PageDictionary? {
        guard let training else { return nil }
        guard case .dictionary(let dictionary) = try training.trained(memory).form else {
            throw Damage("text pages refer to a symbol table")
        }
        return dictionary
    }

    private func frame(_ page: Int) throws(Damage) -> UnsafeRawBufferPointer {
        payload[try offsets.table.range(page)].buffer
    }

    private func rows(_ page: Int) -> Range<Int> { page << log2..<min(count, (page &+ 1) << log2) }

    /// A decompressed page. `free` releases its memory.
    private struct Unpacked {
        let room: UnsafeMutableRawBufferPointer, size: Int, charged: Int
        var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: room[..<size]) }
    }

    /// Pages up to this size are not charged to the memory budget.
    private static let smallPage = 64 << 10

    private func unpack(_ page: Int, dictionary: PageDictionary?) throws(Damage) -> Unpacked {
        let frame = try frame(page)
        let most = min(largest, PageDecompressor.bound(stored: frame.count)), charged = most > PageReader.smallPage ? most : 0
        try memory.charge(charged)
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: most &+ 8, alignment: 8)
        do throws(Damage) {
            let size = try PageDecompressor.inflate(
                frame, into: UnsafeMutableRawBufferPointer(rebasing: room[..<most]), dictionary: dictionary)
            return Unpacked(room: room, size: size, charged: charged)
        } catch {
            room.deallocate()
            memory.release(charged)
            throw error
        }
    }

    private func free(_ page: Unpacked) {
        page.room.deallocate()
        memory.release(page.charged)
    }

    /// Returns the position of the first zero byte at or after `start`, or nil.
    @inline(__always)
    private static func zero(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var i = start
        while i &+ 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: i, as: UInt64.self))
            let hit = (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
            if hit != 0 { return i &+ hit.trailingZeroBitCount >> 3 }
            i &+= 8
        }
        while i < bytes.count {
            if bytes[i] == 0 { return i }
            i &+= 1
        }
        return nil
    }

    // MARK: Vectors

    func decode(vector: Int, into text: inout Text) throws(Damage) {
        let first = vector << 10, end = min(count, first &+ 1024)
        text.offsets.removeAll(keepingCapacity: true)
        text.offsets.reserveCapacity(1025)
        text.offsets.append(0)
        var used = 0
        if log2 > 10 {
            let page = try large(first >> log2)
            text.bytes.removeAll(keepingCapacity: true)
            let base = page.page << log2
            try text.reserve(page.text.offsets[end &- base] &- page.text.offsets[first &- base], memory)
            text.append(contentsOf: page.text, range: first &- base..<end &- base)
        } else {
            let dictionary = try dictionary()
            for page in (first >> log2)...((end &- 1) >> log2) {
                let raw = try unpack(page, dictionary: dictionary)
                defer { free(raw) }
                try append(raw.bytes, values: rows(page).count, to: &text, used: &used)
            }
            if text.bytes.count > used { text.bytes.removeLast(text.bytes.count &- used) }
            try placeOutliers(rows: first..<end, in: &text)
        }
    }

    /// Appends the values of a decompressed page to `text`, whose bytes are valid up to `used` and may be longer.
    private func append(_ raw: UnsafeRawBufferPointer, values: Int, to text: inout Text, used: inout Int) throws(Damage) {
        try text.reserve(used &+ raw.count &+ (log2 > 10 ? values &* 8 : 0), memory)
        if text.bytes.count < used &+ raw.count {
            text.bytes.append(contentsOf: repeatElement(0, count: used &+ raw.count &- text.bytes.count))
        }
        if terminated {
            var at = 0, into = used
            var complete = true
            text.bytes.withUnsafeMutableBytes { out in
                for _ in 0..<values {
                    guard let end = Self.zero(in: raw, from: at) else {
                        complete = false
                        return
                    }
                    if end > at { (out.baseAddress! + into).copyMemory(from: raw.baseAddress! + at, byteCount: end &- at) }
                    into &+= end &- at
                    text.offsets.append(into)
                    at = end &+ 1
                }
            }
            used = into
            guard complete, at == raw.count else { throw Damage("a page does not hold exactly its values") }
            return
        }
        var reader = ByteReader(raw)
        var end = used
        for _ in 0..<values {
            end &+= try reader.readCount(limit: raw.count)
            text.offsets.append(end)
        }
        guard reader.remaining == end &- used else { throw Damage("a page does not hold exactly its values") }
        text.bytes.withUnsafeMutableBytes { out in
            if end > used { (out.baseAddress! + used).copyMemory(from: raw.baseAddress! + reader.position, byteCount: end &- used) }
        }
        used = end
    }

    /// Inserts the values that are stored outside the pages, in place of the empty strings of the pages.
    private func placeOutliers(rows: Range<Int>, in text: inout Text) throws(Damage) {
        guard !outliers.isEmpty else { return }
        let found = firstOutlier(from: rows.lowerBound)
        guard found < outliers.count, outliers[found].row < rows.upperBound else { return }
        var whole = Text(), total = text.bytes.count
        for outlier in outliers[found...] {
            guard outlier.row < rows.upperBound else { break }
            total = total.addingReportingOverflow(outlier.size).overflow ? .max : total + outlier.size
        }
        try whole.reserve(total, memory)
        for row in rows {
            let i = row &- rows.lowerBound
            let position = firstOutlier(from: row)
            if position < outliers.count, outliers[position].row == row {
                whole.append(try value(outliers[position]))
            } else {
                text.withBytes(i) { whole.append($0) }
            }
        }
        text = whole
    }

    /// Returns the index of the first outlier from `row` on.
    private func firstOutlier(from row: Int) -> Int { lowerBound(outliers.count) { outliers[$0].row < row } }

    private func value(_ outlier: Outlier) throws(Damage) -> [UInt8] {
        let frame = payload[outlier.start..<outlier.start &+ outlier.stored].buffer
        guard outlier.size <= PageDecompressor.bound(stored: frame.count) else { throw Damage("compressed text claims an impossible size") }
        return try memory.scoped(outlier.size) { () throws(Damage) in try PageDecompressor.inflate(frame, size: outlier.size) }
    }

    private func large(_ page: Int) throws(Damage) -> UnpackedPage {
        if let found = last.withLock({ $0 }), found.page == page { return found }
        let raw = try unpack(page, dictionary: try dictionary())
        defer { free(raw) }
        var text = Text(), used = 0
        try append(raw.bytes, values: rows(page).count, to: &text, used: &used)
        if text.bytes.count > used { text.bytes.removeLast(text.bytes.count &- used) }
        try placeOutliers(rows: rows(page), in: &text)
        let made = UnpackedPage(page: page, text: text)
        last.withLock { $0 = made }
        return made
    }

    // MARK: One value

    func withValue<R>(at row: Int, _ body: (UnsafeRawBufferPointer) -> R) throws(Damage) -> R {
        if log2 > 10 {
            let page = try large(row >> log2)
            return page.text.withBytes(row &- page.page << log2, body)
        }
        if !outliers.isEmpty {
            let position = firstOutlier(from: row)
            if position < outliers.count, outliers[position].row == row {
                let bytes = try value(outliers[position])
                return bytes.withUnsafeBytes(body)
            }
        }
        let page = row >> log2
        func found(_ bytes: UnsafeRawBufferPointer) throws(Damage) -> R {
            body(try slice(of: bytes, at: row &- page << log2, values: rows(page).count))
        }
        if let bytes = kept[page] { return try bytes.withUnsafeBufferPointer { (bytes) throws(Damage) in try found(.init(bytes)) } }
        let raw = try unpack(page, dictionary: try dictionary())
        defer { free(raw) }
        if raw.charged == 0 { kept.keep(Array(raw.bytes), page, bytes: raw.size) }
        return try found(raw.bytes)
    }

    private func slice(of raw: UnsafeRawBufferPointer, at index: Int, values: Int) throws(Damage) -> UnsafeRawBufferPointer {
        if terminated {
            var at = 0
            for i in 0...index {
                guard let end = Self.zero(in: raw, from: at) else { break }
                if i == index { return UnsafeRawBufferPointer(rebasing: raw[at..<end]) }
                at = end &+ 1
            }
            throw Damage("a page does not hold exactly its values")
        }
        var reader = ByteReader(raw)
        var before = 0, own = 0
        for i in 0..<values {
            let length = try reader.readCount(limit: raw.count)
            if i < index { before &+= length }
            if i == index { own = length }
        }
        guard before &+ own <= reader.remaining else { throw Damage("a page does not hold exactly its values") }
        let start = reader.position &+ before
        return UnsafeRawBufferPointer(rebasing: raw[start..<start &+ own])
    }
}
