import FirnBytes

/// The values of one column for a run of rows, in memory. The same few arrays serve every type; `type` determines which are filled:
///
/// | kind | arrays |
/// |---|---|
/// | bool, int, link | `words` |
/// | date | `words` = seconds, `extra` = nanoseconds |
/// | decimal | `words` = high bits, `extra` = low bits |
/// | uuid | `words`, `extra` = first and last eight bytes big-endian with the top bit flipped, so that signed order is byte order |
/// | objectID | `words` likewise = first eight bytes, `extra` = last four as a number |
/// | float, double | `reals` |
/// | string, data | `text` |
/// | any | `tags` (see `AnyTag`), and the arrays above at the same positions, all of them `count` long |
/// | embedded | `children` = one column for each field of the target type, each `count` long (null where this is null) |
/// | any list, set or map of these | `offsets` (`count + 1`), `children` = [elements], or [keys, elements] for a map |
///
/// If a row has no value, its bit in `present` is clear, and its entries in the arrays exist but are undefined (a collection has zero
/// elements). Test `present` first.
@usableFromInline
package struct Column: Sendable {
    package var type: ColumnType
    /// The number of rows. Code that fills the arrays directly must set it too.
    package var count = 0
    /// The validity bitmap; nil if every row has a value.
    @usableFromInline package var present: Bits?
    @usableFromInline package var words: [Int64] = []
    package var extra: [Int64] = []
    @usableFromInline package var reals: [Double] = []
    package var text = Text()
    package var tags: [UInt8] = []
    package var offsets: [Int] = [0]
    package var children: [Column] = []

    /// Creates an empty column. `fields` are the empty columns of an embedded target type, in the order of its columns.
    package init(_ type: ColumnType, fields: [Column] = []) {
        self.type = type
        switch type.collection {
        case .none:
            children = fields
        case .list, .set:
            children = [Column(type.element, fields: fields)]
        case .map:
            children = [Column(ColumnType(.string)), Column(type.element, fields: fields)]
        }
    }

    /// The maximum number of levels of embedded types into which an empty column unfolds.
    package static let maximumNesting = 8

    /// Creates an empty column for a column of the schema, with columns for the fields of embedded types. Levels deeper than `depth`, which
    /// types that contain themselves have, are added when objects arrive.
    package init(_ column: ColumnSchema, in schema: Schema, depth: Int = Column.maximumNesting) {
        var fields: [Column] = []
        if column.type.kind == .embedded, depth > 0, let target = column.type.target.flatMap({ schema[$0] }) {
            fields = target.columns.map { Column($0, in: schema, depth: depth - 1) }
        }
        self.init(column.type, fields: fields)
    }

    /// Removes all rows and keeps the capacity of the arrays.
    package mutating func removeAll() {
        count = 0
        present = nil
        words.removeAll(keepingCapacity: true)
        extra.removeAll(keepingCapacity: true)
        reals.removeAll(keepingCapacity: true)
        text.removeAll()
        tags.removeAll(keepingCapacity: true)
        offsets.removeAll(keepingCapacity: true)
        offsets.append(0)
        for i in children.indices { children[i].removeAll() }
    }

    package func isPresent(_ row: Int) -> Bool { present.map { $0[row] } ?? true }

    package var nullCount: Int { present.map { count - $0.ones } ?? 0 }
}

/// The tags of `any` values. They are written to files and never change.
package enum AnyTag {
    package static let null: UInt8 = 0
    /// The tag of a single value is the raw value of its `ScalarKind`.
    package static let list: UInt8 = 20
    package static let set: UInt8 = 21
    package static let map: UInt8 = 22
}
