import FirnBytes
import FirnTable

/// One version of a file, opened for reading: its tables, and what is met in them. For one thread.
final class RealmVersion {
    let bytes: RealmBytes
    let budget: MemoryBudget
    let format: UInt8
    /// The number of the version; 0 if the file has none.
    let number: UInt64
    /// The tables that are read, by slot; nil for free slots and for tables that are left out.
    var tables: [RealmTable?] = []
    /// The names of their types, by slot.
    var names: [String?] = []
    /// The embedded objects whose owners were read, by slot.
    var owned: [Int: Bits] = [:]
    /// The keys of all tables, by slot.
    private(set) var keys: [UInt64?] = []
    /// The names of tables that are left out.
    private(set) var leftOut: [String] = []
    /// The schema version of the classes; nil if the file has none.
    private(set) var schemaVersion: Int64?
    var findings = RealmFindings()
    /// The values of enumerated columns, by the offset of their node.
    var enumerations: [Int: Column] = [:]

    /// Whether the file has a format up to 9.
    var isOld: Bool { format < 10 }

    /// - Parameter takes: Whether a table that is not a class is read.
    init(_ bytes: RealmBytes, _ header: RealmHeader, _ budget: MemoryBudget, takes: (String) -> Bool) throws(Damage) {
        self.bytes = bytes
        self.budget = budget
        format = header.format
        guard let ref = header.top else {
            number = 0
            return
        }
        let top = try RealmTop(ref, bytes)
        number = top.version
        var roots: [RealmTableRoot?] = []
        for (slot, ref) in top.tables.enumerated() {
            let root = try ref.map { (ref) throws(Damage) in try RealmTableRoot(bytes, ref, slot: slot, format: format) }
            roots.append(root)
            keys.append(root?.key)
        }
        for (slot, root) in roots.enumerated() {
            let name = top.names[slot]
            guard let root else {
                tables.append(nil)
                continue
            }
            let isClass = name.hasPrefix(RealmFileFormat.classPrefix), isTaken = isClass || takes(name)
            if name == "metadata" { schemaVersion = try schemaVersion(of: try table(root, name)) }
            if name == "pk", isOld { oldKeys = try oldKeys(of: try table(root, name)) }
            if isTaken { tables.append(try table(root, name)) } else { tables.append(nil) }
            if !isTaken { leftOut.append(name) }
        }
        names = Array(repeating: nil, count: tables.count)
        for slot in tables.indices {
            guard let name = tables[slot]?.className, let key = oldKeys[name] else { continue }
            let position = tables[slot]?.position(ofColumn: key)
            tables[slot]?.key = position
        }
    }

    private func table(_ root: RealmTableRoot, _ name: String) throws(Damage) -> RealmTable {
        try isOld
            ? RealmTable(old: bytes, root, name: name, tableCount: keys.count)
            : RealmTable(bytes, root, name: name, keys: keys, format: format)
    }

    // MARK: Tables about the classes

    /// The primary keys of the formats up to 9, by the name of the class.
    private var oldKeys: [String: String] = [:]

    private func schemaVersion(of table: RealmTable) throws(Damage) -> Int64? {
        guard table.objects.count > 0, let index = table.position(ofColumn: "version"),
            table.columns[index].kind == .int, table.columns[index].collection == .none
        else { return nil }
        var out = Column(ColumnType(.int, optional: true))
        try read(table.columns[index], of: table, [0], to: &out)
        return out.isPresent(0) && out.words[0] >= 0 ? out.words[0] : nil
    }

    private func oldKeys(of table: RealmTable) throws(Damage) -> [String: String] {
        guard let first = table.position(ofColumn: "pk_table"), let second = table.position(ofColumn: "pk_property") else { return [:] }
        let names = table.columns[first], properties = table.columns[second]
        guard [names, properties].allSatisfy({ $0.kind == .string && $0.collection == .none }) else { return [:] }
        var out: [String: String] = [:], columns = [Column(ColumnType(.string)), Column(ColumnType(.string))]
        let all = Array(0..<table.objects.count)
        try read(names, of: table, all, to: &columns[0])
        try read(properties, of: table, all, to: &columns[1])
        for row in all {
            let name = columns[0].text.string(row)
            out[name.hasPrefix(RealmFileFormat.classPrefix) ? String(name.dropFirst(RealmFileFormat.classPrefix.count)) : name] =
                columns[1].text.string(row)
        }
        return out
    }

    // MARK: Values

