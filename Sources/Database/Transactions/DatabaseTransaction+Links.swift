import FirnBytes
import FirnTable

/// Finding rows by their links: one pass over the columns that may have such links, without vectors whose zone excludes every target.
extension DatabaseTransaction {
    /// Removes rows of a type from every link: a single link becomes null, lists and sets lose the entry, and a map entry becomes null, or
    /// is removed if elements are not optional. Links in `any` values have no type and stay unchanged.
    package func deleteLinks(to type: String, rows: some Sequence<Int64>) throws(FirnError) {
        let targets = LinkTargets(rows)
        guard !targets.isEmpty else { return }
        for (index, source) in schema.types.enumerated() {
            for (columnPosition, column) in source.columns.enumerated() where column.type.target == type {
                let table = table(index)
                for rowID in try reading({ () throws(Damage) in try table.rows(linkingTo: targets, columnPosition) }) {
                    guard column.type.isCollection else {
                        try table.clearLink(rowID, columnPosition)
                        continue
                    }
                    try table.set(rowID, columnPosition, targets.removed(from: try table.storedValue(rowID, columnPosition), column.type))
                }
            }
        }
    }

    /// Returns the rows of `source` whose column links to a row, in ascending order.
    package func referrers(to type: String, row: Int64, from source: String, column: Int) throws(FirnError) -> [Int64] {
        let columns = schema.types[index(of: source)].columns
        trap(
            unless: columns[column].type.target == type,
            "column \"\(columns[column].name)\" of type \"\(source)\" does not link to type \"\(type)\"")
        return try reading { () throws(Damage) in try table(index(of: source)).rows(linkingTo: LinkTargets([row]), column) }
    }
}

/// The row ids whose links are searched or removed.
struct LinkTargets {
    private let rows: Set<Int64>
    private let low: Int64
    private let high: Int64

    init(_ rows: some Sequence<Int64>) {
        self.rows = Set(rows)
        low = self.rows.min() ?? 0
        high = self.rows.max() ?? -1
    }

    var isEmpty: Bool { rows.isEmpty }

    @inline(__always)
    func contains(_ row: Int64) -> Bool { row >= low && row <= high && (low == high || rows.contains(row)) }

    /// Returns false only if no link in the zone leads to one of the rows.
    func mayBe(in zone: Zone) -> Bool {
        if zone.allNull { return false }
        if case .words(let first, let last) = zone.bounds { return first <= high && low <= last }
        return true
    }

    /// Returns a collection without the links to these rows.
    func removed(from value: Value, _ type: ColumnType) -> Value {
        func leads(_ value: Value) -> Bool {
            if case .link(let row) = value { return contains(row) }
            return false
        }
        switch value {
        case .list(let values): return .list(values.filter { !leads($0) })
        case .set(let values): return .set(values.filter { !leads($0) })
        case .map(let entries):
            if !type.elementIsOptional { return .map(entries.filter { !leads($0.value) }) }
            return .map(entries.map { leads($0.value) ? Value.Entry($0.key, .null) : $0 })
        default: return value
        }
    }
}

extension Table {
    /// Returns the live rows whose links in a column lead to one of `targets`, in ascending order.
    func rows(linkingTo targets: LinkTargets, _ column: Int) throws(Damage) -> [Int64] {
        var found: [Int64] = []
        for index in 0..<segmentCount {
            let segment = try segment(index)
            let reader = try segment.storedColumn(column)
            if let zone = reader.zone(), !targets.mayBe(in: zone) { continue }
            var links = Column(reader.type)
            for vector in 0..<segment.vectorCount {
                if let zone = reader.zone(ofVector: vector), !targets.mayBe(in: zone) { continue }
                try reader.read(vector: vector, into: &links)
                for row in 0..<links.count where links.leads(to: targets, row) {
                    let position = vector * vectorSize + row
                    if segment.live?[position] ?? true { found.append(try segment.rowID(at: position)) }
                }
            }
        }
        return found
    }
}

extension Column {
    fileprivate func leads(to targets: LinkTargets, _ row: Int) -> Bool {
        guard type.isCollection else { return targets.contains(words[row]) && isPresent(row) }
        let links = children[children.count - 1]
        for i in offsets[row]..<offsets[row + 1] where targets.contains(links.words[i]) && links.isPresent(i) { return true }
        return false
    }
}
