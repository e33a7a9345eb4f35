import FirnModel
import FirnQuery
import Synchronization

// Choosing elements by text and by typed queries: two ways to the same tree.

extension RealmCollection {
    /// Those elements that a predicate in Firn's query language holds for (`docs/guide/query.md`). `%@` stands for the next argument, `$0` for the first,
    /// `%K` for an argument that is a path. Arguments are values, nil, objects of the realm, key paths, and collections of them. The results are live.
    /// Traps if the predicate does not fit the elements.
    public func filter(_ predicateFormat: String, _ args: Any?...) -> Results<Element> where Element: RealmFetchable {
        do { return try filtered(predicateFormat, args) } catch { preconditionFailure("\(error)") }
    }

    /// As `filter`, for predicates from outside: throws `Realm.Error` of code `.invalidInput` that tells what is wrong and where.
    public func filtered(_ predicateFormat: String, _ args: [Any?] = []) throws -> Results<Element> where Element: RealmFetchable {
        let source = managedSource("filter")
        return Results(try source.filtered(predicateFormat, try source.arguments(args)))
    }

    /// Those elements that a query holds for: `` dogs.where { $0.age > 3 && $0.owner.name == "Ada" } ``. The results are live.
    public func `where`(_ isIncluded: (Query<Element>) -> Query<Bool>) -> Results<Element> where Element: RealmFetchable {
        let source = managedSource("where")
        let (syntax, arguments) = source.typed(isIncluded)
        return Results(source.appending(syntax, arguments))
    }

    /// Where the first element stands that a query holds for; nil if there is none.
    public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? where Self: OrderedRealmCollection {
        self.requireOrder()
        let source = source
        precondition(source.core != nil || source.shape.target == nil, "objects that belong to no realm are not searched by queries: use firstIndex(where:)")
        let (syntax, arguments) = source.typed(isIncluded)
        return source.firstIndex(syntax, arguments)
    }
}

extension MutableSet {
    @available(*, unavailable, message: "sets have no positions: use contains(where:) or where { }")
    public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? { fatalError("unavailable") }
}

extension _CollectionSource {
    /// A query by its text, checked against the elements.
    func filtered(_ text: String, _ arguments: [Value]) throws -> _CollectionSource {
        do throws(QueryError) {
            let syntax = try Parser.query(text)
            // Again from the text, so that errors have their place in it.
            try check(QueryRequest(filter: text, arguments: arguments, inverses: inverses))
            return appending(syntax, arguments)
        } catch { throw Realm.Error(.invalidInput, error.description) }
    }

    /// The tree that a typed query makes, and its arguments.
    func typed<Element: RealmCollectionValue>(_ isIncluded: (Query<Element>) -> Query<Bool>) -> (QuerySyntax, [Value]) {
        let context = QueryContext(core)
        let syntax = QuerySyntax(isIncluded(Query(rootOf: shape, context)).condition)
        do throws(QueryError) { try check(QueryRequest(parsed: syntax, arguments: context.arguments, inverses: inverses)) } catch {
            preconditionFailure("\(error) in \(syntax)")
        }
        return (syntax, context.arguments)
    }

    /// Binds a request, which tells all that is wrong with it; no row is read.
    func check(_ request: QueryRequest) throws(QueryError) {
        let table: any Table = elementAccess?.table
            ?? MemoryTable(TypeSchema("self", columns: [ColumnSchema("self", shape.type)]), schema: Schema(), batches: [])
        _ = try QueryRun(request, table: table)
    }

    /// Where the first element stands that a query holds for: equal elements are chosen alike.
    func firstIndex(_ syntax: QuerySyntax, _ arguments: [Value]) -> Int? {
        var syntax = syntax
        syntax.descriptors.append(.limit(1))
        let found = appending(syntax, arguments)
        guard found.count > 0 else { return nil }
        let value = found.value(0)
        if case .link(let rowID) = value, shape.target != nil { return index(ofRow: rowID) }
        return (0..<count).first { self.value($0) == value }
    }

    /// Inverse links of the classes that a path can come through, by name.
    var inverses: [QueryRequest.Inverse] { elementAccess?.schema?.inverses ?? [] }
}

extension ClassSchema {
    private static let knownInverses: Mutex<[ObjectIdentifier: [QueryRequest.Inverse]]> = Mutex([:])

    var inverses: [QueryRequest.Inverse] {
        let id = ObjectIdentifier(objectClass)
        if let known = ClassSchema.knownInverses.withLock({ $0[id] }) { return known }
        let found = reachableInverses
        ClassSchema.knownInverses.withLock { $0[id] = found }
        return found
    }

    private var reachableInverses: [QueryRequest.Inverse] {
        var found: [QueryRequest.Inverse] = []
        for schema in reachable() {
            for property in schema.properties where property.shape.isLinking {
                found.append(QueryRequest.Inverse(property.name, type: property.shape.target!.className(), column: property.origin!))
            }
        }
        return found
    }
}

extension Query where T: ObjectBase {
    /// The tree of a query, made without a realm.
    static func tree(of isIncluded: (Query) -> Query<Bool>) -> QuerySyntax {
        QuerySyntax(isIncluded(Query(rootOf: T._elementShape, QueryContext(nil))).condition)
    }
}
