import FirnBytes
import FirnTable

/// Creating objects and rows.
extension TypeAccess {
    /// Returns the managed object of a row, or nil if there is no such row.
    func object(_ rowID: Int64) -> ObjectBase? {
        core.check()
        guard let row = position(of: rowID) else { return nil }
        return object(rowID, segment: row.segment, position: row.position)
    }

    func object(_ rowID: Int64, segment: Int, position: Int) -> ObjectBase {
        let object = schema?.objectClass._make() ?? DynamicObject()
        manage(object, rowID)
        object._segment = Int32(truncatingIfNeeded: segment)
        object._position = Int32(truncatingIfNeeded: position)
        object._generation = state.pointee.generation
        return object
    }

    /// Makes an unmanaged object the managed object of a row.
    func manage(_ object: ObjectBase, _ rowID: Int64) {
        object._core = core
        object._state = state
        object._rowID = rowID
        attachProperties(of: object)
    }

    /// Adds an unmanaged object, and the unmanaged objects that it refers to.
    func add(_ object: ObjectBase, update: Realm.UpdatePolicy) {
        if let object = object.asDynamic, let contents = object.contents { return add(object, contents, update: update) }
        let schema = schema!
        let table = working
        if let key = schema.primaryKey, update != .error {
            let value = storedKey(schema.properties[key], of: object)
            if let existing = find(value) {
                return update == .all
                    ? overwrite(existing, from: object, onlyChanged: false) : overwrite(existing, from: object, onlyChanged: true)
            }
        }
        // References are set after this object has its row, because the referenced objects may link back to it.
        var later: [(column: Int, property: ClassSchema.Property, content: Any?)] = []
        if hasLeading {
            for (property, column) in zip(schema.properties, columns) where column >= 0 && property.leadsOn {
                later.append((column, property, property.access.unmanagedContent(object)))
            }
        }
        let rowID: Int64
        do {
            rowID = try table.append { (columns: inout [Column]) throws(FirnError) in
                columns.withUnsafeMutableBufferPointer { buffer in self.fill(buffer.baseAddress!, buffer.count, from: object) }
            }
        } catch {
            if error.code == .duplicateKey, let key = schema.primaryKey {
                let value = schema.properties[key].access.get(object)
                trap(
                    "Attempting to create an object of type \"\(name)\" with an existing primary key value \"\(value.map { "\($0)" } ?? "nil")\"."
                )
            }
            core.note(error)
            return
        }
        core.noteChange()
        manage(object, rowID)
        object._generation = 0
        for (_, property, content) in later { core.setContent(update) { property.access.setManaged(object, content) } }
    }

    private func fill(_ columns: UnsafeMutablePointer<Column>, _ count: Int, from object: ObjectBase) {
        appendValues(of: object, to: columns)
        // Columns that were added while the realm was open.
        for column in type.columns.count..<max(count, type.columns.count) { columns[column].appendMissing() }
    }

    func storedKey(_ property: ClassSchema.Property, of object: ObjectBase) -> Value {
        var column = Column(property.shape.type)
        withUnsafeMutablePointer(to: &column) { property.access.append(object, _Sink(column: $0)) }
        return column.value(at: 0)
    }

    /// Returns the id of the row with a primary key, or nil.
    func find(_ key: Value) -> Int64? {
        core.failing(nil) { () throws(FirnError) in
            if let transaction = core.transaction { return try transaction.find(name, key: [key]) }
            do throws(Damage) { return try core.storedTable(self)?.find(key: [key]) } catch {
                throw FirnError(error, in: core.file.path)
            }
        }
    }

    /// For `update: .all` and `.modified`: the existing row gets the new object's values, and the new object becomes the managed object of
    /// that row.
    private func overwrite(_ rowID: Int64, from object: ObjectBase, onlyChanged: Bool) {
        let schema = schema!
        var contents: [(column: Int, property: ClassSchema.Property, content: Any?)] = []
        for (i, property) in schema.properties.enumerated() where columns[i] >= 0 && i != schema.primaryKey {
            contents.append(
                (columns[i], property, property.leadsOn ? property.access.unmanagedContent(object) : property.access.get(object)))
        }
        manage(object, rowID)
        object._generation = 0
        for (_, property, content) in contents {
            if onlyChanged, !property.leadsOn, property.access.sameContent(property.access.get(object), content) { continue }
            if property.leadsOn {
                core.setContent(onlyChanged ? .modified : .all) { property.access.setManaged(object, content) }
            } else {
                _ = property.access.set(object, content)
            }
        }
    }
}

extension _PropertyAccess {
    /// Returns whether both are the same stored value.
    func sameContent(_ a: Any?, _ b: Any?) -> Bool {
        guard let first = Value(key: a), let second = Value(key: b) else { return false }
        return first == second
    }
}

extension Column {
    fileprivate mutating func appendMissing() { if !append(Column.absentValue(type)) { appendNull() } }
}

/// One closure for each class that attaches or appends all properties of an object. Each step captures the next one, so that nothing has to
/// be looked up or retained for an object.
extension TypeAccess {
    static func attaching(_ schema: ClassSchema, _ columns: [Int]) -> (ObjectBase) -> Void {
        var whole: ((ObjectBase) -> Void)?
        for (i, property) in schema.properties.enumerated().reversed() {
            let column = columns[i] >= 0 ? Int16(truncatingIfNeeded: columns[i]) : linkingColumn + Int16(truncatingIfNeeded: i)
            let attach = property.access.attach
            guard let rest = whole else {
                whole = { attach($0, column) }
                continue
            }
            whole = { object in
                attach(object, column)
                rest(object)
            }
        }
        return whole ?? { _ in }
    }

    static func appending(_ schema: ClassSchema, _ columns: [Int], _ type: TypeSchema) -> (ObjectBase, UnsafeMutablePointer<Column>) -> Void
    {
        // The property of the class that fills a column with one plain value, by column.
        var plain: [_PropertyAccess?] = Array(repeating: nil, count: type.columns.count)
        for (property, column) in zip(schema.properties, columns) where column >= 0 && !property.leadsOn { plain[column] = property.access }
        var whole: ((ObjectBase, UnsafeMutablePointer<Column>) -> Void) = { _, _ in }
        for (column, property) in plain.enumerated().reversed() {
            let rest = whole
            if let append = property?.append {
                whole = { object, columns in
                    append(object, _Sink(column: columns + column))
                    rest(object, columns)
                }
            } else {
                whole = { object, columns in
                    columns[column].appendMissing()
                    rest(object, columns)
                }
            }
        }
        return whole
    }
}

extension ClassSchema.Property {
    /// True for links, embedded objects, collections and values of any type, which are set after the row exists.
    var leadsOn: Bool { shape.type.isCollection || shape.target != nil || shape.type.kind == .any }
}
