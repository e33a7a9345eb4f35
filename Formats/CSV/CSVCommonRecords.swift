import FirnBytes
import FirnExchange

/// The records that two texts have in common byte by byte, as one text after their common header. They keep their order. The records that
/// are not found in the other text near the same place are set aside, so what is returned depends on the order of the records, but every
/// record of both texts is either common or set aside.
final class CSVCommonRecords: CSVSource {
    /// The larger input.
    let input: Input
    private let old: CSVSide, new: CSVSide
    /// The bytes of `old` that are common and were not returned yet.
    private var common = 0..<0
    /// The maximum number of bytes that are set aside.
    private let limit: Int
    private var compared = 0
    /// Whether too many records were set aside for the comparison to pay. The text then ends early.
    private(set) var isGivenUp = false

    /// The number of bytes that are set aside before their share counts.
    private static let patience = 4 << 20
    /// The numbers of records among which the next common one is searched for.
    private static let reaches = [16, 256, 4096]

    /// - Parameter limit: The maximum number of bytes that are set aside.
    init(old: CSVText, new: CSVText, header: CSVHeader, limit: Int) throws(FirnError) {
        input = old.input.totalBytes ?? 0 < new.input.totalBytes ?? 0 ? new.input : old.input
        self.limit = limit
        self.old = try CSVSide(old, header.marks)
        self.new = try CSVSide(new, header.marks)
        try self.old.fill(atLeast: header.length)
        try self.new.fill(atLeast: header.length)
        isGivenUp = !self.old.begins(with: header.length, as: self.new)
        for side in [self.old, self.new] { side.keepHeader(header.length) }
        common = 0..<(isGivenUp ? 0 : header.length)
    }

    /// The records of one text that are not common, after the header.
    var others: (old: CSVSide.Records, new: CSVSide.Records) { (old.others, new.others) }

    func read(into memory: UnsafeMutableRawBufferPointer) throws(FirnError) -> Int {
        var done = 0
        while done < memory.count {
            if common.isEmpty {
                guard try findCommon() else { break }
                continue
            }
            let count = min(common.count, memory.count - done)
            memory[done...].copyBytes(from: UnsafeBufferPointer(start: old.memory + common.lowerBound, count: count))
            common = (common.lowerBound + count)..<common.upperBound
            done += count
        }
        return done
    }

    func rewind() throws(FirnError) { trap("read common records once") }
    func locate(_ position: UInt64, newline: UInt8) throws(FirnError) -> FirnError.Location { .init(file: input.name, byte: position) }
    func invalid(at offset: UInt64, newline: UInt8) throws(FirnError) -> FirnError {
        FirnError(.rejected, "text is not UTF-8", at: .init(file: input.name, byte: offset))
    }

    /// Finds the next common records. Returns false at the end of both texts, or if the comparison is given up.
    private func findCommon() throws(FirnError) -> Bool {
        while !isGivenUp {
            try old.fill(atLeast: CSVSide.least)
            try new.fill(atLeast: CSVSide.least)
            let both = min(old.left, new.left)
            let same = CSVSide.commonPrefix(old.start, new.start, both)
            let length = old.recordsEnd(within: same)
            if length > 0 {
                common = old.at..<(old.at + length)
                old.pass(length)
                new.pass(length)
                compared += length
                return true
            }
            if same == both, old.left > both ? !new.isAtEnd : !old.isAtEnd {
                // A record that is longer than what was read of it.
                guard try grow() else { break }
                continue
            }
            if old.left == 0, new.left == 0 { return false }
            guard try setAside() else { break }
            let kept = old.others.bytes.count + new.others.bytes.count
            if kept > limit || kept > CSVCommonRecords.patience + compared { break }
        }
        isGivenUp = true
        return false
    }

    /// Reads more of both texts. Returns false if a record is longer than the maximum.
    private func grow() throws(FirnError) -> Bool {
        let wanted = 4 * (min(old.left, new.left) + CSVSide.least)
        guard wanted <= limit else { return false }
        try old.fill(atLeast: wanted)
        try new.fill(atLeast: wanted)
        return true
    }

    /// Sets the records aside that come before the next common one. Returns false if a record is longer than the maximum.
    private func setAside() throws(FirnError) -> Bool {
        // Most often one record was changed, removed or added.
        let firstOld = try old.recordEnd(from: old.at, limit: limit), firstNew = try new.recordEnd(from: new.at, limit: limit)
        guard let firstOld, let firstNew else { return false }
        if isCommon(firstOld, firstNew) { return take(1, to: firstOld, 1, to: firstNew) }
        if firstOld > old.at, isCommon(firstOld, new.at) { return take(1, to: firstOld, 0, to: new.at) }
        if firstNew > new.at, isCommon(old.at, firstNew) { return take(0, to: old.at, 1, to: firstNew) }
        for reach in CSVCommonRecords.reaches {
            let (olds, news) = (old.records(reach), new.records(reach))
            let isLast = reach == CSVCommonRecords.reaches.last || (olds.count < reach && news.count < reach)
            if let (i, j) = nearest(olds, news) {
                return take(i, to: olds.start(of: i), j, to: news.start(of: j))
            }
            if isLast {
                // What is set aside may be a part of the records that the windows hold; the comparison goes on after it.
                guard olds.count + news.count > 0 else { return false }
                return take(olds.count, to: olds.start(of: olds.count), news.count, to: news.start(of: news.count))
            }
        }
        return false
    }

    /// Whether equal records begin at two positions.
    private func isCommon(_ inOld: Int, _ inNew: Int) -> Bool {
        guard inOld < old.end, inNew < new.end, let end = old.knownRecordEnd(from: inOld) else { return false }
        let length = end - inOld
        return inNew + length <= new.end && old.isEqual(inOld..<end, new, inNew..<(inNew + length))
    }

    private func take(_ olds: Int, to oldEnd: Int, _ news: Int, to newEnd: Int) -> Bool {
        old.setAside(olds, to: oldEnd)
        new.setAside(news, to: newEnd)
        return true
    }

    /// Returns the numbers of records before the first common one, with the smallest sum.
    private func nearest(_ olds: CSVSide.Ahead, _ news: CSVSide.Ahead) -> (Int, Int)? {
        var first: [UInt64: Int] = [:]
        first.reserveCapacity(olds.count)
        for i in 0..<olds.count {
            let hash = old.hash(olds[i])
            if first[hash] == nil { first[hash] = i }
        }
        var best: (i: Int, j: Int)?
        for j in 0..<news.count {
            if let best, j >= best.i + best.j { break }
            guard let i = first[new.hash(news[j])], best.map({ i + j < $0.i + $0.j }) ?? true, old.isEqual(olds[i], new, news[j]) else {
                continue
            }
            best = (i, j)
        }
        return best.map { ($0.i, $0.j) }
    }
}
