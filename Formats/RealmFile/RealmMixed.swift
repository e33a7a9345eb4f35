import FirnBytes
import FirnTable

/// The parts of a leaf of mixed values: what each value is, and where its bits are.
private struct RealmMixedLeaf {
    let values: RealmArray?
    let integers: RealmArray?
    let pairs: RealmArray?
    let strings: Int?
    let collections: RealmArray?
    let offset: Int

    init(_ ref: Int, _ bytes: RealmBytes) throws(Damage) {
        let array = try bytes.refs(ref, atLeast: 1, "a leaf of mixed values")
        offset = ref
        func part(_ slot: Int) throws(Damage) -> Int? { array.count > slot ? try array.ref(slot) : nil }
        values = try part(0).map { (ref) throws(Damage) in try bytes.integers(ref, "mixed values") }
        integers = try part(1).map { (ref) throws(Damage) in try bytes.integers(ref, "integers") }
        pairs = try part(2).map { (ref) throws(Damage) in try bytes.integers(ref, "pairs of integers") }
        strings = try part(3)
        collections = try part(4).map { (ref) throws(Damage) in try bytes.refs(ref, atLeast: 0, "a list of collections") }
    }

    func integer(_ index: Int64) throws(Damage) -> Int64 {
        guard let integers, index >= 0, index < Int64(integers.count) else { throw Damage("a mixed value outside its leaf", at: offset) }
        return integers[Int(index)]
    }

    func pair(_ index: Int64) throws(Damage) -> (Int64, Int64) {
        guard let pairs, index >= 0, index < Int64(pairs.count / 2) else { throw Damage("a mixed value outside its leaf", at: offset) }
        return (pairs[Int(index) * 2], pairs[Int(index) * 2 + 1])
    }

    func collection(_ index: Int64) throws(Damage) -> Int? {
        guard let collections, index >= 0, index < Int64(collections.count) else {
            throw Damage("a mixed value outside its leaf", at: offset)
        }
        return try collections.ref(Int(index))
    }
}

extension RealmVersion {
    private enum Tag {
        static let list: Int64 = 19, set: Int64 = 20, dictionary: Int64 = 21
    }

    /// The maximum depth of collections within mixed values. Realm allows 100.
    private static let maximumNesting = 100
    /// The approximate memory of a value of a nested collection.
    private static let valueBytes = 64

    func appendMixed(_ ref: Int, _ column: RealmColumn, _ rows: [Int], to out: inout Column) throws(Damage) {
        let leaf = try RealmMixedLeaf(ref, bytes)
        for row in rows {
            let value = try mixed(leaf, row, column, depth: 0)
            guard out.append(value) else { throw Damage("column \"\(column.path)\" has a value of another type", at: ref) }
        }
    }

    /// Returns all values of a leaf.
    func mixedValues(_ ref: Int, _ column: RealmColumn, depth: Int) throws(Damage) -> [Value] {
        let leaf = try RealmMixedLeaf(ref, bytes), count = leaf.values?.count ?? 0
        guard count <= RealmFileFormat.maximumTreeNode else { throw Damage("a leaf of \(count) mixed values is too large", at: ref) }
        var values: [Value] = []
        for row in 0..<count { values.append(try mixed(leaf, row, column, depth: depth)) }
        return values
    }

    private func mixed(_ leaf: RealmMixedLeaf, _ row: Int, _ column: RealmColumn, depth: Int) throws(Damage) -> Value {
        guard let values = leaf.values, row < values.count else { throw Damage("a mixed value outside its leaf", at: leaf.offset) }
        let word = values[row]
        guard word != 0 else { return .null }
        let type = (word & 31) - 1, payload = word >> 5 & 7, data = word >> 8
        if let kind = RealmKind(rawValue: Int(type)) { return try mixed(leaf, kind, payload, data, column) }
        guard type == Tag.list || type == Tag.set || type == Tag.dictionary else {
            throw Damage("a mixed value of the unknown type \(type)", at: values.offset)
        }
        guard depth < RealmVersion.maximumNesting else { throw Damage("collections in mixed values nest too deep", at: leaf.offset) }
        let root = try leaf.collection(data)
        if type == Tag.dictionary {
            return .map(try root.map { (ref) throws(Damage) in try mixedDictionary(ref, column, depth: depth + 1) } ?? [])
        }
        let elements = try root.map { (ref) throws(Damage) in try mixedElements(ref, column, depth: depth + 1) } ?? []
        return type == Tag.list ? .list(elements) : .set(Value.distinctSorted(elements))
    }

