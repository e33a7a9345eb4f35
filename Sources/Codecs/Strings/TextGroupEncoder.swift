import FirnBytes

/// Encodes the segments of one text column; what they share is decided for the group. Not thread-safe: use it from one thread at a time.
/// Deterministic: the same segments in the same order with the same profile give the same bytes.
///
/// Every value first enters a table of distinct values. A column with few distinct values becomes codes into sorted values. A column with
/// many leaves the table (after the first segment, or when the table grows too large) and becomes pages, symbol-table codes or raw text;
/// the streams of its segments are final as soon as the second segment has been added.
package final class TextGroupEncoder {
    private let profile: Profile
    /// Whether strings are read individually, in no order, as those of keys are.
    private let isLookedUp: Bool
    private var table: ValueTable? = ValueTable()
    /// The segments as codes into `table`, as long as there is a table.
    private var coded: [CodedSegment] = []
    /// The first segment, between leaving the table and the arrival of the second segment, with its index.
    private var held: (text: Text, index: Int)?
    private var coder: TextCoder?
    private var ready: [(Int, [UInt8])] = []
    package private(set) var segmentCount = 0
    private var rows = 0
    /// Whether other columns follow from the codes of a segment, so that the column must remain a dictionary.
    private var isPinned = false
    private var rawBytes = 0

    /// The size of the table in bytes at which the column leaves it.
    static let tableBudget = 32 << 20

    /// The number of bytes from which a segment is encoded immediately and on its own: it has examples enough for a dictionary, and waiting
    /// for the next segment would hold both in memory.
    static let aloneBytes = 16 << 20
    /// The number of bytes from which a sample decides whether the strings of the first segment enter the table, a copy of them.
    static let sampledBytes = 8 << 20
    private static let sampleRows = 4096

    /// The number of rows from which long strings, of which more than half differ, leave the table.
    private let trialRows: Int
    private let isQuick: Bool

    /// `isQuick`: the table has so many columns that little time is left for each. The profile `small` takes the time.
    ///
    /// `trialRows`: strings that repeat within a few thousand rows look almost unique in shorter segments, so callers with such segments
    /// can let the decision wait for the next one.
    package init(profile: Profile, isLookedUp: Bool = false, isQuick: Bool = false, trialRows: Int = minimumRows) {
        self.profile = profile
        self.isLookedUp = isLookedUp
        self.isQuick = isQuick && !profile.isSmall
        self.trialRows = trialRows
    }

    /// The number of rows below which the share of different strings is not judged.
    package static let minimumRows = 4096

    /// The memory in use in bytes; callers can end the group early to limit it.
    package var bufferedBytes: Int {
        let first = held.map { $0.text.bytes.count + $0.text.count * 8 } ?? 0
        return (table?.bufferedBytes ?? 0) + coded.reduce(0) { $0 + $1.bufferedBytes } + first + ready.reduce(0) { $0 + $1.1.count }
    }

    /// Whether the segments can still become dictionary codes.
    package var canBeCoded: Bool { table != nil }

    /// Adds one segment. The contents of slots without a value are ignored. `rows` is the number of rows that the strings stand for, if
    /// they are the entries of a relation. `isCoded`: other columns follow from the codes, which are those of the values of this segment
    /// in the order of their bytes.
    package func add(_ text: Text, present: Bits?, rows: Int? = nil, isCoded: Bool = false) {
        segmentCount += 1
        self.rows += max(rows ?? 0, text.count)
        trap(unless: !isCoded || table != nil, "a column that has left its dictionary has no codes")
        isPinned = isPinned || isCoded
        rawBytes += text.bytes.count
        guard let table else {
            addUncoded(text, index: segmentCount - 1)
            return
        }
        if coded.isEmpty, !isPinned, text.bytes.count >= Self.sampledBytes, Self.mostlyDiffers(text, present) {
            self.table = nil
            addUncoded(text, index: segmentCount - 1)
            return
        }
        coded.append(CodedSegment(text, present: present, table: table, isCoded: isCoded))
        if leavesTable(table) {
            for (index, segment) in coded.enumerated() { addUncoded(segment.text(table), index: index) }
            self.table = nil
            coded = []
        }
    }

    /// Frees memory that the next segment can create again, at a cost of time: for callers with very many columns.
    package func releaseContexts() {
        coder?.releaseContexts()
        table?.trim()
    }

    /// Returns the segments whose bytes are final, each exactly once, as (index within the group, bytes).
    package func takeReady() -> [(Int, [UInt8])] {
        defer { ready = [] }
        return ready
    }

    /// Ends the group. Returns the blobs that streams refer to as shared 0, 1, …, and the segments that `takeReady` has not returned yet. A
    /// group of one segment shares no blob.
    package func finish() -> (shared: [SharedBlob], rest: [(Int, [UInt8])]) {
        let single = profile == .modelled && segmentCount == 1 && !isPinned ? held?.text ?? table.flatMap { coded.first?.text($0) } : nil
        let end = finishUnmodelled()
        guard let single, end.rest.count == 1, let modelled = ModelledTextReader.encode(single, below: end.rest[0].1.count * 97 / 100)
        else {
            return end
        }
        return ([], [(0, modelled)])
    }

    private func finishUnmodelled() -> (shared: [SharedBlob], rest: [(Int, [UInt8])]) {
        if let table {
            let (shared, streams) = finishCoded(table)
            return (shared, streams.enumerated().map { ($0.offset, $0.element) })
        }
        if let (text, index) = held {
            held = nil
            encodeAlone(text, index: index)
            return ([], takeReady())
        }
        return (coder?.shared ?? [], takeReady())
    }

    private func addUncoded(_ text: Text, index: Int) {
        if let coder {
            ready.append((index, coder.encode(text, inline: false)))
        } else if let (first, firstIndex) = held {
            let coder = TextCoder(sample: first, segments: 2, profile: profile, isLookedUp: isLookedUp, isQuick: isQuick)
            self.coder = coder
            held = nil
            ready.append((firstIndex, coder.encode(first, inline: false)))
            ready.append((index, coder.encode(text, inline: false)))
        } else if text.bytes.count >= Self.aloneBytes {
            encodeAlone(text, index: index)
        } else {
            held = (text, index)
        }
    }

    private func encodeAlone(_ text: Text, index: Int) {
        let coder = TextCoder(sample: text, segments: 1, profile: profile, isLookedUp: isLookedUp, isQuick: isQuick)
        ready.append((index, coder.encode(text, inline: true)))
    }

    /// Whether almost all strings of a sample differ. If they do, the segment has ten times as many different strings as the sample has
    /// rows, or is almost without repeats.
    private static func mostlyDiffers(_ text: Text, _ present: Bits?) -> Bool {
        var random = UInt64(text.count), seen = Set<UInt64>(), rows = 0
        let count = min(sampleRows, text.count)
        for i in 0..<count {
            // One row of each of `count` ranges, so that none is taken twice.
            let range = text.count * i / count..<text.count * (i + 1) / count
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let row = range.lowerBound + Int(random >> 33) % range.count
            if let present, !present[row] { continue }
            rows += 1
            seen.insert(text.withBytes(row) { hash64($0) })
        }
        return seen.count * 20 > rows * 19
    }

    private func leavesTable(_ table: ValueTable) -> Bool {
        if isPinned { return false }
        if table.bufferedBytes > Self.tableBudget * 2 || table.valueBytes > Self.tableBudget { return true }
        guard rows >= Self.minimumRows else { return false }
        if table.count * 10 > rows * 9 { return true }
        if table.count * 2 > rows { return coded.count >= 4 || rows >= trialRows && rawBytes > rows * 16 }
        return false
    }

    // MARK: Dictionary

    private func finishCoded(_ table: ValueTable) -> (shared: [SharedBlob], streams: [[UInt8]]) {
        guard !coded.isEmpty else { return ([], []) }
        if !isPinned, table.count <= 1, table.valueBytes <= PageEncoder.maximumPageBytes {
            let value = table.count == 0 ? [] : Array(table.value(0))
            return ([], coded.map { _ in [TextEncoding.constant.rawValue] + value })
        }
        let dictionary = DictionaryEncoder(table: table, profile: profile, isQuick: isQuick)
        let inline = coded.count == 1
        let streams = coded.map { dictionary.encode($0, inline: inline) }
        let total = streams.reduce(dictionary.blob.count) { $0 + $1.count } - (inline ? dictionary.blob.count : 0)
        if !isPinned, let uncoded = encodeUncoded(table, below: total) { return uncoded }
        return (inline ? [] : [SharedBlob(kind: .values, bytes: dictionary.blob)], streams)
    }

    /// Encodes the group without a dictionary; returns nil unless that is at least a tenth (`small`: a fiftieth) smaller than `limit`.
    private func encodeUncoded(_ table: ValueTable, below limit: Int) -> (shared: [SharedBlob], streams: [[UInt8]])? {
        // Dictionary codes scan and filter faster, so they are given up only for a clear gain; no trial is made where no gain is possible.
        guard limit * 8 > rawBytes, let first = coded.first?.text(table) else { return nil }
        // Training and a high level save at most a third, so a trial without them shows whether they are worth the time.
        let quick = PageTrial(first, segments: coded.count, profile: profile, isLookedUp: isLookedUp, isQuick: true)
        let gain = isQuick ? 1 : profile.isSmall ? 2 : 1.5
        guard quick.bytes * Double(rawBytes) < Double(limit) * gain * Double(max(first.bytes.count, 1)) else { return nil }
        let inline = coded.count == 1
        let isEnough = isQuick || quick.isComplete(first, segments: coded.count, profile: profile)
        let share = profile.isSmall ? 0.98 : 0.9
        let coder = TextCoder(
            sample: first, segments: coded.count, profile: profile, isLookedUp: isLookedUp, isQuick: isQuick, trial: isEnough ? quick : nil,
            below: Double(limit) * share * Double(first.bytes.count) / Double(max(rawBytes, 1)))
        guard Double(limit) * share > coder.ratio * Double(rawBytes) + Double(coder.shared.reduce(0) { $0 + $1.bytes.count }) else {
            return nil
        }
        let streams = coded.map { coder.encode($0.text(table), inline: inline) }
        let total = streams.reduce(0) { $0 + $1.count } + (inline ? 0 : coder.shared.reduce(0) { $0 + $1.bytes.count })
        return Double(total) < Double(limit) * share ? (inline ? [] : coder.shared, streams) : nil
    }
}

