import FirnTable

/// Returns a value whose embedded objects have no names of fields, because readers of single values and of columns give them different ones.
package func stripped(_ value: Value) -> Value {
    switch value {
    case .object(let entries): .object(entries.map { .init("", stripped($0.value)) })
    case .list(let values): .list(values.map(stripped))
    case .map(let entries): .map(entries.map { .init($0.key, stripped($0.value)) })
    default: value
    }
}

/// Returns every live row of a table with its row id, read by vectors in order. Values are stripped.
package func allRows(_ table: any Table) throws -> [(id: Int64, values: [Value])] {
    var out: [(id: Int64, values: [Value])] = []
    for s in 0..<table.segmentCount {
        let segment = try table.segment(s)
        var columns = table.type.columns.map { Column($0, in: table.schema) }
        for vector in 0..<segment.vectorCount {
            for i in columns.indices { try segment.column(i).read(vector: vector, into: &columns[i]) }
            for row in segment.rows(ofVector: vector) where segment.live?[row] ?? true {
                out.append((try segment.rowID(at: row), columns.map { stripped($0.value(at: row - vector * vectorSize)) }))
            }
        }
    }
    return out
}

/// Returns the stored rows of a table by id, read through vectors.
package func storedRows(_ table: any Table) throws -> [Int64: [Value]] {
    var out: [Int64: [Value]] = [:]
    for s in 0..<table.segmentCount {
        let segment = try table.segment(s)
        for vector in 0..<segment.vectorCount {
            var columns: [Column] = []
            for i in table.type.columns.indices {
                let reader = try segment.storedColumn(i)
                var column = Column(reader.type)
                try reader.read(vector: vector, into: &column)
                columns.append(column)
            }
            for row in segment.rows(ofVector: vector) where segment.live?[row] ?? true {
                out[try segment.rowID(at: row)] = columns.map { $0.value(at: row - vector * vectorSize) }
            }
        }
    }
    return out
}
