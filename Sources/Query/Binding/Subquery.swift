import FirnBytes
import FirnTable
import Synchronization

/// Counts the elements of a collection that match a predicate. The predicate is bound to the elements' type.
///
/// Linked rows are tested once for the whole query, at the first use; embedded objects are tested vector by vector. Thread-safe.
final class Subquery: Sendable {
    private let filter: PredicateNode
    private let slots: SlotTable
    private let textTests: Int
    /// nil: the elements are embedded objects.
    private let table: (any Table)?
    private let fieldCount: Int
    private let found: Mutex<RowIDFilter?> = Mutex(nil)

    init(_ filter: PredicateNode, _ binder: Binder, table: (any Table)?) {
        self.filter = filter
        slots = binder.slots
        textTests = binder.textTests
        self.table = table
        fieldCount = binder.type.columns.count
    }

    /// Replaces elements with the number of each row's elements that match the predicate.
    func count(_ values: inout Values, _ scan: SegmentScan, _ number: Int) throws(FirnError) {
        let column = values.column
        let hits = table == nil ? try embedded(column, scan, number) : try linked(column, scan)
        let offsets = values.offsets ?? Array(0...column.count)
        var out = Column(ColumnType(.int))
        out.count = offsets.count - 1
        out.words = (0..<out.count).map { row in
            var total: Int64 = 0
            for i in offsets[row]..<offsets[row + 1] where hits[i] { total += 1 }
            return total
        }
        values = Values(column: out, absent: values.absent)
    }

    private func linked(_ links: Column, _ scan: SegmentScan) throws(FirnError) -> Bits {
        let rows = try rows(scan.source)
        var out = Bits(repeating: false, count: links.count)
        for i in 0..<links.count where links.isPresent(i) && rows.contains(links.words[i]) { out[i] = true }
        return out
    }

    /// Returns the rows that match the predicate.
    private func rows(_ source: DamageSource) throws(FirnError) -> RowIDFilter {
        try found.withLock { (found) throws(FirnError) -> RowIDFilter in
            if let found { return found }
            var rowIDs: [Int64] = [], scan: SegmentScan?
            let table = table!
            for number in 0..<table.segmentCount {
                let segment: any Segment
                do throws(Damage) { segment = try table.segment(number) } catch { throw source.error(error) }
                if let scan {
                    scan.move(to: segment)
                } else {
                    scan = SegmentScan(slots, textTests: textTests, source: source, segment: segment)
                }
                try forEachMatch(scan!) { (row) throws(FirnError) in
                    do throws(Damage) { rowIDs.append(try segment.rowID(at: row)) } catch { throw source.error(error) }
                }
            }
            let set = RowIDFilter(rowIDs)
            found = set
            return set
        }
    }

    /// Returns which objects of a column match the predicate. Absent objects do not match.
    private func embedded(_ column: Column, _ scan: SegmentScan, _ number: Int) throws(FirnError) -> Bits {
        guard column.children.count == fieldCount else { throw FirnError(.unsupported, "embedded objects are nested too deep for queries") }
        var out = Bits(repeating: false, count: column.count)
        guard column.count > 0 else { return out }
        let segment = MemorySegment(Batch(count: column.count, columns: column.children), firstRowID: 0, live: column.present)
        let inner: SegmentScan
        if let known = scan.inner[number] {
            inner = known
            inner.move(to: segment)
        } else {
            inner = SegmentScan(slots, textTests: textTests, source: scan.source, segment: segment)
            scan.inner[number] = inner
        }
        try forEachMatch(inner) { (row) throws(FirnError) in out[row] = true }
        return out
    }

    private func forEachMatch(_ scan: SegmentScan, _ body: (Int) throws(FirnError) -> Void) throws(FirnError) {
        let segment = scan.segment
        let whole = try filter.verdict(scan, nil)
        if whole == .none { return }
        let mask = scan.takeMask()
        defer { scan.giveBack(mask) }
        for vector in 0..<segment.vectorCount {
            let verdict = whole == .all ? whole : try filter.verdict(scan, vector)
            if verdict == .none { continue }
            let range = segment.rows(ofVector: vector), rows = range.count
            for w in 0..<16 { mask[w] = w < rows >> 6 ? .max : w == rows >> 6 ? (1 &<< UInt64(rows & 63)) &- 1 : 0 }
            if let live = segment.live {
                for w in 0..<16 where vector * 16 + w < live.words.count { mask[w] &= live.words[vector * 16 + w] }
            }
            if verdict == .unknown { try filter.narrow(scan, vector, rows, mask) }
            for w in 0..<16 {
                var rest = mask[w]
                while rest != 0 {
                    try body(range.lowerBound + w * 64 + rest.trailingZeroBitCount)
                    rest &= rest &- 1
                }
            }
        }
    }

    func outline(_ indent: String) -> String { filter.outline(indent) }
}