/// One segment as value numbers of a table, in the narrowest of 8, 16 and 32 bits; as runs if few rows differ from the previous one or few
/// rows have a value.
struct CodedSegment {
    private enum Codes { case bytes([UInt8]), shorts([UInt16]), words([UInt32]), runs([Run]) }
    /// A code, and the row after the run's last row.
    private struct Run { var code: UInt32, end: UInt32 }
    /// The minimum average number of rows per run.
    private static let minimumRun = 64
    private let codes: Codes
    let present: Bits?
    let count: Int
    /// Whether the codes number the values of this segment only.
    let isCoded: Bool

    init(_ text: Text, present: Bits?, table: ValueTable, isCoded: Bool = false) {
        count = text.count
        self.isCoded = isCoded
        self.present = present.flatMap { $0.allSet ? nil : $0 }
        let n = text.count
        let wide = [UInt32](unsafeUninitializedCapacity: n) { buffer, filled in
            if n > 0 { table.insert(text, present: present, codes: buffer.baseAddress!) }
            filled = n
            // Slots before the first value get its code, and not that of a value of another segment.
            if isCoded, let present, let first = (0..<n).first(where: { present[$0] }) {
                for i in 0..<first { buffer[i] = buffer[first] }
            }
        }
        var runs = n > 0 ? 1 : 0
        for row in wide.indices.dropFirst() where wide[row] != wide[row &- 1] { runs &+= 1 }
        if runs &* CodedSegment.minimumRun <= n {
            var list: [Run] = []
            list.reserveCapacity(runs)
            for row in wide.indices where row &+ 1 == n || wide[row &+ 1] != wide[row] {
                list.append(Run(code: wide[row], end: UInt32(row &+ 1)))
            }
            codes = .runs(list)
            return
        }
        codes =
            if table.count <= 1 << 8 { .bytes(wide.map { UInt8(truncatingIfNeeded: $0) }) } else if table.count <= 1 << 16 {
                .shorts(wide.map { UInt16(truncatingIfNeeded: $0) })
            } else { .words(wide) }
    }

