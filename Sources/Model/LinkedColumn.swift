import FirnBytes

/// One column of the rows that links lead to, fetched for many links at a time. For one thread.
///
/// A vector of the linked table is decoded once and kept, in a pool that the values of all links are then gathered from; where few values
/// of a vector are asked for they are read one by one, and kept too. A pool that grows too large begins anew, and from then on only vectors
/// that many links of one call lead to are decoded whole.
package struct LinkedColumn {
    private let path: [Int]
    private let isStored: Bool
    /// Bytes of the pool before it begins anew.
    private let most: Int
    private let memory: MemoryScope
    private var finder: RowFinder
    /// Row 0 has no value: it stands for links that lead nowhere.
    private var pool: Column
    private var readers: [(any ColumnReader)?] = []
    /// For each vector of each segment met: where it begins in the pool, or 0.
    private var starts: [Int] = []
    /// Likewise, how many of its values were read one by one.
    private var singlyRead: [Int] = []
    /// Likewise, how many the call at hand asks for.
    private var wanted: [Int] = []
    /// Values that were read one by one: place to row of the pool.
    private var singles: [Int: Int] = [:]
    private var isLarge = false
    private var scratch: Column
    /// How many vectors and single values were decoded so far.
    package private(set) var vectorsDecoded = 0
    package private(set) var valuesRead = 0

    /// Reading a vector costs about as much as this many single values.
    private static let vectorCost = 24
    private static let vectorsOfSegment = segmentSize / vectorSize

    /// `path` as for `Segment.column(path:)`; an empty one is for `live` alone. `stored`: one column, as `Segment.storedColumn` gives it.
    package init(_ table: any Table, path: [Int], stored: Bool = false, most: Int = 128 << 20) throws(Damage) {
        self.path = path
        self.most = min(most, table.memory.limit / 8)
        memory = MemoryScope(table.memory, type: table.type.name, column: path.first.map { table.type.columns[$0].name } ?? "")
        isStored = stored
        finder = RowFinder(table)
        pool = path.isEmpty ? Column(ColumnType(.bool)) : stored ? Column(table.type.columns[path[0]].type.stored) : try Column(shape: path, in: table)
        scratch = pool
        pool.type.isOptional = true
        pool.appendNull()
    }

    /// A row for each link, null where there is none or the row it leads to is not there.
    package mutating func fetch(_ rowIDs: [Int64], present: Bits?) throws(Damage) -> Column {
        if pool.footprint > most { empty() }
        var rows = try finder.places(of: rowIDs, present: present)
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

    /// Decodes the vectors that many of the places lie in.
    private mutating func load(_ places: [Int]) throws(Damage) {
        var missing: [Int] = []
        for place in places where place >= 0 {
            let vector = place / vectorSize
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

    /// Replaces places by rows of the pool, up to one whose vector is not there: returns where it is.
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

    /// Which links lead to rows that are there.
    package mutating func live(_ rowIDs: [Int64], present: Bits?) throws(Damage) -> Bits {
        let places = try finder.places(of: rowIDs, present: present)
        var out = Bits(repeating: false, count: places.count)
        for i in places.indices where places[i] >= 0 { out[i] = true }
        return out
    }

    /// Whether there is such a row.
    package mutating func isLive(_ rowID: Int64) throws(Damage) -> Bool { try finder.place(of: rowID) != nil }

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
        guard scratch.count == finder.segments[number].rows(ofVector: index).count else { throw Damage("vector of another length than its segment says") }
        try pool.hold(memory, adding: scratch.footprint)
        starts[vector] = pool.count
        pool.append(contentsOf: scratch)
        vectorsDecoded += 1
    }

    /// The row of the pool that holds the value at a place whose vector is not there.
    private mutating func single(_ place: Int) throws(Damage) -> Int {
        if let known = singles[place] { return known }
        let value = try reader(place / segmentSize).value(at: place % segmentSize)
        guard pool.append(value) else { throw Damage("a value of another type than its column") }
        try pool.hold(memory)
        valuesRead += 1
        singles[place] = pool.count - 1
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
    fileprivate func reader(_ path: [Int], stored: Bool) throws(Damage) -> any ColumnReader { stored ? try storedColumn(path[0]) : try column(path: path) }
}

