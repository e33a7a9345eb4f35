import FirnBytes
import FirnTable
import Foundation

extension ObjectBase {
    /// Returns the untyped value of a column of a dynamic object. Collections are those that a class would declare: `List<Int>`,
    /// `MutableSet<String?>`, `Map<String, DynamicObject?>`.
    final func dynamicValue(_ name: String, _ access: TypeAccess) -> Any? {
        guard let column = access.column(name) else { trap("type \"\(access.name)\" has no property \"\(name)\"") }
        guard access.type.columns[column].type.isCollection else { return plainValue(column, access) }
        _settled()
        return CollectionCell.of(self, column).typedCollection
    }

    /// Returns the untyped value of a column of a dynamic object, with collections as arrays and dictionaries.
    final func plainValue(_ column: Int, _ access: TypeAccess) -> Any? {
        _settled()
        // Collections that were changed through the class are not in the table yet.
        if access.type.columns[column].type.isCollection {
            access.core.flushCellsNotingErrors()
        }
        return access.core.untyped(_value(column), access.type.columns[column].type)
    }

    final func setDynamicValue(_ name: String, _ value: Any?, _ access: TypeAccess) {
        guard let column = access.column(name) else { trap("type \"\(access.name)\" has no property \"\(name)\"") }
        let type = access.type.columns[column].type
        guard let stored = access.core.stored(value, type) else {
            trap(RealmMessage.invalidValue(value, of: access.type, column))
        }
        if type.isCollection { return replaceElements(column, stored) }
        let old = type.kind == .embedded ? _value(column) : .null
        _set(column, stored)
        guard type.kind == .embedded, let target = type.target, let embedded = access.core.dynamicAccess(target) else { return }
        var replaced: [Int64] = []
        old.forEachLink { replaced.append($0) }
        stored.forEachLink { kept in replaced.removeAll { $0 == kept } }
        access.core.delete(replaced, embedded)
    }
}

extension ObjectBase {
    /// Replaces a whole collection and writes it to the table, so that other accesses see it immediately.
    private final func replaceElements(_ column: Int, _ stored: Value) {
        let cell = CollectionCell.of(self, column)
        var gone: [Int64] = []
        for value in cell.values { value.forEachLink { gone.append($0) } }
        cell.change("collection") { $0 = Elements(cell.type, stored) }
        cell.core.flushCellsNotingErrors()
        stored.forEachLink { kept in gone.removeAll { $0 == kept } }
        release(gone.map { .link($0) }, in: cell)
    }
}

extension CollectionCell {
    /// The collection with elements of the type that the file has for them; objects have no class.
    fileprivate var typedCollection: Any {
        switch type.element.kind {
        case .bool: collection(of: Bool.self)
        case .int: collection(of: Int.self)
        case .float: collection(of: Float.self)
        case .double: collection(of: Double.self)
        case .decimal: collection(of: Decimal128.self)
        case .string: collection(of: String.self)
        case .data: collection(of: Data.self)
        case .date: collection(of: Date.self)
        case .uuid: collection(of: UUID.self)
        case .objectID: collection(of: ObjectId.self)
        case .any: made(of: AnyRealmValue.self)
        case .link, .embedded: type.collection == .map ? made(of: DynamicObject?.self) : made(of: DynamicObject.self)
        }
    }

    private func collection<Element: RealmCollectionValue>(of _: Element.Type) -> Any {
        type.element.isOptional ? made(of: Element?.self) : made(of: Element.self)
    }

    private func made<Element: RealmCollectionValue>(of _: Element.Type) -> Any {
        switch type.collection {
        case .set: MutableSet<Element>(self)
        case .map: Map<String, Element>(self)
        case .list, .none: List<Element>(self)
        }
    }
}

extension RealmCore {
    /// Returns a stored value in untyped form: links as objects, collections as arrays and dictionaries.
    func untyped(_ value: Value, _ type: ColumnType) -> Any? {
        switch value {
        case .link(let rowID) where type.kind != .any: return type.target.flatMap { dynamicAccess($0)?.object(rowID) }
        case .list(let values) where type.isCollection, .set(let values) where type.isCollection:
            return values.map { untyped($0, type.element) }
        case .map(let entries) where type.isCollection: return Dictionary(entries.map { ($0.key, untyped($0.value, type.element)) }) { $1 }
        default: return type.kind == .any ? AnyRealmValue(value, in: self) : swiftValue(of: value)
        }
    }

    /// Returns the stored form of an untyped value for a column of this type; nil if it does not fit.
    func stored(_ value: Any?, _ type: ColumnType) -> Value? {
        guard let value = unwrapped(value) else { return type.isOptional || type.kind == .any ? .null : nil }
        if type.isCollection {
            if type.collection == .map {
                guard let entries = (value as? any _AnyMap)?._untypedEntries ?? value as? [String: Any?] else { return nil }
                var stored: [Value.Entry] = []
                for (key, value) in entries.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                    guard let one = self.stored(value, type.element) else { return nil }
                    stored.append(Value.Entry(key, one))
                }
                return .map(stored)
            }
            guard let elements = (value as? any _AnyCollection)?._untypedElements ?? value as? [Any?] else { return nil }
            var stored: [Value] = []
            for element in elements {
                guard let one = self.stored(element, type.element) else { return nil }
                stored.append(one)
            }
            if type.collection == .set { return .set(Value.distinct(stored)) }
            return .list(stored)
        }
        if type.kind == .any { return AnyRealmValue(untyped: value)?.stored(in: self) }
        if type.kind == .embedded {
            if let object = value as? DynamicObject, object._core == nil { return object._typeName == type.target ? embed(object) : nil }
            guard let target = type.target.flatMap({ dynamicAccess($0) }), value is [String: Any?] || value is [Any?] || value is ObjectBase
            else { return nil }
            return .link(target.create(value, update: .error))
        }
        if type.kind == .link, value is [String: Any?] || value is [Any?], let target = type.target.flatMap({ dynamicAccess($0) }) {
            return .link(target.create(value, update: target.type.key.isEmpty ? .error : .modified))
        }
        if type.kind == .link {
            guard let object = value as? ObjectBase, object._core == nil || object._core === self, object._typeName == type.target else {
                return nil
            }
            return link(object)
        }
        return Value(any: value)?.fitted(to: type.kind)
    }

    /// Returns one value of a frozen realm. Any thread can call this.
    func frozenValue(_ access: TypeAccess, _ segment: Int, _ position: Int, _ column: Int) throws(Damage) -> Value {
        try access.table.segment(segment).storedColumn(column).value(at: position)
    }
}

extension Value {
    /// Returns each distinct value once, in ascending order, as sets store them.
    static func distinct(_ values: [Value]) -> [Value] {
        var found: [Value] = []
        for value in values.sorted(by: { Value.order($0, $1) < 0 }) where found.last.map({ Value.order($0, value) != 0 }) ?? true {
            found.append(value)
        }
        return found
    }
}
