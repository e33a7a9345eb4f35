import FirnBytes
import FirnStore

/// Changing what a type's columns are: what adding columns (`extendSchema`) cannot do.
extension DatabaseTransaction {
    /// Gives a type other columns, key and nature; all its rows are written anew, their row ids stay. A column that has the name and kind of one that is
    /// there takes over its values (nulls become the zero of the type where it is not optional any more); all others begin without values. What is
    /// not in `wanted` goes. Types that `wanted` leads to must be there.
    ///
    /// Rows that only dropped columns led to (embedded objects) are the caller's to delete.
    package func revise(_ wanted: TypeSchema) throws(FirnError) {
        checkOpen()
        try flushAll()
        let index = index(of: wanted.name), old = schema.types[index]
        let before = SnapshotCore(store, catalogue: Catalogue(schemaRef: .none, types: statesToRead), schema: schema, taking: base.openRows(version: 0), counts: database.counts)
        defer { before.close() }
        let sources = wanted.columns.map { column in old.index(of: column.name).flatMap { old.columns[$0].type.takesOver(column.type) ? $0 : nil } }

        var type = wanted
        type.envelope = old.envelope
        // The type begins anew: no id of a dropped column is given again within it, and what is known of its keys is another type's.
        type.id = (schema.types.map(\.id).max() ?? 0) + 1
        var next = old.columns.map(\.id).max() ?? 0
        for (i, source) in sources.enumerated() {
            if let source {
                let kept = old.columns[source]
                type.columns[i].id = kept.id
                type.columns[i].notation = kept.notation
                type.columns[i].writesNull = kept.writesNull
                type.columns[i].indexes.formUnion(kept.indexes)
            } else {
                next += 1
                type.columns[i].id = next
            }
        }
        var whole = schema
        whole.types[index] = type
        do throws(Damage) { try whole.validate() } catch { throw FirnError(.schema, error.what) }

        let state = states[index]
        states[index] = Catalogue.TypeState()
        states[index].indexes = IndexState.marked(type, like: state.indexes)
        entering[index] = nil
        schema = whole
        forgetKeys(index)
        schemaIsNew = true
        forgetReadable()
        openTable(index)?.begin()
        let writer = try bulkWriter(type.name)
        for segment in 0..<state.segmentCount {
            let rows = try reading { () throws(Damage) in try before.storedRows(type: index, segment: segment) }
            var columns: [Column] = []
            for (i, source) in sources.enumerated() {
                columns.append(Column(type.columns[i].type.stored, from: source.map { rows.columns[$0] }, count: rows.rowIDs.count))
            }
            try writer.append(stored: columns, rowIDs: rows.rowIDs)
        }
        writer.skip(to: state.nextRowID)
        try finishBulk()
        try free(state, before, index)
        forgetReadable()
        for table in tables.values { table.begin() }
    }

    /// Gives a type another primary key; nothing is written anew. The caller knows that no two rows have the same.
    package func rekey(_ name: String, _ key: [Int]) throws(FirnError) {
        checkOpen()
        try flushAll()
        let index = index(of: name)
        schema.types[index].key = key
        schema.types[index].id = (schema.types.map(\.id).max() ?? 0) + 1
        schemaIsNew = true
        forgetKeys(index)
        forgetReadable()
        for table in tables.values { table.begin() }
    }

    /// What is known of keys is of another type.
    private func forgetKeys(_ index: Int) {
        keys[index] = KeyShape(schema.types[index], mask: database.keys.mask).map { TransactionKeys(shape: $0, base: nil, own: KeyEntries(), next: 0) }
    }

    /// Frees all segments of a type as it was.
    private func free(_ state: Catalogue.TypeState, _ core: SnapshotCore, _ type: Int) throws(FirnError) {
        var shared: Set<ExtentRef> = []
        for segment in 0..<state.segmentCount {
            let (entry, header) = try reading { () throws(Damage) in
                let entry = try core.directoryEntry(type: type, index: segment)
                return (entry, try SegmentHeader(try store.read(entry.header)))
            }
            for column in header.entries {
                if let chunk = column.chunk { store.free(chunk) }
                if let patch = column.patch { store.free(patch) }
            }
            for blob in header.shared { shared.insert(blob.ref) }
            store.free(entry.header)
        }
        for ref in shared { store.free(ref) }
        for state in state.indexes { for run in state.runs { store.free(run.ref) } }
        if state.directory != .none { store.free(state.directory) }
    }
}

extension ColumnType {
    /// Values of this type are values of the other, or become so where null is not allowed any more.
    fileprivate func takesOver(_ other: ColumnType) -> Bool {
        kind == other.kind && collection == other.collection && target == other.target
    }
}

extension Column {
    /// `count` values: those of a column of the same kind, or absent ones.
    init(_ type: ColumnType, from source: Column?, count: Int) {
        if let source, source.type == type {
            self = source
            return
        }
        self.init(type)
        let absent = Column.absentValue(type), element = Column.absentValue(type.element)
        for row in 0..<count {
            var value = source?.value(at: row) ?? absent
            if value.isNull, !type.isOptional { value = absent }
            if type.isCollection, !type.elementIsOptional { value = value.replacingNulls(with: element) }
            if !append(value), !append(absent) { appendNull() }
        }
    }
}

extension Value {
    fileprivate func replacingNulls(with element: Value) -> Value {
        switch self {
        case .list(let values): .list(element == .null ? values.filter { !$0.isNull } : values.map { $0.isNull ? element : $0 })
        case .set(let values): .set(values.filter { !$0.isNull })
        case .map(let entries):
            element == .null ? .map(entries.filter { !$0.value.isNull }) : .map(entries.map { $0.value.isNull ? Entry($0.key, element) : $0 })
        default: self
        }
    }
}