    private func mixed(_ leaf: RealmMixedLeaf, _ kind: RealmKind, _ payload: Int64, _ data: Int64, _ column: RealmColumn)
        throws(Damage) -> Value
    {
        switch kind {
        case .int: return .int(payload == 0 ? data : try leaf.integer(data))
        case .bool: return .bool(data != 0)
        case .float: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: try leaf.integer(data))))
        case .double: return .double(Double(bitPattern: UInt64(bitPattern: try leaf.integer(data))))
        case .string, .binary, .objectID, .uuid:
            guard let ref = leaf.strings, data >= 0 else { throw Damage("a mixed value outside its leaf", at: leaf.offset) }
            return try text(ref, Int(data), kind, column)
        case .timestamp:
            let pair = try leaf.pair(data)
            return .date(try timestamp(pair.0, pair.1, column, at: leaf.offset))
        case .decimal:
            let pair = try leaf.pair(data)
            return .decimal(Decimal(high: UInt64(bitPattern: pair.1), low: UInt64(bitPattern: pair.0)))
        case .typedLink:
            let pair = try leaf.pair(data)
            return try link(table: pair.0, key: pair.1, column)
        case .link:
            guard let target = column.target else { throw Damage("a link without a table", at: leaf.offset) }
            return try position(of: try leaf.integer(data), in: target, column).map { .link(Int64($0)) } ?? .null
        case .mixed: throw Damage("a mixed value within a mixed value", at: leaf.offset)
        }
    }

    private func text(_ ref: Int, _ row: Int, _ kind: RealmKind, _ column: RealmColumn) throws(Damage) -> Value {
        var plain = column, out = Column(ColumnType(kind == .string ? .string : .data, optional: true))
        (plain.kind, plain.collection, plain.enumeration, plain.isNullable) = (.string, .none, nil, true)
        guard row < (try RealmLeaf.count(ref, plain, bytes, isOld)) else { throw Damage("a mixed value outside its leaf", at: ref) }
        try appendStrings(ref, plain, [row], to: &out)
        guard out.isPresent(0) else { return .null }
        switch kind {
        case .string: return .string(out.text.string(0))
        case .binary: return .data(out.text.array(0))
        default:
            guard out.text.bytes.count == (kind == .uuid ? 16 : 12) else {
                throw Damage("an identifier of \(out.text.bytes.count) bytes", at: ref)
            }
            let identifier = out.text.withBytes(0) { RealmVersion.identifier($0) }
            return kind == .uuid ? .uuid(identifier) : .objectID(identifier)
        }
    }

    /// Returns the elements of a tree of mixed values.
    func mixedElements(_ ref: Int, _ column: RealmColumn, depth: Int) throws(Damage) -> [Value] {
        var values: [Value] = []
        try RealmTree(bytes).forEachLeaf(ref) { (leaf) throws(Damage) in
            let more = try mixedValues(leaf, column, depth: depth)
            try budget.scoped((values.count + more.count) * RealmVersion.valueBytes, for: "column \"\(column.path)\"") {
                () throws(Damage) in
                values += more
            }
            return more.count
        }
        return values
    }

    private func mixedDictionary(_ ref: Int, _ column: RealmColumn, depth: Int) throws(Damage) -> [Value.Entry] {
        let (keys, values) = try dictionary(ref, column, depth: depth)
        var entries: [Value.Entry] = []
        for row in sortedKeys(keys, column) { entries.append(.init(keys.text.string(row), values[row])) }
        return entries
    }
}
