import FirnBytes
import FirnStore
import FirnTable

/// Changes to the columns of a type that go beyond adding columns (`extendSchema`).
extension DatabaseTransaction {
    /// Replaces the definition of a type (columns, key, embedded or not) and writes all its rows again, with the same row ids. A column
    /// with the name, kind, collection and target of an existing one takes over its values; nulls become the zero of the type if the column
    /// is not optional any more. Other columns begin without values. Columns that are not in `wanted` are dropped. The target types of
    /// `wanted` must exist.
    ///
    /// The caller deletes the rows to which only dropped columns led (embedded objects).
    package func revise(_ wanted: TypeSchema) throws(FirnError) {
        checkOpen()
        try flushAll()
        let index = index(of: wanted.name), old = schema.types[index]
        let before = SnapshotCore(
            store, catalogue: Catalogue(schemaRef: .none, types: statesToRead), schema: schema, taking: base.openRows(version: 0),
            counts: database.counts)
        defer { before.close() }
        let sources = wanted.columns.map { column in
            old.index(of: column.name).flatMap { old.columns[$0].type.takesOver(column.type) ? $0 : nil }
        }

        var type = wanted
        type.detachCompanions()
        type.envelope = old.envelope
        if type.otherAttributes.isEmpty { type.otherAttributes = old.otherAttributes }
        // The type gets a new id: ids of dropped columns must not be used again within a type, and its key indexes are not valid any more.
        type.id = (schema.types.map(\.id).max() ?? 0) + 1
        var next = old.columns.map(\.id).max() ?? 0
        for (i, source) in sources.enumerated() {
            if let source {
                let kept = old.columns[source]
                type.columns[i].id = kept.id
                type.columns[i].notation = kept.notation
                type.columns[i].writesNull = kept.writesNull
                type.columns[i].indexes.formUnion(kept.indexes)
                if type.columns[i].otherAttributes.isEmpty { type.columns[i].otherAttributes = kept.otherAttributes }
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

    /// Gives a type another primary key, without encoding its segments again. The caller must ensure that no two rows have the same key.
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

    /// Forgets the keys of a type that got a new id.
    private func forgetKeys(_ index: Int) {
        keys[index] = KeyShape(schema.types[index], mask: database.keys.mask).map {
            TransactionKeys(shape: $0, base: nil, own: KeyEntries(), next: 0)
        }
    }

    /// Frees the segments, indexes and directory of the former state of a type.
    private func free(_ state: Catalogue.TypeState, _ core: SnapshotCore, _ type: Int) throws(FirnError) {
        var shared: Set<ExtentRef> = []
        for segment in 0..<state.segmentCount {
            let (entry, header) = try reading { () throws(Damage) in
                let entry = try core.directoryEntry(type: type, index: segment)
                return (entry, try SegmentHeader(try store.read(entry.header)))
            }
            for column in header.entries {
                if let chunk = column.chunk { store.free(chunk) }
                if let overlay = column.overlay { store.free(overlay) }
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
    /// Whether values of this type are values of the other one, except for nulls that are not allowed any more. Links and embedded objects
    /// are both stored as row ids.
    fileprivate func takesOver(_ other: ColumnType) -> Bool {
        stored.kind == other.stored.kind && collection == other.collection && target == other.target
    }
}

extension Column {
    /// Creates a column of `count` values: those of a column of the same kind, or absent ones if `source` is nil.
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
            element == .null
                ? .map(entries.filter { !$0.value.isNull }) : .map(entries.map { $0.value.isNull ? Entry($0.key, element) : $0 })
        default: self
        }
    }
}
