import FirnBytes
import FirnTable

/// A column in the two versions of its type; nil if the version does not have it.
struct VersionedColumn {
    let old: Int?
    let new: Int?

    /// Matches columns by id if ids are unique (in files), otherwise by name (tables in memory).
    static func all(_ old: TypeSchema, _ new: TypeSchema) -> [VersionedColumn] {
        let haveIDs = [old, new].allSatisfy { Set($0.columns.map(\.id)).count == $0.columns.count }
        var out = new.columns.enumerated().map { i, column in
            VersionedColumn(old: haveIDs ? old.index(ofID: column.id) : old.index(of: column.name), new: i)
        }
        let known = Set(out.compactMap(\.old))
        for i in old.columns.indices where !known.contains(i) { out.append(VersionedColumn(old: i, new: nil)) }
        return out
    }

    /// Returns the pairs that differ; nil if none does. A column that one version does not have reads as absent.
    func differences(
        _ before: any Segment, _ oldTable: any Table, _ after: any Segment, _ newTable: any Table, _ pairs: PairedRows,
        _ decoded: inout TableChanges.Decoded
    ) throws(Damage) -> Bits? {
        var a = try old.map { (index) throws(Damage) in try VectorWindow(before, index, oldTable) }
        var b = try new.map { (index) throws(Damage) in try VectorWindow(after, index, newTable) }
        let absent = Column.absentValue((new.map { newTable.type.columns[$0] } ?? oldTable.type.columns[old!]).type)
        let alike =
            a != nil && b != nil && a!.reader.type.kind == b!.reader.type.kind && a!.reader.type.collection == b!.reader.type.collection
            && a!.reader.type.kind != .any
        var differing: Bits?
        var start = 0, end = 0
        while start < pairs.new.count {
            let here = pairs.new[start] / Int32(vectorSize), there = pairs.old[start] / Int32(vectorSize)
            while end < pairs.new.count, pairs.new[end] / Int32(vectorSize) == here, pairs.old[end] / Int32(vectorSize) == there {
                end += 1
            }
            let isDense = end - start > VectorWindow.few
            if isDense {
                try a?.move(to: Int(there), &decoded)
                try b?.move(to: Int(here), &decoded)
            }
            func mark(_ k: Int) {
                if differing == nil { differing = Bits(count: pairs.new.count) }
                differing![k] = true
            }
            if isDense, alike {
                a!.column.forEachDifference(b!.column, pairs, start..<end, mark)
            } else {
                for k in start..<end {
                    let was = try a?.value(Int(pairs.old[k]), isDense, &decoded) ?? absent
                    let value = try b?.value(Int(pairs.new[k]), isDense, &decoded) ?? absent
                    if was != value { mark(k) }
                }
            }
            start = end
        }
        return differing
    }
}

/// One column of one segment, as stored, with the vector that was decoded last.
struct VectorWindow {
    /// Up to this many rows of a vector are read one by one.
    static let few = 4

    let reader: any ColumnReader
    private(set) var column: Column
    private var vector = -1

    init(_ segment: any Segment, _ index: Int, _ table: any Table) throws(Damage) {
        reader = try segment.storedColumn(index)
        column = reader.type.kind == .embedded ? Column(table.type.columns[index], in: table.schema) : Column(reader.type)
    }

    mutating func move(to vector: Int, _ decoded: inout TableChanges.Decoded) throws(Damage) {
        guard vector != self.vector else { return }
        self.vector = -1
        try reader.read(vector: vector, into: &column)
        self.vector = vector
        decoded.vectors += 1
    }

    /// `isDecoded` is whether the vector of the row is the current one.
    func value(_ row: Int, _ isDecoded: Bool, _ decoded: inout TableChanges.Decoded) throws(Damage) -> Value {
        if isDecoded { return column.value(at: row % vectorSize) }
        decoded.values += 1
        return try reader.value(at: row)
    }
}
