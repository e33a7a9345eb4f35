import FirnBytes
import Synchronization

// pages    id 9 · flags (u8; bit 0: page 0 is the prefix of the other pages, bit 1: zones, bit 2: byte planes) · w (u8, 1…8)
//          · P (u8, 6…16) · low (zigzag varint) · span (varint, high − low)
//          · zones if bit 1: length (varint), integer stream: minimum and maximum of each vector in turn
//          · page offsets (`PageOffsets`) · pages of 2^P values, each a zstd frame without magic number
// A page holds value − low in w bytes for each value, one value after the other; as byte planes: the lowest bytes of all values, then the
// next bytes of all, and so on. zstd finds sequences that repeat (LZ77), which no encoding of single values does.

final class IntegersPages: IntegersBody, @unchecked Sendable {
    private final class Page: Sendable {
        let index: Int
        /// The values, followed by 8 zero bytes, so that any value can be read as eight bytes.
        let bytes: [UInt8]
        init(index: Int, bytes: [UInt8]) {
            self.index = index
            self.bytes = bytes
        }
    }

    private let isPrefixed: Bool, isPlanar: Bool, width: Int, log: Int, low: Int64, high: Int64, zones: IntegersBody?
    private let offsets: PageOffsets, pages: UnsafeRawBufferPointer
    /// The page that was decompressed last, and page 0 if it is the prefix of the others.
    private let last = Mutex<Page?>(nil), first = Mutex<Page?>(nil)
    private let kept = KeptPages<Page>()

    init(_ reader: inout ByteReader, count: Int, depth: Int) throws(Damage) {
        let flags: UInt8 = try reader.read()
        width = Int(try reader.read(UInt8.self))
        log = Int(try reader.read(UInt8.self))
        guard flags < 8, width >= 1, width <= 8, log >= 6, log <= 16 else { throw Damage("pages of integers have an invalid header") }
        isPrefixed = flags & 1 == 1
        isPlanar = flags & 4 == 4
        low = try reader.readSignedVarint()
        high = low &+ Int64(bitPattern: try reader.readVarint())
        zones =
            flags & 2 == 0
            ? nil
            : try openIntegers(try reader.readLengthPrefixed(), count: (count &+ vectorLength &- 1) / vectorLength &* 2, depth: depth &+ 1)
        offsets = try PageOffsets(&reader, pages: (count &+ 1 << log &- 1) >> log)
        pages = try reader.read(count: offsets.total)
        guard reader.isAtEnd else { throw Damage("pages of integers are followed by other bytes", at: reader.position) }
        super.init(count: count)
    }

    override var name: String { "zstd pages" }
    override var bounds: (Int64, Int64)? { low <= high ? (low, high) : nil }

    override func bounds(ofVector vector: Int) -> (Int64, Int64)? {
        if let zones, let least = try? zones.value(at: vector &* 2), let most = try? zones.value(at: vector &* 2 &+ 1), least <= most {
            return (least, most)
        }
        return bounds
    }

    override func value(at index: Int) throws(Damage) -> Int64 {
        var value: Int64 = 0
        copy(try page(index >> log), from: index & (1 << log &- 1), count: 1, into: &value)
        return value
    }

    override func decode(from start: Int, count n: Int, into out: UnsafeMutablePointer<Int64>) throws(Damage) {
        var at = start
        while at < start &+ n {
            let inside = at & (1 << log &- 1), run = min(start &+ n &- at, 1 << log &- inside)
            copy(try page(at >> log), from: inside, count: run, into: out + (at &- start))
            at &+= run
        }
    }

    // MARK: Pages

    private func page(_ index: Int) throws(Damage) -> Page {
        if isPrefixed, index == 0 { return try prefix() }
        if let known = last.withLock({ $0 }), known.index == index { return known }
        if let known = kept[index] { return known }
        let made = try unpack(index, prefix: isPrefixed ? try prefix() : nil)
        let before = last.withLock { last in
            defer { last = made }
            return last?.index
        }
        // Pages are not read in their order.
        if let before, before &+ 1 != index { kept.keep(made, index, bytes: made.bytes.count) }
        return made
    }

    private func prefix() throws(Damage) -> Page {
        if let known = first.withLock({ $0 }) { return known }
        let made = try unpack(0, prefix: nil)
        first.withLock { $0 = made }
        return made
    }

