import FirnBytes
import FirnExchange
import FirnTable

/// Reads bounds of values as zones of a column.
struct StatisticsReading {
    private let file: FileBytes
    private let node: ParquetNode
    private let form: LeafForm
    private let hasOrder: Bool

    init(_ file: FileBytes, _ node: ParquetNode, _ form: LeafForm, hasOrder: Bool) {
        self.file = file
        self.node = node
        self.form = form
        self.hasOrder = hasOrder
    }

    /// Returns the zone of a whole chunk.
    func zone(_ chunk: ParquetChunk) -> Zone? {
        guard let statistics = chunk.statistics else { return nil }
        let allNull = statistics.nullCount == chunk.valueCount && chunk.valueCount > 0
        var out = Zone(mayHaveNulls: node.definition > 0 && statistics.nullCount != 0, allNull: allNull, bounds: .none)
        if allNull { return out }
        // The older fields compare as signed numbers.
        let isSigned = form == .int || form == .date || isTimestamp || isDecimal
        let low = statistics.minimum ?? (isSigned ? statistics.oldMinimum : nil)
        let high = statistics.maximum ?? (isSigned ? statistics.oldMaximum : nil)
        if let low, let high { out.bounds = bounds(low, high, hasNaN: statistics.nanCount != 0) }
        return out
    }

    private var isTimestamp: Bool { if case .timestamp = form { true } else { false } }
    private var isDecimal: Bool { if case .decimalReal = form { true } else { false } }

    func bounds(_ low: Range<Int>, _ high: Range<Int>, hasNaN: Bool = true) -> Zone.Bounds {
        guard low.upperBound <= file.count, high.upperBound <= file.count else { return .none }
        let least = UnsafeRawBufferPointer(rebasing: file.bytes[low]), greatest = UnsafeRawBufferPointer(rebasing: file.bytes[high])
        switch form {
        case .text, .bytes:
            guard hasOrder else { return .none }
            let bounds = TextBounds(low: Array(least), high: Array(greatest))
            return bounds.low.lexicographicallyPrecedes(bounds.high) || bounds.low == bounds.high ? .text(bounds) : .none
        case .real:
            guard !hasNaN, let a = value(least), let b = value(greatest), let low = a.reals.first, let high = b.reals.first, low <= high
            else {
                return .none
            }
            // Zero stands for both zeros.
            return .reals(low == 0 ? -0.0 : low, high == 0 ? 0.0 : high)
        case .decimalReal:
            guard node.physical != .byteArray || hasOrder, let a = value(least), let b = value(greatest), let low = a.reals.first,
                let high = b.reals.first, low <= high
            else { return .none }
            return .reals(low, high)
        case .int, .date, .timestamp: break
        case .unsigned, .uuid: guard hasOrder else { return .none }
        case .bool:
            guard least.count == 1, greatest.count == 1, least[0] <= greatest[0] else { return .none }
            return .words(Int64(least[0]), Int64(greatest[0]))
        default: return .none
        }
        guard let a = value(least), let b = value(greatest), let low = a.words.first, let high = b.words.first, low <= high else {
            return .none
        }
        return .words(low, high)
    }

    private func value(_ bytes: UnsafeRawBufferPointer) -> Column? {
        let conversion = LeafConversion(form, node)
        var column = Column(ColumnType(form.kind))
        guard let base = bytes.baseAddress else { return nil }
        do throws(ParquetFault) {
            if conversion.stride > 0 {
                guard bytes.count == conversion.stride else { return nil }
                try conversion.append(base, count: 1, to: &column)
            } else {
                try conversion.append(bytes, to: &column)
            }
        } catch { return nil }
        return column
    }
}

/// The bounds of the pages of a chunk, from the page index.
struct PageBounds: Sendable {
    private var firstRows: [Int] = []
    private var isNull: [Bool] = []
    private var minima: [Range<Int>] = []
    private var maxima: [Range<Int>] = []
    private var nullCounts: [Int] = []