    /// Appends the values of a column, in stored form, of objects at positions. Consecutive positions are read together.
    func read(_ column: RealmColumn, of table: RealmTable, _ positions: [Int], to out: inout Column) throws(Damage) {
        if isOld { return try readOld(column, of: table, positions, to: &out) }
        let leaves = table.objects.leaves
        var start = 0
        while start < positions.count {
            let leaf = leaves[table.objects.leaf(of: positions[start])]
            var rows: [Int] = [], end = start
            while end < positions.count, positions[end] >= leaf.start, positions[end] < leaf.start + leaf.count {
                rows.append(positions[end] - leaf.start)
                end += 1
            }
            trap(unless: end > start, "the leaves of a table cover all positions")
            let cluster = try bytes.array(leaf.ref)
            guard column.position + 1 < cluster.count, let ref = try cluster.ref(column.position + 1) else {
                throw Damage("a cluster has no values of column \"\(column.name)\"", at: leaf.ref)
            }
            try append(ref, column, rows, expecting: leaf.count, isCluster: true, to: &out)
            start = end
        }
    }

    private func readOld(_ column: RealmColumn, of table: RealmTable, _ positions: [Int], to out: inout Column) throws(Damage) {
        guard !positions.isEmpty else { return }
        let key = OldColumn(table: table.name, position: column.position)
        if oldLeaves[key] == nil {
            let leaves = try RealmLeaves(column: column, of: table.objects, bytes)
            guard leaves.count == table.objects.count else {
                throw Damage(
                    "column \"\(column.name)\" of table \"\(table.name)\" has \(leaves.count) values for \(table.objects.count) rows",
                    at: table.objects.roots?.offset ?? 0)
            }
            oldLeaves[key] = leaves
        }
        if column.kind == .timestamp, column.collection == .none { return try readOldDates(column, key, table, positions, to: &out) }
        try oldLeaves[key]!.forEachRun(positions) { (leaf, rows) throws(Damage) in
            try append(leaf.ref, column, rows, expecting: leaf.count, isCluster: true, to: &out)
        }
    }

    /// Dates have two trees: seconds, and nanoseconds.
    private func readOldDates(
        _ column: RealmColumn, _ key: OldColumn, _ table: RealmTable, _ positions: [Int], to out: inout Column
    ) throws(Damage) {
        var part = column
        (part.kind, part.isNullable) = (.int, true)
        var seconds = Column(ColumnType(.int, optional: true)), nanoseconds = Column(ColumnType(.int, optional: true))
        try oldLeaves[key]!.forEachRun(positions) { (leaf, rows) throws(Damage) in
            try append(leaf.ref, part, rows, expecting: leaf.count, isCluster: true, to: &seconds)
        }
        part.isNullable = false
        let other = OldColumn(table: table.name, position: -1 - column.position)
        if oldLeaves[other] == nil {
            guard let ref = try table.objects.roots!.ref(column.position),
                let second = try bytes.refs(ref, atLeast: 2, "a column of dates").ref(1)
            else { throw Damage("a column of dates has no nanoseconds", at: table.objects.roots!.offset) }
            let leaves = try RealmLeaves(tree: second, part, bytes, true)
            guard leaves.count == table.objects.count else { throw Damage("a column of dates lacks nanoseconds", at: second) }
            oldLeaves[other] = leaves
        }
        try oldLeaves[other]!.forEachRun(positions) { (leaf, rows) throws(Damage) in
            try append(leaf.ref, part, rows, expecting: leaf.count, isCluster: true, to: &nanoseconds)
        }
        for row in positions.indices {
            try append(
                seconds: seconds.isPresent(row) ? seconds.words[row] : nil, nanoseconds: nanoseconds.words[row], column, at: 0, to: &out)
        }
    }

    /// The leaves of the columns of formats up to 9.
    private var oldLeaves: [OldColumn: RealmLeaves] = [:]
}

/// A column of a table of formats up to 9.
struct OldColumn: Hashable {
    let table: String
    let position: Int
}

extension RealmLeaves {
    /// Calls `body` for each run of positions that are in one leaf, with their rows in it.
    func forEachRun(_ positions: [Int], _ body: (RealmObjects.Leaf, [Int]) throws(Damage) -> Void) throws(Damage) {
        var start = 0
        while start < positions.count {
            let leaf = leaves[leaf(of: positions[start])]
            var rows: [Int] = [], end = start
            while end < positions.count, positions[end] >= leaf.start, positions[end] < leaf.start + leaf.count {
                rows.append(positions[end] - leaf.start)
                end += 1
            }
            trap(unless: end > start, "the leaves of a column cover all positions")
            try body(leaf, rows)
            start = end
        }
    }
}
