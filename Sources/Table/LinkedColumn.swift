import FirnBytes

/// One column of the rows that links refer to, fetched for many links at a time. For one thread.
///
/// A vector of the linked table is decoded once and kept in a pool, from which the values of all links are gathered. If few values of a
/// vector are requested, they are read one by one, and kept too. A pool that exceeds its limit is cleared; from then on, only vectors that
/// many links of one call refer to are decoded as a whole.
package struct LinkedColumn {
    private let path: [Int]
    private let isStored: Bool
    /// The size in bytes at which the pool is cleared.
    private let most: Int
    private let memory: MemoryScope
    private var finder: RowFinder
    /// Row 0 has no value. It represents links that refer to no row.
    private var pool: Column
    private var readers: [(any ColumnReader)?] = []
    /// For each vector of each known segment: its first row in the pool, or 0.
    private var starts: [Int] = []
    /// Likewise: how many of its values were requested while it was not decoded.
    private var singlyRead: [Int] = []
    /// Likewise: how many of its values the current call requests.
    private var wanted: [Int] = []
    /// The rows of the pool for values that were read one by one, by location (see `RowFinder`).
    private var singles: [Int: Int] = [:]
    private var isLarge = false
    private var scratch: Column
    /// The numbers of vectors and of single values that were decoded so far.
    package private(set) var vectorsDecoded = 0
    package private(set) var valuesRead = 0

    /// Reading a vector costs about as much as reading this many single values.
    private static let vectorCost = 24
    private static let vectorsOfSegment = segmentSize / vectorSize

    /// `path` is as in `Segment.column(path:)`; an empty path allows only `live`. If `stored`, it is one column, as `Segment.storedColumn`
    /// returns it.
    /// `most` limits the pool, in bytes.
    package init(_ table: any Table, path: [Int], stored: Bool = false, most: Int = 128 << 20) throws(Damage) {
        self.path = path
        self.most = min(most, table.memory.limit / 8)
        memory = MemoryScope(table.memory, type: table.type.name, column: path.first.map { table.type.columns[$0].name } ?? "")
        isStored = stored
        finder = RowFinder(table)
        pool =
            path.isEmpty
            ? Column(ColumnType(.bool)) : stored ? Column(table.type.columns[path[0]].type.stored) : try Column(shape: path, in: table)
        scratch = pool
        pool.type.isOptional = true
        pool.appendNull()
    }

    /// Returns a row for each link, null for absent links and for links to rows that do not exist.
    package mutating func fetch(_ rowIDs: [Int64], present: Bits?) throws(Damage) -> Column {
        if pool.footprint > most { empty() }
        var rows = try finder.locations(of: rowIDs, present: present)
        if starts.count < finder.segments.count * LinkedColumn.vectorsOfSegment { growVectors() }
        try load(rows)
        var start = 0
        while true {
            start = LinkedColumn.locate(&rows, starts, from: start)
            guard start < rows.count else { break }
            rows[start] = try single(rows[start])
            start += 1
        }
        var out = pool.emptyCopy
        try out.hold(memory, adding: pool.footprint(gathering: rows))
        out.appendGathered(pool, rows: rows)
        if out.present?.allSet ?? false { out.present = nil }
        return out
    }

    /// Decodes the vectors that contain many of the locations.
    private mutating func load(_ locations: [Int]) throws(Damage) {
        var missing: [Int] = []
        for location in locations where location >= 0 {
            let vector = location / vectorSize
            if starts[vector] > 0 { continue }
            if wanted[vector] == 0 { missing.append(vector) }
            wanted[vector] &+= 1
        }
        for vector in missing {
            let count = wanted[vector]
            wanted[vector] = 0
            singlyRead[vector] += count
            if (isLarge ? count : singlyRead[vector]) > LinkedColumn.vectorCost { try decode(vector) }
        }
    }

    /// Replaces locations by rows of the pool, up to the first one whose vector is not in the pool. Returns the index of that one.
    private static func locate(_ rows: inout [Int], _ starts: [Int], from start: Int) -> Int {
        rows.withUnsafeMutableBufferPointer { rows in
            for i in start..<rows.count {
                if rows[i] < 0 {
                    rows[i] = 0
                    continue
                }
                let first = starts[rows[i] / vectorSize]
                if first == 0 { return i }
                rows[i] = first &+ rows[i] % vectorSize
            }
            return rows.count
        }
    }

    /// Returns which links refer to rows that exist.
    package mutating func live(_ rowIDs: [Int64], present: Bits?) throws(Damage) -> Bits {
        let locations = try finder.locations(of: rowIDs, present: present)
        var out = Bits(repeating: false, count: locations.count)
        for i in locations.indices where locations[i] >= 0 { out[i] = true }
        return out
    }

    /// Returns whether the row exists.
    package mutating func isLive(_ rowID: Int64) throws(Damage) -> Bool { try finder.location(of: rowID) != nil }

    private mutating func growVectors() {
        let count = finder.segments.count * LinkedColumn.vectorsOfSegment
        starts.append(contentsOf: repeatElement(0, count: count - starts.count))
        singlyRead.append(contentsOf: repeatElement(0, count: count - singlyRead.count))
        wanted.append(contentsOf: repeatElement(0, count: count - wanted.count))
        readers.append(contentsOf: repeatElement(nil, count: finder.segments.count - readers.count))
    }

    private mutating func reader(_ number: Int) throws(Damage) -> any ColumnReader {
        if let reader = readers[number] { return reader }
        let reader = try finder.segments[number].reader(path, stored: isStored)
        guard reader.type.kind == pool.type.kind, reader.type.isCollection == pool.type.isCollection else {
            throw Damage("column of type \(reader.type.name) where the schema has \(pool.type.name)")
        }
        readers[number] = reader
        return reader
    }

    private mutating func decode(_ vector: Int) throws(Damage) {
        let number = vector / LinkedColumn.vectorsOfSegment, index = vector % LinkedColumn.vectorsOfSegment
        try reader(number).read(vector: index, into: &scratch)
        guard scratch.count == finder.segments[number].rows(ofVector: index).count else {
            throw Damage("a vector of another length than its segment has")
        }
        try pool.hold(memory, adding: scratch.footprint)
        starts[vector] = pool.count
        pool.append(contentsOf: scratch)
        vectorsDecoded += 1
    }

    /// Returns the row of the pool that contains the value at a location whose vector is not in the pool.
    private mutating func single(_ location: Int) throws(Damage) -> Int {
        if let known = singles[location] { return known }
        let value = try reader(location / segmentSize).value(at: location % segmentSize)
        guard pool.append(value) else { throw Damage("a value of another type than its column") }
        try pool.hold(memory)
        valuesRead += 1
        singles[location] = pool.count - 1
        return pool.count - 1
    }

    private mutating func empty() {
        isLarge = true
        pool.removeAll()
        pool.appendNull()
        singles.removeAll()
        for i in starts.indices {
            starts[i] = 0
            singlyRead[i] = 0
        }
    }
}

extension Segment {
    fileprivate func reader(_ path: [Int], stored: Bool) throws(Damage) -> any ColumnReader {
        stored ? try storedColumn(path[0]) : try column(path: path)
    }
}
