import FirnBytes
import FirnTable

/// Lists, sets and dictionaries of objects.
extension RealmVersion {
    /// Appends the collections of objects: each has a root of its own.
    func appendCollections(_ ref: Int, _ column: RealmColumn, _ rows: [Int], to out: inout Column) throws(Damage) {
        let roots = try bytes.array(ref)
        guard roots.hasRefs && !roots.isInner || roots.width == 0 else { throw Damage("this is not a node of collections", at: ref) }
        let scope = MemoryScope(budget, type: "", column: column.path)
        for row in rows {
            let root = try roots.ref(row), before = out.children[0].count
            if let root {
                switch column.collection {
                case .dictionary: try appendDictionary(root, column, to: &out)
                default: try appendElements(root, column, to: &out.children[0])
                }
            }
            if column.collection == .set { try arrange(&out.children[0], from: before, column) }
            out.notePresent()
            out.offsets.append(out.children[0].count)
            if root != nil { try out.children[out.children.count - 1].hold(scope) }
        }
    }

    private func appendElements(_ root: Int, _ column: RealmColumn, to out: inout Column) throws(Damage) {
        var root = root
        if isOld, column.kind != .link {
            // Formats up to 9 store a list of values as a table of one column.
            let table = try bytes.refs(root, atLeast: 1, "a list")
            guard let first = try table.ref(0) else { return }
            root = first
        }
        let element = column.element
        if isOld, column.kind == .timestamp { return try appendOldDates(root, element, to: &out) }
        try RealmTree(bytes).forEachLeaf(root) { (leaf) throws(Damage) in try append(leaf, element, isCluster: false, to: &out) }
    }

    private func appendOldDates(_ root: Int, _ column: RealmColumn, to out: inout Column) throws(Damage) {
        let pair = try bytes.refs(root, atLeast: 2, "a list of dates")
        guard let first = try pair.ref(0), let second = try pair.ref(1) else { throw Damage("a list of dates is incomplete", at: root) }
        var part = column, seconds = Column(ColumnType(.int, optional: true)), nanoseconds = Column(ColumnType(.int, optional: true))
        (part.kind, part.isNullable) = (.int, true)
        try RealmTree(bytes).forEachLeaf(first) { (leaf) throws(Damage) in try append(leaf, part, isCluster: false, to: &seconds) }
        part.isNullable = false
        try RealmTree(bytes).forEachLeaf(second) { (leaf) throws(Damage) in try append(leaf, part, isCluster: false, to: &nanoseconds) }
        guard nanoseconds.count == seconds.count else { throw Damage("a list of dates lacks nanoseconds", at: second) }
        for row in 0..<seconds.count {
            try append(
                seconds: seconds.isPresent(row) ? seconds.words[row] : nil, nanoseconds: nanoseconds.words[row], column, at: second,
                to: &out)
        }
    }

    // MARK: Sets

    /// Brings the elements of a set into the order of Firn, which differs from that of some formats.
    private func arrange(_ elements: inout Column, from start: Int, _ column: RealmColumn) throws(Damage) {
        let end = elements.count
        guard end - start > 1 else { return }
        if [.int, .bool, .link].contains(elements.type.kind), elements.present == nil,
            (start + 1..<end).allSatisfy({ elements.words[$0 - 1] < elements.words[$0] })
        {
            return
        }
        let (values, sorted) = try budget.scoped((end - start) * 64, for: "column \"\(column.path)\"") { () throws(Damage) in
            let values = (start..<end).map { elements.value(at: $0) }
            return (values, Value.distinctSorted(values))
        }
        if values == sorted { return }
        if sorted.count < values.count { findings.add(.duplicate, column.path, values.count - sorted.count) }
        elements.truncate(to: start)
        for value in sorted where !elements.append(value) { throw Damage("column \"\(column.path)\" has a value of another type") }
    }

    // MARK: Dictionaries