    private func size(_ page: Int) -> Int { min(1 << log, count &- page << log) &* width }

    private func unpack(_ index: Int, prefix: Page?) throws(Damage) -> Page {
        let frame = UnsafeRawBufferPointer(rebasing: pages[try offsets.range(index)]), size = size(index)
        guard size <= PageDecompressor.bound(stored: frame.count) else { throw Damage("a page of integers claims an impossible size") }
        let prefixSize = prefix == nil ? 0 : self.size(0)
        var fault: Damage?
        let bytes = [UInt8](unsafeUninitializedCapacity: size &+ 8) { room, filled in
            do throws(Damage) {
                let target = UnsafeMutableRawBufferPointer(start: room.baseAddress, count: size)
                let written = try PageDecompressor.inflate(frame, into: target, prefix: prefix?.bytes, prefixSize)
                guard written == size else { throw Damage("a page does not hold exactly its values") }
                (room.baseAddress! + size).update(repeating: 0, count: 8)
                filled = size &+ 8
            } catch { fault = error }
        }
        if let fault { throw fault }
        return Page(index: index, bytes: bytes)
    }

    /// Writes `n` values of a page, beginning at position `first` of the page.
    private func copy(_ page: Page, from first: Int, count n: Int, into out: UnsafeMutablePointer<Int64>) {
        let low = low, width = width
        page.bytes.withUnsafeBytes { raw in
            let source = raw.baseAddress! + first &* width
            switch isPlanar ? 0 : width {
            case 0:
                let length = size(page.index) / width
                out.update(repeating: 0, count: n)
                for plane in 0..<width {
                    let bytes = raw.baseAddress! + (plane &* length &+ first), shift = Int64(plane &* 8)
                    for i in 0..<n { out[i] |= Int64(bytes.load(fromByteOffset: i, as: UInt8.self)) &<< shift }
                }
                for i in 0..<n { out[i] &+= low }
            case 1: for i in 0..<n { out[i] = low &+ Int64(source.load(fromByteOffset: i, as: UInt8.self)) }
            case 2:
                for i in 0..<n {
                    out[i] = low &+ Int64(UInt16(littleEndian: source.loadUnaligned(fromByteOffset: i &* 2, as: UInt16.self)))
                }
            case 4:
                for i in 0..<n {
                    out[i] = low &+ Int64(UInt32(littleEndian: source.loadUnaligned(fromByteOffset: i &* 4, as: UInt32.self)))
                }
            default:
                let mask = Int64(bitPattern: lowMask(width &* 8))
                for i in 0..<n {
                    let word = UInt64(littleEndian: source.loadUnaligned(fromByteOffset: i &* width, as: UInt64.self))
                    out[i] = low &+ (Int64(bitPattern: word) & mask)
                }
            }
        }
    }
}

/// How pages are made: decided by the profile.
private struct PagesShape {
    /// The level of zstd.
    let level: Int
    /// Levels that estimate whether pages pay, and the share of the estimate, in hundredths, that the pages are expected to take at least.
    let trials: [(level: Int, share: Int)]
    /// The number of consecutive values that decide whether all of them are tried; nil if all are.
    let sample: Int?
    let pageBytes: Int

    init(_ profile: Profile) {
        if profile.isSmall {
            (level, trials, sample, pageBytes) = (19, [(2, 72), (8, 88)], nil, .max)
        } else {
            (level, trials, sample, pageBytes) = (7, [(1, 90)], 8192, 8 << 10)
        }
    }
}

