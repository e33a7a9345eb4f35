import FirnBytes
import FirnCodecs
import FirnTable

extension ChunkReader {
    /// Implements `ColumnReader.search` for columns that are not collections.
    func search(_ range: SoughtRange, vector: Int, into out: UnsafeMutablePointer<UInt64>) throws(Damage) -> SearchOutcome {
        guard isDirect else { return .notDone }
        switch range {
        case .words(let low, let high):
            guard let words, extra == nil else { return .notDone }
            try words.search(vector: vector, low, high, into: out)
        case .reals(let low, let high):
            guard let reals, tags == nil else { return .notDone }
            try reals.search(vector: vector, low, high, into: out)
        case .codes(let low, let high):
            guard let text, tags == nil else { return .notDone }
            try text.searchCodes(vector: vector, low, high, into: out)
        case .text(let pattern):
            guard let text, tags == nil, try text.search(pattern, vector: vector, into: out) else { return .notDone }
        case .pairs(let low, let high):
            // If all `extra` values are equal, the range of `words` decides. Most dates are whole seconds.
            guard let words, tags == nil, let second = extra?.bounds(), second.0 == second.1 else { return .notDone }
            let (from, none) = low.1 <= second.0 ? (low.0, false) : low.0.addingReportingOverflow(1)
            let (to, nothing) = high.1 >= second.0 ? (high.0, false) : high.0.subtractingReportingOverflow(1)
            if none || nothing {
                RangeBits.fill(out, count: vectorSize, false)
            } else {
                try words.search(vector: vector, from, to, into: out)
            }
        }
        let count = min(vectorSize, rowCount - vector * vectorSize)
        return .done(present: try ChunkReader.bits(present, vector: vector, count: count))
    }

    /// Implements `ColumnReader.sum` for columns that are not collections.
    func sum(vector: Int) throws(Damage) -> VectorSum {
        guard isDirect else { return .notDone }
        if let present, present.isConstant != true {
            guard present.ones(ofVector: vector) == min(vectorSize, rowCount - vector * vectorSize) else { return .notDone }
        }
        if type.kind == .int, let words { return .whole(try words.sum(vector: vector)) }
        if type.kind == .double, let reals, let sum = try reals.sum(vector: vector) { return .real(sum) }
        return .notDone
    }

    /// Implements `ColumnReader.gather` for integer and float streams with a value in every row, and for one or two strings.
    func gather(_ rows: UnsafeBufferPointer<Int32>, vector: Int, into column: inout Column) throws(Damage) -> Bool {
        if rows.count <= 2, text != nil, type.kind == .string || type.kind == .data {
            column.removeAll()
            for row in rows {
                guard column.append(try value(at: vector * vectorSize + Int(row))) else {
                    throw Damage("a value of another type than its column")
                }
            }
            return true
        }
        guard isDirect, type.payload == [.words] || type.payload == [.reals], present == nil || present!.isConstant == true else {
            return false
        }
        column.removeAll()
        column.count = rows.count
        if rows.isEmpty { return true }
        if let words {
            try ChunkReader.fill(&column.words, rows.count) { (out) throws(Damage) in try words.gather(rows, vector: vector, into: out) }
        } else if let reals {
            try ChunkReader.fill(&column.reals, rows.count) { (out) throws(Damage) in try reals.gather(rows, vector: vector, into: out) }
        }
        return true
    }

    /// Implements `ColumnReader.numbers` for columns that are not collections.
    func numbers(vector: Int, only rows: UnsafeBufferPointer<Int32>?, into room: NumberRoom) throws(Damage) -> Bool {
        guard isDirect else { return false }
        if let present, present.isConstant != true {
            guard present.ones(ofVector: vector) == min(vectorSize, rowCount - vector * vectorSize) else { return false }
        }
        switch room {
        case .words(let out):
            guard type.kind == .int || hasWholeSeconds, let words else { return false }
            if let rows { try words.gather(rows, vector: vector, into: out) } else { try words.decode(vector: vector, into: out) }
        case .reals(let out):
            guard type.kind == .double || type.kind == .float, let reals else { return false }
            if let rows { try reals.gather(rows, vector: vector, into: out) } else { try reals.decode(vector: vector, into: out) }
        }
        return true
    }

    /// Whether the chunk has dates without a fraction of a second.
    private var hasWholeSeconds: Bool {
        guard type.kind == .date, let fractions = extra?.bounds() else { return false }
        return fractions == (0, 0)
    }
}