    /// Knows nothing.
    init() {}

    /// Returns nil if the index is damaged: it is not needed.
    init?(_ file: FileBytes, _ chunk: ParquetChunk) {
        guard let columnRange = chunk.columnIndex, let offsetRange = chunk.offsetIndex else { return nil }
        do throws(ParquetFault) {
            var columns = ThriftReader(
                try file.slice(columnRange.lowerBound, columnRange.count, "the page index"), origin: columnRange.lowerBound)
            try readColumns(&columns)
            var offsets = ThriftReader(
                try file.slice(offsetRange.lowerBound, offsetRange.count, "the page index"), origin: offsetRange.lowerBound)
            try readOffsets(&offsets)
        } catch { return nil }
        let count = firstRows.count
        guard count > 0, isNull.count == count, minima.count == count, maxima.count == count, firstRows[0] == 0,
            zip(firstRows, firstRows.dropFirst()).allSatisfy({ $0 < $1 }), nullCounts.isEmpty || nullCounts.count == count
        else { return nil }
    }

    private mutating func readColumns(_ reader: inout ThriftReader) throws(ParquetFault) {
        var last: Int16 = 0
        while let field = try reader.field(after: &last) {
            guard (1...3).contains(field.id) || field.id == 5 else {
                try reader.skip(field)
                continue
            }
            let (count, element) = try reader.list(field)
            for _ in 0..<count {
                switch field.id {
                case 1: isNull.append(try reader.boolElement())
                case 2: minima.append(try reader.placed(element))
                case 3: maxima.append(try reader.placed(element))
                default: nullCounts.append(try reader.int(element))
                }
            }
        }
    }

    private mutating func readOffsets(_ reader: inout ThriftReader) throws(ParquetFault) {
        var last: Int16 = 0
        while let field = try reader.field(after: &last) {
            guard field.id == 1 else {
                try reader.skip(field)
                continue
            }
            let (count, element) = try reader.list(field)
            for _ in 0..<count {
                try reader.enter(element)
                var inner: Int16 = 0, row = 0
                while let part = try reader.field(after: &inner) {
                    if part.id == 3 { row = try reader.int(part) } else { try reader.skip(part) }
                }
                firstRows.append(row)
            }
        }
    }

    /// Returns the zone of some rows; nil if nothing is known.
    func zone(_ rows: Range<Int>, _ reading: StatisticsReading, _ rowCount: Int) -> Zone? {
        guard !firstRows.isEmpty else { return nil }
        var out: Zone?
        // Pages are in the order of rows.
        var low = 0, high = firstRows.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if firstRows[middle] <= rows.lowerBound { low = middle } else { high = middle }
        }
        var page = low
        while page < firstRows.count, firstRows[page] < rows.upperBound {
            let bounds: Zone.Bounds = isNull[page] ? .none : reading.bounds(minima[page], maxima[page])
            if !isNull[page], bounds == .none { return nil }
            let mayHaveNulls = isNull[page] || nullCounts.isEmpty || nullCounts[page] != 0
            out = PageBounds.union(out, Zone(mayHaveNulls: mayHaveNulls, allNull: isNull[page], bounds: bounds))
            page += 1
        }
        return out
    }

    private static func union(_ a: Zone?, _ b: Zone) -> Zone {
        guard let a else { return b }
        var out = Zone(mayHaveNulls: a.mayHaveNulls || b.mayHaveNulls, allNull: a.allNull && b.allNull, bounds: .none)
        switch (a.bounds, b.bounds) {
        case (.words(let x, let y), .words(let u, let v)): out.bounds = .words(min(x, u), max(y, v))
        case (.reals(let x, let y), .reals(let u, let v)): out.bounds = .reals(min(x, u), max(y, v))
        case (.text(let x), .text(let y)): out.bounds = .text(x.union(y))
        case (let bounds, _) where b.allNull: out.bounds = bounds
        case (_, let bounds) where a.allNull: out.bounds = bounds
        default: break
        }
        return out
    }
}
