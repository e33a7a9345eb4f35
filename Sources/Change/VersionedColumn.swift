import FirnBytes
import FirnModel

/// A column in the two versions of its type; nil where the version does not have it.
struct VersionedColumn {
    let old: Int?
    let new: Int?

    /// By id where ids tell the columns apart (in files), by name otherwise (tables in memory).
    static func all(_ old: TypeSchema, _ new: TypeSchema) -> [VersionedColumn] {
        let haveIDs = [old, new].allSatisfy { Set($0.columns.map(\.id)).count == $0.columns.count }
        func same(_ a: ColumnSchema, _ b: ColumnSchema) -> Bool { haveIDs ? a.id == b.id : a.name == b.name }
        var out = new.columns.indices.map { i in
            VersionedColumn(old: i < old.columns.count && same(old.columns[i], new.columns[i]) ? i : old.columns.firstIndex { same($0, new.columns[i]) }, new: i)
        }
        let known = Set(out.compactMap(\.old))
        for i in old.columns.indices where !known.contains(i) { out.append(VersionedColumn(old: i, new: nil)) }
        return out
    }

    /// Which of the pairs differ; nil if none does. A column that one version does not have reads as absent there.
    func differences(_ before: any Segment, _ oldTable: any Table, _ after: any Segment, _ newTable: any Table, _ pairs: PairedRows,
                     _ decoded: inout TableChanges.Decoded) throws(Damage) -> Bits? {
        var a = try old.map { (index) throws(Damage) in try VectorWindow(before, index, oldTable) }
        var b = try new.map { (index) throws(Damage) in try VectorWindow(after, index, newTable) }
        let absent = Column.absentValue((new.map { newTable.type.columns[$0] } ?? oldTable.type.columns[old!]).type)
        let alike = a != nil && b != nil && a!.reader.type.kind == b!.reader.type.kind && a!.reader.type.collection == b!.reader.type.collection
            && a!.reader.type.kind != .any
        var differing: Bits?
        var start = 0, end = 0
        while start < pairs.new.count {
            let here = pairs.new[start] / Int32(vectorSize), there = pairs.old[start] / Int32(vectorSize)
            while end < pairs.new.count, pairs.new[end] / Int32(vectorSize) == here, pairs.old[end] / Int32(vectorSize) == there { end += 1 }
            let isDense = end - start > VectorWindow.few
            if isDense {
                try a?.move(to: Int(there), &decoded)
                try b?.move(to: Int(here), &decoded)
            }
            for k in start..<end {
                let i = Int(pairs.old[k]), j = Int(pairs.new[k])
                let same: Bool
                if isDense, alike {
                    same = a!.column.holdsSame(i % vectorSize, as: b!.column, j % vectorSize)
                } else {
                    let was = try a?.value(i, isDense, &decoded) ?? absent, value = try b?.value(j, isDense, &decoded) ?? absent
                    same = was == value
                }
                if !same {
                    if differing == nil { differing = Bits(count: pairs.new.count) }
                    differing![k] = true
                }
            }
            start = end
        }
        return differing
    }
}

/// One column of one segment, as stored, with the last vector that was decoded of it.
struct VectorWindow {
    /// Up to so many rows of a vector are read one by one.
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

    /// `isDecoded`: the row's vector is the current one.
    func value(_ row: Int, _ isDecoded: Bool, _ decoded: inout TableChanges.Decoded) throws(Damage) -> Value {
        if isDecoded { return column.value(at: row % vectorSize) }
        decoded.values += 1
        return try reader.value(at: row)
    }
}

extension Column {
    /// Whether two rows of columns of one kind hold the same, to the bit. Not for `any`.
    func holdsSame(_ i: Int, as other: Column, _ j: Int) -> Bool {
        let here = isPresent(i), there = other.isPresent(j)
        guard here, there else { return here == there }
        if type.isCollection {
            let start = offsets[i], from = other.offsets[j]
            let count = offsets[i + 1] - start
            guard count == other.offsets[j + 1] - from else { return false }
            guard type.kind != .any else { return value(at: i) == other.value(at: j) }
            for c in children.indices {
                for k in 0..<count where !children[c].holdsSame(start + k, as: other.children[c], from + k) { return false }
            }
            return true
        }
        switch type.kind {
        case .bool, .int, .link: return words[i] == other.words[j]
        case .date, .decimal, .objectID, .uuid: return words[i] == other.words[j] && extra[i] == other.extra[j]
        case .float, .double: return reals[i].bitPattern == other.reals[j].bitPattern
        case .string, .data:
            let mine = text.range(i), theirs = other.text.range(j)
            guard mine.count == theirs.count else { return false }
            return text.bytes.withUnsafeBytes { a in
                other.text.bytes.withUnsafeBytes { b in
                    sameBytes(a, mine.lowerBound, b, theirs.lowerBound, mine.count)
                }
            }
        case .embedded: return children.count == other.children.count && children.indices.allSatisfy { children[$0].holdsSame(i, as: other.children[$0], j) }
        case .any: return value(at: i) == other.value(at: j)
        }
    }
}
