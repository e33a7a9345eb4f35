import FirnBytes
import FirnQuery
import FirnTable
import Synchronization

// Filters as text and as typed queries. Both produce the same syntax tree.

extension RealmCollection {
    /// Returns the elements that match a predicate in Firn's query language (`docs/guide/query.md`). The results are live. `%@` is the next
    /// argument, `$0` the first, `%K` an argument that is a path. Arguments are values, nil, objects of the realm, key paths, and
    /// collections of these. Traps if the predicate is not valid for the elements, or does not use all arguments.
    public func filter(_ predicateFormat: String, _ args: Any?...) -> Results<Element> where Element: RealmFetchable {
        do {
            let found = try filtered(predicateFormat, args)
            let used = args.isEmpty ? 0 : try Parser.argumentCount(of: predicateFormat)
            trap(unless: used >= args.count, "\(args.count) arguments for \"\(predicateFormat)\", which uses only \(used)")
            return found
        } catch { trap("\(error)") }
    }

    /// Returns the same as `filter`, for untrusted predicates.
    ///
    /// - Throws: `Realm.Error` of code `.invalidInput` if the predicate is not valid; the message contains the position of the error.
    public func filtered(_ predicateFormat: String, _ args: [Any?] = []) throws -> Results<Element> where Element: RealmFetchable {
        let source = managedSource("filter")
        return Results(try source.filtered(predicateFormat, try source.arguments(args)))
    }

    /// Returns the elements that match a query: `dogs.where { $0.age > 3 && $0.owner.name == "Ada" }`. The results are live.
    public func `where`(_ isIncluded: (Query<Element>) -> Query<Bool>) -> Results<Element> where Element: RealmFetchable {
        let source = managedSource("where")
        let (syntax, arguments) = source.typed(isIncluded)
        return Results(source.appending(syntax, arguments))
    }

    /// Returns the index of the first element that matches a query; nil if there is none.
    public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? where Self: OrderedRealmCollection {
        self.requireOrder()
        let source = source
        if let tables = source.unmanagedTables {
            let context = QueryContext(nil) { tables.rowID(of: $0) ?? -1 }
            let syntax = QuerySyntax(isIncluded(Query(rootOf: source.shape, context)).condition)
            do { return try tables.firstIndex(syntax, context.arguments) } catch {
                trap("\(error) in \(syntax)")
            }
        }
        let (syntax, arguments) = source.typed(isIncluded)
        return source.firstIndex(syntax, arguments)
    }
}

extension MutableSet {
    /// Unavailable: a set has no positions. Use `contains(where:)` or `where { }`.
    @available(*, unavailable, message: "sets have no positions: use contains(where:) or where { }")
    public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? { trap("unavailable") }
}

extension _CollectionSource {
    /// Returns the elements that match a query as text, which is checked against the elements.
    func filtered(_ text: String, _ arguments: [Value]) throws -> _CollectionSource {
        do {
            let syntax = try Parser.query(text)
            // Checked as text, so that errors contain their position in it.
            try check(QueryRequest(filter: text, arguments: arguments, names: names, acceptsNumbersAsBooleans: true))
            return appending(syntax, arguments)
        } catch { throw Realm.Error(.invalidInput, error.description) }
    }

    /// Returns the syntax tree of a typed query, and its arguments.
    func typed<Element: RealmCollectionValue>(_ isIncluded: (Query<Element>) -> Query<Bool>) -> (QuerySyntax, [Value]) {
        let context = QueryContext(core)
        let syntax = QuerySyntax(isIncluded(Query(rootOf: shape, context)).condition)
        do { try check(QueryRequest(parsed: syntax, arguments: context.arguments, names: names)) } catch {
            trap("\(error) in \(syntax)")
        }
        return (syntax, context.arguments)
    }

    /// Binds a request, which reports its errors; no row is read.
    func check(_ request: QueryRequest) throws(QueryError) {
        let table: any Table =
            elementAccess?.table
            ?? MemoryTable(TypeSchema("self", columns: [ColumnSchema("self", shape.type)]), schema: Schema(), batches: [])
        _ = try QueryRun(request, table: table)
    }

    /// Returns the index of the first element that matches a query. Equal primitive elements either all match or none does, so the first of
    /// them is right.
    func firstIndex(_ syntax: QuerySyntax, _ arguments: [Value]) -> Int? {
        var syntax = syntax
        syntax.descriptors.append(.limit(1))
        let found = appending(syntax, arguments)
        guard found.count > 0 else { return nil }
        let value = found.value(0)
        if case .link(let rowID) = value, shape.target != nil { return index(ofRow: rowID) }
        return (0..<count).first { self.value($0) == value }
    }

    /// The names in code that paths can use.
    var names: PropertyNames { elementAccess?.names ?? PropertyNames() }
}

extension ClassSchema {
    private static let knownNames: Mutex<[ObjectIdentifier: PropertyNames]> = Mutex([:])

    /// The inverse links, and the properties with another name in the file, of the classes that a path can lead through.
    var names: PropertyNames {
        let id = ObjectIdentifier(objectClass)
        if let known = ClassSchema.knownNames.withLock({ $0[id] }) { return known }
        let found = reachableNames
        ClassSchema.knownNames.withLock { $0[id] = found }
        return found
    }

    private var reachableNames: PropertyNames {
        var found = PropertyNames()
        for schema in reachable() {
            for property in schema.properties {
                guard property.shape.isLinking else {
                    if property.codeName != property.name { found.columns[schema.name, default: [:]][property.codeName] = property.name }
                    continue
                }
                guard let target = property.shape.target, let origin = property.origin else { continue }
                let column = ClassSchema.of(target).schemaName(of: origin)
                for name in Set([property.name, property.codeName]) {
                    found.inverses.append(QueryRequest.Inverse(name, type: target.className(), column: column))
                }
            }
        }
        return found
    }
}

extension Query where T: ObjectBase {
    /// Returns the syntax tree of a query, built without a realm.
    static func tree(of isIncluded: (Query) -> Query<Bool>) -> QuerySyntax {
        QuerySyntax(isIncluded(Query(rootOf: T._elementShape, QueryContext(nil))).condition)
    }
}