/// A set of row ids for many membership tests: a bitmap if the ids are dense.
struct RowIDFilter: Sendable {
    private var first: Int64 = 0
    private var bits = Bits(count: 0)
    private var others: Set<Int64> = []

    init(_ rowIDs: [Int64]) {
        guard let least = rowIDs.min(), let greatest = rowIDs.max() else { return }
        let (span, overflow) = greatest.subtractingReportingOverflow(least)
        if !overflow, span >= 0, span / 64 < 8 * Int64(rowIDs.count) + 1024 {
            first = least
            bits = Bits(repeating: false, count: Int(span) + 1)
            for rowID in rowIDs { bits[Int(rowID - least)] = true }
        } else {
            others = Set(rowIDs)
        }
    }

    func contains(_ rowID: Int64) -> Bool {
        let (offset, overflow) = rowID.subtractingReportingOverflow(first)
        if !overflow, offset >= 0, offset < Int64(bits.count) { return bits[Int(offset)] }
        return !others.isEmpty && others.contains(rowID)
    }
}

extension Binder {
    /// Binds a subquery: the path from a row to the number of elements that match the predicate.
    mutating func subquery(_ syntax: SubquerySyntax) throws(QueryError) -> BoundPath {
        let offset = syntax.collection.position.offset
        var path = try entered(try bind(syntax.collection), at: offset)
        guard path.isMany else { throw error("SUBQUERY needs a collection, but \"\(path.text)\" is not one", at: offset) }
        guard path.type.kind == .link || path.type.kind == .embedded, let name = path.type.target, let elements = schema[name] else {
            throw error("A subquery can not operate on a list of primitive values: \"\(path.text)\" contains no objects", at: offset)
        }
        let isEmbedded = path.type.kind == .embedded, outer = table
        let searched: any Table
        if isEmbedded {
            searched = MemoryTable(elements, schema: schema, batches: []) { try? outer.related($0) }
        } else {
            guard let found = try related(name) else {
                throw error("the rows of \"\(name)\", which \"\(path.text)\" links to, are not available here", at: offset)
            }
            searched = found
        }
        var inner = Binder(searched, arguments: arguments, names: names)
        inner.acceptsNumbersAsBooleans = acceptsNumbersAsBooleans
        inner.text = text
        inner.depth = depth
        inner.isDetached = isEmbedded
        let filter = try inner.predicate(syntax.predicate)
        slots.subqueries.append(Subquery(filter, inner, table: isEmbedded ? nil : searched))
        path.steps.append(.subquery(slots.subqueries.count - 1))
        path.type = ColumnType(.int)
        path.isMany = false
        path.isPrimitiveCollection = false
        return path
    }

    /// Returns the row that `obj(…)` or `L3:12` refers to; if there is none, a row that equals no other.
    mutating func row(_ object: ObjectSyntax, at position: TextPosition) throws(QueryError) -> ConstantSyntax {
        var row = ConstantSyntax(.link(-1), at: position)
        switch object {
        case .row(let number, let rowID):
            guard schema.types.indices.contains(number) else {
                throw error("there is no type number \(number): the schema has \(schema.types.count)", at: position.offset)
            }
            row.target = schema.types[number].name
            row.value = .link(rowID)
        case .key(let name, let key):
            guard let type = schema[name] else {
                throw QueryError(
                    .binding, "no type \"\(name)\"", in: text, at: position.offset,
                    suggestion: Suggestion.nearest(to: name, among: schema.types.map(\.name)).map { "\"\($0)\"" },
                    hint: "the types are \(schema.types.map(\.name).joined(separator: ", "))")
            }
            guard type.key.count == 1, !type.isEmbedded else {
                throw error("type \"\(name)\" has no primary key of one column, which obj(…) needs", at: position.offset)
            }
            guard let table = try related(name) else { throw error("the rows of \"\(name)\" are not available here", at: position.offset) }
            row.target = name
            let wanted = ComparisonSyntax(
                .path(PathSyntax([.name(type.columns[type.key[0]].name, position)], at: position)), .equal, key, at: position)
            if let found = try find(wanted, in: table, position) { row.value = .link(found) }
        }
        return row
    }

    private func find(_ wanted: ComparisonSyntax, in table: any Table, _ position: TextPosition) throws(QueryError) -> Int64? {
        let request = QueryRequest(parsed: QuerySyntax(.comparison(wanted), descriptors: [.limit(1)]), arguments: arguments)
        let run: QueryRun
        do throws(QueryError) { run = try QueryRun(request, table: table) } catch {
            throw self.error(error.message, at: position.offset, expected: error.expected)
        }
        do {
            guard let location = try run.rowLocations().first else { return nil }
            return try table.segment(location.segment).rowID(at: location.position)
        } catch { throw self.error("the rows of \(table.type.name) cannot be read: \(error)", at: position.offset) }
    }
}