    var bufferedBytes: Int {
        switch codes {
        case .bytes(let codes): codes.count
        case .shorts(let codes): codes.count * 2
        case .words(let codes): codes.count * 4
        case .runs(let runs): runs.count * 8 + (present?.words.count ?? 0) * 8
        }
    }

    /// Returns the codes, each replaced by its entry in `map`.
    func mapped(_ map: [UInt32]) -> [Int64] {
        switch codes {
        case .bytes(let codes): return codes.map { Int64(map[Int($0)]) }
        case .shorts(let codes): return codes.map { Int64(map[Int($0)]) }
        case .words(let codes): return codes.map { Int64(map[Int($0)]) }
        case .runs(let runs):
            var out: [Int64] = []
            out.reserveCapacity(count)
            for run in runs { out.append(contentsOf: repeatElement(Int64(map[Int(run.code)]), count: Int(run.end) - out.count)) }
            return out
        }
    }

    /// Returns the strings; slots without a value are empty.
    func text(_ table: ValueTable) -> Text {
        var text = Text()
        text.offsets.reserveCapacity(count + 1)
        func append(_ row: Int, _ code: Int) {
            if let present, !present[row] { text.appendEmpty() } else { text.append(table.value(code)) }
        }
        switch codes {
        case .bytes(let codes): for row in 0..<count { append(row, Int(codes[row])) }
        case .shorts(let codes): for row in 0..<count { append(row, Int(codes[row])) }
        case .words(let codes): for row in 0..<count { append(row, Int(codes[row])) }
        case .runs(let runs):
            var row = 0
            for run in runs {
                while row < Int(run.end) {
                    append(row, Int(run.code))
                    row &+= 1
                }
            }
        }
        return text
    }
}
