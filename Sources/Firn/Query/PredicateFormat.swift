#if !canImport(ObjectiveC)
    import FirnBytes
    import FirnQuery
    import FirnTable
    import Foundation

    /// Gives `NSPredicate` the initializers that take text. Not for other types.
    public protocol _PredicateFormat {}
    extension NSPredicate: _PredicateFormat {}

    // In an extension of a protocol, because only there an initializer can return an object of a subclass.
    extension _PredicateFormat where Self: NSPredicate {
        /// Creates a predicate from text in Firn's query language (`docs/guide/query.md`), for collections of objects and for
        /// `NSCompoundPredicate`. Arguments are those of `filter(_:_:)`. The text is checked when the predicate filters.
        public init(format: String, _ args: Any?...) { self.init(format: format, argumentArray: args) }

        /// As above, with the arguments in an array.
        public init(format: String, argumentArray: [Any?]?) {
            guard let predicate = FormatPredicate(format, argumentArray ?? []) as? Self else {
                trap("subclasses of NSPredicate cannot be made from text: use NSPredicate(format:)")
            }
            self = predicate
        }
    }

    /// A predicate as text. Foundation has only blocks on Linux.
    private final class FormatPredicate: NSPredicate {
        let format: String
        let arguments: [Any?]

        init(_ format: String, _ arguments: [Any?]) {
            (self.format, self.arguments) = (format, arguments)
            super.init(value: true)
        }

        required init?(coder: NSCoder) { nil }

        override var predicateFormat: String { format }
        override func copy(with zone: NSZone? = nil) -> Any { self }

        /// Searches the type of a managed object, or the unmanaged object and those that it refers to.
        override func evaluate(with object: Any?) -> Bool {
            guard let object = object as? ObjectBase else {
                trap("a predicate from text is evaluated with objects only: filter a collection")
            }
            do {
                if let core = object._core {
                    return try Realm(core).dynamicObjects(object._typeName).filtered(format, arguments).source.rowIDs().contains(
                        object._rowID)
                }
                let tables = UnmanagedTables([object], of: Swift.type(of: object))
                let values = try QueryArguments { tables.rowID(of: $0) ?? QuerySyntax.unmanagedRow }.values(arguments)
                return try tables.firstIndex(Parser.query(format), values) != nil
            } catch { trap("\(error) in \"\(format)\"") }
        }
    }
#else
    import FirnQuery
    import FirnTable
    import Foundation
#endif

extension NSPredicate {
    /// Returns the predicate as a query on the elements of a source, with its arguments; nil if a part of it is a block.
    /// - Throws: `Realm.Error` of code `.invalidInput` if text in it is not valid for the elements.
    func query(on source: _CollectionSource) throws -> (syntax: PredicateSyntax, arguments: [Value])? {
        #if !canImport(ObjectiveC)
            if let text = self as? FormatPredicate {
                let arguments = try source.arguments(text.arguments)
                do throws(QueryError) {
                    let syntax = try Parser.query(text.format)
                    // Checked as text, so that errors contain their position in it.
                    try source.check(
                        QueryRequest(filter: text.format, arguments: arguments, names: source.names, acceptsNumbersAsBooleans: true))
                    guard syntax.descriptors.isEmpty else {
                        throw QueryError(
                            .binding, "SORT, DISTINCT and LIMIT are not allowed in an NSPredicate", at: 0, expected: "filter(_:)")
                    }
                    return (syntax.predicate, arguments)
                } catch { throw Realm.Error(.invalidInput, error.description) }
            }
        #endif
        guard let compound = self as? NSCompoundPredicate else {
            return ["TRUEPREDICATE": true, "FALSEPREDICATE": false][predicateFormat].map { (.constant($0), []) }
        }
        var parts: [PredicateSyntax] = [], arguments: [Value] = []
        for part in compound.subpredicates {
            guard let (syntax, more) = try (part as? NSPredicate)?.query(on: source) else { return nil }
            parts.append(syntax.shifted(by: arguments.count))
            arguments += more
        }
        switch compound.compoundPredicateType {
        case .not: return parts.first.map { (.not($0), arguments) }
        case .and: return (parts.isEmpty ? .constant(true) : .and(parts), arguments)
        case .or: return (parts.isEmpty ? .constant(false) : .or(parts), arguments)
        @unknown default: return nil
        }
    }
}
