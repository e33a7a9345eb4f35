import FirnBytes
import FirnTable

/// The change of one list, set or map in a delta record, relative to the value that the row has without the delta store
/// (`docs/format/model.md`, "Delta records").
///
///     elements of the base varint · cuts varint · cuts × (kept varint, removed varint, inserted varint) · inserted elements: a value
struct CollectionSplices {
    /// `kept` elements of the base are followed by `inserted` new ones, which replace `removed` elements of the base. The elements of the
    /// base after the last cut are kept.
    struct Cut: Equatable {
        var kept: Int
        var removed: Int
        var inserted: Int
    }

    /// The number of elements that the base must have.
    var baseCount: Int
    var cuts: [Cut]
    /// A list, set or map of the inserted elements of all cuts, in stored order.
    var inserted: Value

    func encode(into out: inout ByteWriter) {
        out.appendVarint(baseCount)
        out.appendVarint(cuts.count)
        for cut in cuts {
            out.appendVarint(cut.kept)
            out.appendVarint(cut.removed)
            out.appendVarint(cut.inserted)
        }
        inserted.encode(into: &out)
    }

    init(baseCount: Int, cuts: [Cut], inserted: Value) {
        self.baseCount = baseCount
        self.cuts = cuts
        self.inserted = inserted
    }

    init(from reader: inout ByteReader) throws(Damage) {
        var cuts: [Cut] = []
        (baseCount, _) = try CollectionSplices.readCuts(&reader) { cuts.append($0) }
        self.cuts = cuts
        inserted = try Value(from: &reader)
    }

    /// Reads everything before the inserted elements, and checks it. Returns the number of elements of the base and of inserted ones.
    private static func readCuts(_ reader: inout ByteReader, _ body: (Cut) -> Void) throws(Damage) -> (base: Int, inserted: Int) {
        let start = reader.position
        let base = try reader.readCount(limit: maximumElements), count = try reader.readCount(limit: reader.remaining / 3)
        guard count > 0 else { throw Damage("splices without a cut", at: start) }
        var used = 0, inserted = 0
        for _ in 0..<count {
            // Each number is at most 2 to the 40, and the sum of two is checked before the next is added.
            let cut = Cut(
                kept: try reader.readCount(limit: maximumElements), removed: try reader.readCount(limit: maximumElements),
                inserted: try reader.readCount(limit: reader.remaining))
            used += cut.kept + cut.removed
            inserted += cut.inserted
            guard used <= base else { throw Damage("splices outside the collection", at: start) }
            guard cut.removed + cut.inserted > 0 else { throw Damage("a cut that changes nothing", at: start) }
            guard inserted <= reader.remaining else { throw Damage("more inserted elements than bytes", at: start) }
            body(cut)
        }
        return (base, inserted)
    }

    /// No collection has more elements than this. Sums of two such numbers do not overflow.
    private static let maximumElements = 1 << 40

    /// Skips splices, and adds to `total` the memory that they would take.
    static func measure(_ reader: inout ByteReader, _ total: inout Int) throws(Damage) {
        var count = 0
        _ = try readCuts(&reader) { _ in count += 1 }
        total &+= 64 &+ count &* MemoryLayout<Cut>.stride
        try Value.measure(&reader, &total)
    }

    // MARK: Applying

    /// Returns the changed value as a column of one row. `base` is such a column with the value without the delta store.
    func applied(to base: Column, _ memory: MemoryScope) throws(Damage) -> Column {
        guard base.type.isCollection, base.isPresent(0) else { throw Damage("splices of a value that is not a collection") }
        let range = base.offsets[0]..<base.offsets[1], added = try inserted(into: base.type, elements: range.count)
        var out = base.emptyCopy
        try out.hold(memory, adding: base.footprint + added.footprint)
        for i in out.children.indices {
            let base = base.children[i]
            out.children[i].reserve(
                range.count + added.offsets[1], bytes: base.text.bytes.count + added.children[i].text.bytes.count, like: base)
        }
        var from = range.lowerBound, next = 0
        for cut in cuts {
            out.appendElements(of: base, from..<from + cut.kept)
            out.appendElements(of: added, next..<next + cut.inserted)
            from += cut.kept + cut.removed
            next += cut.inserted
        }
        out.appendElements(of: base, from..<range.upperBound)
        out.count = 1
        out.offsets = [0, out.children[0].count]
        return out
    }

    /// Returns the inserted elements as a column of one row. `count` is the number of elements of the base.
    func inserted(into type: ColumnType, elements count: Int) throws(Damage) -> Column {
        guard count == baseCount else { throw Damage("splices of a collection of \(baseCount) elements, which has \(count)") }
        let added = try insertedColumn(type)
        guard cuts.reduce(0, { $0 + $1.inserted }) == added.offsets[1] else {
            throw Damage("splices with another number of inserted elements")
        }
        return added
    }

    /// Returns the inserted elements as a column of one row, in the given order.
    private func insertedColumn(_ type: ColumnType) throws(Damage) -> Column {
        var column = Column(type), fits = true
        switch (type.collection, inserted) {
        case (.list, .list(let values)), (.set, .set(let values)):
            for value in values { fits = column.children[0].append(value) && fits }
        case (.map, .map(let entries)):
            for entry in entries {
                fits = column.children[0].append(.string(entry.key)) && column.children[1].append(entry.value) && fits
            }
        default: fits = false
        }
        guard fits else { throw Damage("splices of the wrong type") }
        column.count = 1
        column.offsets = [0, column.children[0].count]
        return column
    }
}

extension Column {
    /// Makes room for so many rows of one value each, and for the bytes of their text, in the arrays that another column of this type uses.
    package mutating func reserve(_ rows: Int, bytes: Int, like other: Column) {
        if !other.words.isEmpty { words.reserveCapacity(rows) }
        if !other.extra.isEmpty { extra.reserveCapacity(rows) }
        if !other.reals.isEmpty { reals.reserveCapacity(rows) }
        if !other.tags.isEmpty { tags.reserveCapacity(rows) }
        guard other.text.count > 0 else { return }
        text.offsets.reserveCapacity(rows + 1)
        text.bytes.reserveCapacity(bytes)
    }

    /// Appends elements of a collection column to the children of this one, not to its rows.
    fileprivate mutating func appendElements(of other: Column, _ range: Range<Int>) {
        guard !range.isEmpty else { return }
        for i in children.indices { children[i].append(contentsOf: other.children[i], range: range) }
    }
}