/// Encodes values as zstd pages. Returns nil if the stream is larger than `goal`; fast trials exclude most such columns.
func encodePages(_ values: UnsafeBufferPointer<Int64>, low: Int64, high: Int64, profile: Profile, goal: Int) -> [UInt8]? {
    let width = max(1, (bitWidth(UInt64(bitPattern: high &- low)) &+ 7) / 8), shape = PagesShape(profile)
    guard goal > 48, values.count >= 64 else { return nil }
    let raw = valueBytes(values, low: low, width: width)
    var log = 16
    while log > 6, shape.pageBytes < width << log || values.count <= 1 << (log &- 1) { log &-= 1 }
    // Sequences of values repeat in bytes that are together; smooth values have upper bytes that repeat.
    var layouts = width < 2 ? [false] : [false, true]
    if let sample = shape.sample, values.count >= sample &* 3 {
        let first = (values.count &- sample) / 2 &* width, part = Array(raw[first..<(first &+ sample &* width)])
        let sizes = layouts.map { isPlanar in
            compressPages(isPlanar ? planes(part, width: width, pageValues: sample) : part, pageBytes: part.count, level: 1).bytes.count
        }
        // A sample repeats less than all values: a sequence is new when it occurs first.
        guard let least = sizes.min(), least &* values.count / sample &* 75 / 100 <= goal else { return nil }
        layouts = layouts.indices.filter { sizes[$0] &* 75 <= least &* 100 }.map { layouts[$0] }
    }
    for trial in shape.trials {
        let sizes = layouts.map { isPlanar in
            compressPages(isPlanar ? planes(raw, width: width, pageValues: values.count) : raw, pageBytes: raw.count, level: trial.level)
                .bytes.count
        }
        guard let least = sizes.min(), let index = sizes.firstIndex(of: least), least &* trial.share / 100 <= goal else { return nil }
        layouts = [layouts[index]]
    }
    let isPlanar = layouts[0], zones = narrowZones(values, low: low, high: high)
    let pages = compressPages(
        isPlanar ? planes(raw, width: width, pageValues: 1 << log) : raw, pageBytes: width << log, level: shape.level)
    guard pages.bytes.count < goal else { return nil }
    var out = ByteWriter(reserving: goal)
    out.append(IntegersEncoding.pages.rawValue)
    out.append(UInt8((pages.isPrefixed ? 1 : 0) | (zones == nil ? 0 : 2) | (isPlanar ? 4 : 0)))
    out.append(UInt8(width))
    out.append(UInt8(log))
    out.appendSignedVarint(low)
    out.appendVarint(UInt64(bitPattern: high &- low))
    if let zones {
        out.append(lengthPrefixed: zones.withUnsafeBufferPointer { encodeIntegers($0, profile: .fast, depth: nestingLimit) })
    }
    PageOffsets.append(pages.sizes, to: &out)
    out.append(contentsOf: pages.bytes)
    return out.count <= goal ? out.bytes : nil
}

/// Returns the bytes of every page plane by plane.
private func planes(_ raw: [UInt8], width: Int, pageValues: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: raw.count) { out, filled in
        raw.withUnsafeBufferPointer { raw in
            for start in stride(from: 0, to: raw.count, by: pageValues &* width) {
                let n = min(pageValues, (raw.count &- start) / width)
                for plane in 0..<width {
                    for i in 0..<n { out[start &+ plane &* n &+ i] = raw[start &+ i &* width &+ plane] }
                }
            }
        }
        filled = raw.count
    }
}

/// Returns value − low in `width` bytes for each value.
private func valueBytes(_ values: UnsafeBufferPointer<Int64>, low: Int64, width: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: values.count &* width &+ 8) { room, filled in
        let out = UnsafeMutableRawPointer(room.baseAddress!)
        // Every store writes eight bytes; the next one replaces those that are too many.
        for i in 0..<values.count {
            out.storeBytes(of: UInt64(bitPattern: values[i] &- low).littleEndian, toByteOffset: i &* width, as: UInt64.self)
        }
        filled = values.count &* width
    }
}

/// Compresses pages with page 0 as their prefix, if page 1 is smaller with it.
private func compressPages(_ raw: [UInt8], pageBytes: Int, level: Int) -> (bytes: [UInt8], sizes: [Int], isPrefixed: Bool) {
    let compressor = PageCompressor(level: level)
    var out: [UInt8] = [], sizes: [Int] = [], isPrefixed = false
    raw.withUnsafeBytes { bytes in
        func page(_ k: Int) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: bytes[(k &* pageBytes)..<min(bytes.count, (k &+ 1) &* pageBytes)])
        }
        let count = (bytes.count &+ pageBytes &- 1) / pageBytes
        if count > 1 {
            var unused: [UInt8] = []
            isPrefixed = compressor.compress(page(1), prefix: page(0), into: &unused) < compressor.compress(page(1), into: &unused)
        }
        for k in 0..<count { sizes.append(compressor.compress(page(k), prefix: isPrefixed && k > 0 ? page(0) : nil, into: &out)) }
    }
    return (out, sizes, isPrefixed)
}
