import FirnBytes

/// How the pages of a text column are made. Decided once from a sample, then used for every segment of a group.
struct PagePlan {
    var level: Int
    /// Whether values end with a zero byte; otherwise their lengths are stored before them.
    var terminated: Bool
    /// The zstd dictionary; empty if there is none.
    var dictionary: [UInt8] = []
    /// The approximate maximum number of bytes in a page.
    var pageBytes: Int
    /// The maximum number of values in a page (a power of two).
    var pageValues: Int
}

/// Encodes segments of text as zstd pages.
///
///     0x62 · flags u8 · log2(values a page) u8 · largest page varint
///     · [trained: index u8 if shared, size varint + blob if inline]
///     · [outliers: count varint, then for each row delta varint, size varint, stored size varint]
///     · page offsets · pages · outlier frames
///
/// Flags: 1 terminated, 2 trained inline, 4 trained shared, 8 outliers. A page is a zstd frame without magic number. Its content is, if
/// terminated: value, 0, value, 0, …; otherwise: the length varint of each value, then the bytes of all. Values of more than 64 KiB are
/// empty in their page and have a frame of their own.
final class PageEncoder {
    static let outlierBytes = 64 << 10
    static let maximumPageBytes = 16 << 20

    enum Training { case none, inline([UInt8]), shared(Int) }

    let plan: PagePlan
    /// Created when needed: with its dictionary it takes several times the memory of a page.
    private var context: PageCompressor?

    init(_ plan: PagePlan) { self.plan = plan }

    private var compressor: PageCompressor {
        if let context { return context }
        let made = plan.dictionary.withUnsafeBytes { PageCompressor(level: plan.level, dictionary: $0) }
        context = made
        return made
    }

    /// Frees the context of zstd until the next segment.
    func releaseContext() { context = nil }

    func encode(_ text: Text, training: Training) -> [UInt8] {
        let outliers = (0..<text.count).filter { text.length($0) > Self.outlierBytes }
        let terminated = plan.terminated && !text.bytes.contains(0)
        let log2 = Self.pageLog2(text, plan: plan)
        let perPage = 1 << log2
        let pages = (text.count + perPage - 1) / perPage
        var payload: [UInt8] = [], sizes: [Int] = [], raw: [UInt8] = []
        var largest = 0
        for page in 0..<pages {
            Self.fillPage(&raw, text, rows: page * perPage..<min(text.count, (page + 1) * perPage), terminated: terminated)
            largest = max(largest, raw.count)
            sizes.append(raw.withUnsafeBytes { compressor.compress($0, into: &payload) })
        }
        var out = ByteWriter(reserving: payload.count + 64)
        out.append(TextEncoding.pages.rawValue)
        var flags: UInt8 = terminated ? 1 : 0
        switch training {
        case .none: break
        case .inline: flags |= 2
        case .shared: flags |= 4
        }
        if !outliers.isEmpty { flags |= 8 }
        out.append(flags)
        out.append(UInt8(log2))
        out.appendVarint(largest)
        switch training {
        case .none: break
        case .inline(let blob): out.append(lengthPrefixed: blob)
        case .shared(let index): out.append(UInt8(index))
        }
        var frames: [UInt8] = []
        if !outliers.isEmpty { appendOutliers(outliers, of: text, to: &out, frames: &frames) }
        PageOffsets.append(sizes, to: &out)
        out.append(contentsOf: payload)
        out.append(contentsOf: frames)
        return out.bytes
    }

    /// Returns the compressed size of some pages, spread evenly: enough to compare two encoders of the same pages.
    func sampleSize(_ text: Text) -> Int {
        let perPage = 1 << Self.pageLog2(text, plan: plan), pages = (text.count + perPage - 1) / perPage
        let wanted = min(pages, max(4, (64 << 10) / plan.pageBytes))
        let terminated = plan.terminated && !text.bytes.contains(0)
        var raw: [UInt8] = [], out: [UInt8] = []
        for k in 0..<wanted {
            let first = k * pages / wanted * perPage
            Self.fillPage(&raw, text, rows: first..<min(text.count, first + perPage), terminated: terminated)
            raw.withUnsafeBytes { _ = compressor.compress($0, into: &out) }
        }
        return out.count
    }

    private func appendOutliers(_ outliers: [Int], of text: Text, to out: inout ByteWriter, frames: inout [UInt8]) {
        out.appendVarint(outliers.count)
        let plain = PageCompressor(level: plan.level)
        var previous = 0
        for row in outliers {
            out.appendVarint(row - previous)
            previous = row
            out.appendVarint(text.length(row))
            out.appendVarint(text.withBytes(row) { plain.compress($0, into: &frames) })
        }
    }

    /// Fills `raw` with the uncompressed bytes of one page.
    static func fillPage(_ raw: inout [UInt8], _ text: Text, rows: Range<Int>, terminated: Bool) {
        raw.removeAll(keepingCapacity: true)
        text.bytes.withUnsafeBytes { bytes in
            if terminated {
                for row in rows {
                    let range = text.range(row)
                    if range.count <= outlierBytes { raw.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[range])) }
                    raw.append(0)
                }
                return
            }
            var lengths = ByteWriter()
            var outlying = false
            for row in rows {
                let length = text.length(row)
                outlying = outlying || length > outlierBytes
                lengths.appendVarint(length > outlierBytes ? 0 : length)
            }
            raw.append(contentsOf: lengths.bytes)
            if !outlying {
                raw.append(
                    contentsOf: UnsafeRawBufferPointer(rebasing: bytes[text.offsets[rows.lowerBound]..<text.offsets[rows.upperBound]]))
                return
            }
            for row in rows where text.length(row) <= outlierBytes {
                raw.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[text.range(row)]))
            }
        }
    }

    /// Returns log2 of the largest number of values whose pages have about `pageBytes` on average and never more than `maximumPageBytes`.
    static func pageLog2(_ text: Text, plan: PagePlan) -> Int {
        let total = text.bytes.count + text.count
        if total <= 32 << 10 {
            // A small column is one page: dividing it saves nothing.
            return Int.bitWidth - max(text.count - 1, 0).leadingZeroBitCount
        }
        var log2 = plan.pageValues.trailingZeroBitCount
        while log2 > 0, (total << log2) / text.count > plan.pageBytes { log2 -= 1 }
        while log2 > 0, largestPage(text, log2: log2) > maximumPageBytes { log2 -= 1 }
        return log2
    }

    private static func largestPage(_ text: Text, log2: Int) -> Int {
        var largest = 0, row = 0
        while row < text.count {
            let end = min(text.count, row + (1 << log2))
            largest = max(largest, text.offsets[end] - text.offsets[row] + 3 * (end - row))
            row = end
        }
        return largest
    }
}