    private func appendDictionary(_ root: Int, _ column: RealmColumn, to out: inout Column) throws(Damage) {
        let (keys, values) = try dictionary(root, column, depth: 0)
        for row in sortedKeys(keys, column) {
            out.children[0].notePresent()
            keys.text.withBytes(row) { out.children[0].text.append($0) }
            let value = try declared(values[row], column, at: root)
            if value.isNull {
                appendNull(column.element, to: &out.children[1])
            } else if !out.children[1].append(value) {
                throw Damage("column \"\(column.path)\" has a value of another type", at: root)
            }
        }
    }

    /// Returns a value of a dictionary as one of the declared type: links to the objects of one table have no type in Firn.
    private func declared(_ value: Value, _ column: RealmColumn, at ref: Int) throws(Damage) -> Value {
        guard column.kind == .link, case .map(let entries) = value, case .list(let parts)? = entries.first?.value, parts.count == 2 else {
            return value
        }
        guard let target = column.target, case .string(names[target] ?? "") = parts[0] else {
            throw Damage("column \"\(column.path)\" has a link to another table", at: ref)
        }
        return parts[1]
    }

    /// Returns the order of the entries by key. Of several entries with one key, only the first is kept.
    func sortedKeys(_ keys: Column, _ column: RealmColumn) -> [Int] {
        func compare(_ a: Int, _ b: Int) -> Int {
            keys.text.withBytes(a) { a in
                keys.text.withBytes(b) { b in
                    a.elementsEqual(b) ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
                }
            }
        }
        let all = Array(0..<keys.count)
        if (1..<max(1, keys.count)).allSatisfy({ compare($0 - 1, $0) < 0 }) { return all }
        var order: [Int] = []
        for row in all.sorted(by: { compare($0, $1) == 0 ? $0 < $1 : compare($0, $1) < 0 }) {
            if let last = order.last, compare(last, row) == 0 { findings.add(.repeated, column.path) } else { order.append(row) }
        }
        return order
    }

    /// Returns the keys of a dictionary, as texts, and its values.
    func dictionary(_ root: Int, _ column: RealmColumn, depth: Int) throws(Damage) -> (keys: Column, values: [Value]) {
        var text = column
        (text.kind, text.collection, text.isNullable, text.enumeration) = (.string, .none, false, nil)
        var keys = Column(ColumnType(.string)), values: [Value] = []
        let pair = try bytes.array(root)
        if format < 23 {
            // A tree of clusters: keys and values are its two columns, in the order of the hashes of the keys.
            for leaf in try RealmObjects(clusters: root, bytes).leaves {
                let cluster = try bytes.array(leaf.ref)
                guard cluster.count >= 3, let first = try cluster.ref(1), let second = try cluster.ref(2) else {
                    throw Damage("a dictionary is incomplete", at: leaf.ref)
                }
                try append(first, text, nil, expecting: leaf.count, isCluster: true, to: &keys)
                values += try mixedValues(second, column, depth: depth)
            }
        } else {
            guard pair.hasRefs, !pair.isInner, pair.count >= 2, let first = try pair.ref(0), let second = try pair.ref(1) else {
                throw Damage("a dictionary is incomplete", at: root)
            }
            if column.hasIntegerKeys {
                var number = text, numbers = Column(ColumnType(.int))
                number.kind = .int
                try RealmTree(bytes).forEachLeaf(first) { (leaf) throws(Damage) in
                    try append(leaf, number, isCluster: false, to: &numbers)
                }
                for word in numbers.words { keys.append(.string("\(word)")) }
            } else {
                try RealmTree(bytes).forEachLeaf(first) { (leaf) throws(Damage) in try append(leaf, text, isCluster: false, to: &keys) }
            }
            values = try mixedElements(second, column, depth: depth)
        }
        guard keys.count == values.count else { throw Damage("a dictionary of \(keys.count) keys and \(values.count) values", at: root) }
        return (keys, values)
    }
}
