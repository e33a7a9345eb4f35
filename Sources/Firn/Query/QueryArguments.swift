import FirnQuery
import FirnTable
import Foundation

// The arguments for `%@`, `%K` and `$0`.

extension _CollectionSource {
    func arguments(_ values: [Any?]) throws -> [Value] {
        let core = core
        return try QueryArguments { try $0.linked(for: core) }.values(values)
    }
}

/// Converts the arguments of one query.
struct QueryArguments {
    /// Returns the row that represents an object in the query.
    let rowID: (ObjectBase) throws -> Int64

    func values(_ values: [Any?]) throws -> [Value] {
        var found: [Value] = []
        for (i, value) in values.enumerated() { found.append(try argument(value, number: i)) }
        return found
    }

    /// Returns an argument as a stored value: objects as links with their type, collections as lists, key paths as their text.
    ///
    /// - Throws: `Realm.Error` of code `.invalidInput` if queries cannot compare with the argument.
    private func argument(_ value: Any?, number: Int) throws -> Value {
        switch unwrapped(value) {
        case nil: return .null
        case let object as ObjectBase: return Value(linkTo: object._typeName, try rowID(object))
        case let region as any GeoShaped: return region.shape.value
        case let keyPath as AnyKeyPath: return .string(KeyPathRecorder.path(keyPath, root: type(of: keyPath).rootType))
        case let collection as any _AnyCollection: return .list(try collection._untypedElements.map { try argument($0, number: number) })
        case let collection as any RealmCollection: return .list(try elements(of: collection, number))
        case let values as [Any?]: return .list(try values.map { try argument($0, number: number) })
        case let some?:
            if let value = Value(any: some) { return value }
            if let element = some as? any _Element { return element._stored(in: nil).value }
            if let sequence = some as? any Sequence { return .list(try list(sequence, number)) }
            throw Realm.Error(
                .invalidInput,
                "argument $\(number) is a \(Swift.type(of: some)): queries compare with values, objects and collections of these only")
        }
    }

    private func elements(of collection: some RealmCollection, _ number: Int) throws -> [Value] {
        try collection.map { try argument($0 as Any?, number: number) }
    }

    private func list(_ sequence: some Sequence, _ number: Int) throws -> [Value] {
        try sequence.map { try argument($0 as Any?, number: number) }
    }
}
