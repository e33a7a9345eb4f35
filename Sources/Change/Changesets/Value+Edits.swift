import FirnBytes
import FirnTable

extension Value {
    /// Applies edits in order. Returns the first one that does not find the value that it changes; then the value is neither the old nor
    /// the new one.
    mutating func apply(_ edits: [ValueEdit]) -> ValueEdit? {
        for edit in edits where !apply(edit, at: 0) { return edit }
        return nil
    }

    /// Returns false if the value at the path differs from the recorded one.
    private mutating func apply(_ edit: ValueEdit, at depth: Int) -> Bool {
        guard depth < edit.path.count else { return applyHere(edit) }
        let step = edit.path[depth], isLast = depth == edit.path.count - 1
        // The value is moved out while it is changed, so that nothing is copied.
        switch (self, step) {
        case (.map(var entries), .string(let name)):
            self = .null
            defer { self = .map(entries) }
            let (position, isThere) = entries.position(of: name)
            if isLast, edit.kind == .added {
                if isThere { return false }
                entries.insert(Entry(name, edit.new), at: position)
                return true
            }
            guard isThere else { return false }
            if isLast, edit.kind == .removed {
                guard Value.areEquivalent(entries[position].value, edit.old, tolerance: 0) else { return false }
                entries.remove(at: position)
                return true
            }
            return entries[position].value.apply(edit, at: depth + 1)
        case (.object(var entries), .string(let name)):
            self = .null
            defer { self = .object(entries) }
            guard let position = entries.firstIndex(where: { $0.key.utf8.elementsEqual(name.utf8) }) else { return false }
            return entries[position].value.apply(edit, at: depth + 1)
        case (.list(var values), .int(let position)):
            self = .null
            defer { self = .list(values) }
            guard position >= 0, position <= Int64(values.count) else { return false }
            if isLast, edit.kind == .added {
                values.insert(edit.new, at: Int(position))
                return true
            }
            guard position < Int64(values.count) else { return false }
            if isLast, edit.kind == .removed {
                guard Value.areEquivalent(values[Int(position)], edit.old, tolerance: 0) else { return false }
                values.remove(at: Int(position))
                return true
            }
            return values[Int(position)].apply(edit, at: depth + 1)
        case (.set(var values), .null):
            self = .null
            defer { self = .set(values) }
            return isLast && values.apply(toSet: edit)
        default: return false
        }
    }

    private mutating func applyHere(_ edit: ValueEdit) -> Bool {
        switch edit.kind {
        case .replaced:
            guard Value.areEquivalent(self, edit.old, tolerance: 0) else { return false }
            self = edit.new
            return true
        case .checked:
            guard case .list(let values) = self else { return false }
            return values.listHash == edit.old
        case .added, .removed: return false
        }
    }

    /// The value as changes files store it: objects are maps of their fields.
    var withoutObjects: Value {
        switch self {
        case .list(let values): .list(values.map(\.withoutObjects))
        case .set(let values): .set(values.map(\.withoutObjects))
        case .map(let entries): .map(entries.map { Entry($0.key, $0.value.withoutObjects) })
        case .object(let entries):
            .map(entries.map { Entry($0.key, $0.value.withoutObjects) }.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
        default: self
        }
    }

    /// Returns the value with objects as the column has them, their fields in the order of the type.
    func withObjects(_ type: ColumnType, in schema: Schema) -> Value {
        guard type.kind == .embedded, let target = type.target.flatMap({ schema[$0] }) else { return self }
        switch self {
        case .list(let values) where type.isCollection: return .list(values.map { $0.withObjects(type.element, in: schema) })
        case .map(let entries) where type.isCollection:
            return .map(entries.map { Entry($0.key, $0.value.withObjects(type.element, in: schema)) })
        case .map(let entries), .object(let entries):
            return .object(
                target.columns.map { column in
                    let value = entries.first { $0.key.utf8.elementsEqual(column.name.utf8) }?.value ?? Column.absentValue(column.type)
                    return Entry(column.name, value.withObjects(column.type, in: schema))
                })
        default: return self
        }
    }

    /// Whether the value has parts.
    var isNested: Bool {
        switch self {
        case .list, .set, .map, .object: true
        default: false
        }
    }
}

extension [Value.Entry] {
    /// Returns the position of a key, or the position at which it would be inserted.
    fileprivate func position(of key: String) -> (Int, isThere: Bool) {
        var low = 0, high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].key.utf8.lexicographicallyPrecedes(key.utf8) { low = middle + 1 } else { high = middle }
        }
        if low < count, self[low].key.utf8.elementsEqual(key.utf8) { return (low, true) }
        // In files that this program writes, keys of documents are ascending; in other files they need not be.
        if let position = firstIndex(where: { $0.key.utf8.elementsEqual(key.utf8) }) { return (position, true) }
        return (low, false)
    }
}

extension [Value] {
    fileprivate mutating func apply(toSet edit: ValueEdit) -> Bool {
        let value = edit.kind == .added ? edit.new : edit.old
        var low = 0, high = count
        while low < high {
            let middle = (low + high) / 2
            if Value.order(self[middle], value) < 0 { low = middle + 1 } else { high = middle }
        }
        let isThere = low < count && Value.order(self[low], value) == 0
        switch edit.kind {
        case .added where !isThere: insert(value, at: low)
        case .removed where isThere: remove(at: low)
        default: return false
        }
        return true
    }
}
