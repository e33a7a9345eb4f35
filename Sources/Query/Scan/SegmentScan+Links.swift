import FirnBytes
import FirnTable

extension SegmentScan {
    /// Returns a column of the rows that the links of `column` lead to; null for links to missing rows.
    func follow(_ hop: Int, _ column: Column) throws(FirnError) -> Column {
        do throws(Damage) {
            try open(hop)
            let before = linked[hop]!.vectorsDecoded
            let out = try linked[hop]!.fetch(column.words, present: column.present)
            statistics.vectorsDecoded += linked[hop]!.vectorsDecoded - before
            return out
        } catch { throw damaged(error) }
    }

    /// Returns which links of `column` lead to existing rows.
    func live(_ hop: Int, _ column: Column) throws(FirnError) -> Bits {
        do throws(Damage) {
            try open(hop)
            return try linked[hop]!.live(column.words, present: column.present)
        } catch { throw damaged(error) }
    }

    /// Returns the rows that link to the rows of `column`: a list of links for each.
    func sources(_ number: Int, _ column: Column) throws(FirnError) -> Column {
        do { return try slots.backlinks[number].sources(of: column) } catch { throw damaged(error) }
    }

    /// Returns the number of links to each row of `column`, over the given backlinks.
    func sourceCounts(_ numbers: [Int], _ column: Column) throws(FirnError) -> Column {
        var out = Column(ColumnType(.int))
        out.count = column.count
        out.words = Array(repeating: 0, count: column.count)
        do throws(Damage) {
            for number in numbers { try slots.backlinks[number].count(column, into: &out.words) }
        } catch { throw damaged(error) }
        return out
    }

    private func open(_ hop: Int) throws(Damage) {
        if linked[hop] == nil { linked[hop] = try LinkedColumn(slots.hops[hop].table, path: slots.hops[hop].path) }
    }
}

/// The rows of a segment themselves, as links.
final class RowIDColumn: ColumnReader {
    let type: ColumnType
    private let segment: any Segment

    init(_ segment: any Segment, _ type: ColumnType) {
        self.segment = segment
        self.type = type
    }

    var rowCount: Int { segment.rowCount }

    func read(vector: Int, into column: inout Column) throws(Damage) {
        column.removeAll()
        let rows = segment.rows(ofVector: vector)
        for row in rows { column.words.append(try segment.rowID(at: row)) }
        column.count = rows.count
    }

    func value(at row: Int) throws(Damage) -> Value { .link(try segment.rowID(at: row)) }
}
