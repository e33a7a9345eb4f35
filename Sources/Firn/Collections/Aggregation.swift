import FirnBytes
import FirnQuery
import FirnTable

/// Aggregates over all elements of a source. The query engine computes them: no object is created, and nulls are ignored.
extension _CollectionSource {
    /// Returns the aggregate of the property at `path`; null if there is no value. Traps if the function does not apply to the property's
    /// type.
    func figure(_ function: Aggregate.Function, _ path: String) -> Value {
        guard let core else { trap("aggregates of unmanaged elements are computed from their values") }
        core.check()
        if isInvalidated { return Value.figure(function, of: []) }
        core.flushCellsNotingErrors()
        let (table, query, arguments) = figured()
        return run(function, path, table, query, arguments)
    }

    /// Returns the aggregate of values that belong to no realm.
    func figure(_ function: Aggregate.Function, _ path: String, over values: [Value], _ type: ColumnType) -> Value {
        run(function, path, _CollectionSource.table(of: values, type), QuerySyntax(.constant(true)), [], column: "self")
    }

    private func run(
        _ function: Aggregate.Function, _ path: String, _ table: any Table, _ query: QuerySyntax, _ arguments: [Value],
        column: String? = nil
    ) -> Value {
        let found: QueryRun
        do {
            // The minimum of a column has the column's type, which decides whether `function` applies.
            let kind = try QueryRun(request(query, arguments, aggregates: [Aggregate(.min, column ?? path)]), table: table).columns[0].type
                .kind
            requireFigures(function, path, kind, table.type.name)
            found = try QueryRun(request(query, arguments, aggregates: [Aggregate(function, column ?? path)]), over: table)
        } catch { trap("Cannot compute the \(function.rawValue) of \"\(path)\": \(error)") }
        var value = Value.null
        do {
            try found.forEachBatch { batch in
                value = batch.columns[0].value(at: 0)
                return true
            }
        } catch {
            if error.code == .usage { trap("Cannot compute the \(function.rawValue) of \"\(path)\": \(error)") }
            core?.note(error)
        }
        return value
    }

    private func requireFigures(_ function: Aggregate.Function, _ path: String, _ kind: ScalarKind, _ type: String) {
        let isTaken =
            switch kind {
            case .int, .float, .double, .decimal, .any: true
            case .date: function == .min || function == .max
            default: false
            }
        trap(
            unless: isTaken,
            "\(function.rawValue): is not supported for \(kind.name) property \"\(type).\(path)\": it works on int, float, double, decimal128\(function == .min || function == .max ? ", date" : "") and any values only."
        )
    }
}

extension Value {
    /// The aggregate of no values: 0 for a sum or a count, null for all others.
    static func figure(_ function: Aggregate.Function, of nothing: [Value]) -> Value {
        function == .sum || function == .count ? .int(0) : .null
    }
}

extension RealmCollection {
    func figure(_ function: Aggregate.Function, _ path: String) -> Value {
        let source = source
        let objectClass = source.shape.target
        trap(
            unless: objectClass != nil || path == "self",
            "\(source.holdsSet ? "Sets" : "Collections") of \"\(source.shape.type.kind.name)\" can only be aggregated on \"self\"")
        if source.core != nil { return source.figure(function, path) }
        guard let objectClass else {
            return source.figure(function, path, over: (0..<source.count).map(source.value), source.shape.type)
        }
        var type =
            (objectClass == DynamicObject.self ? (first?._firnObject as? DynamicObject)?.valueType(path) : objectClass.valueType(path))
            ?? ColumnType(.any)
        type.isOptional = true
        return source.figure(function, path, over: map { Value(any: $0._firnObject?.value(forKeyPath: path)) ?? .null }, type)
    }

    /// Returns the minimum or maximum as a `T`; nil if there is no value. Traps if the result is not of that type.
    func extreme<T: _Element>(_ function: Aggregate.Function, _ path: String) -> T? {
        let value = figure(function, path)
        if value.isNull { return nil }
        guard let typed = T._element(_Stored(value)) ?? value.fitted(to: T._elementShape.type.kind).flatMap({ T._element(_Stored($0)) })
        else {
            trap(
                "the \(function.rawValue) of \"\(path)\" is \(value), which is not of type \(T.self): use the property's own type")
        }
        return typed
    }

    /// Returns the sum or average as a `T`; nil if there is no value. Traps if the result is not of that type.
    func total<T: _HasPersistedType & _Element>(_ function: Aggregate.Function, _ path: String) -> T? where T.PersistedType: AddableType {
        let value = figure(function, path)
        if value.isNull { return nil }
        let total = T.PersistedType._sum(_Stored(value))
        guard let typed = total as? T ?? T._elementFromUntyped(total) else {
            trap(
                "the \(function.rawValue) of \"\(path)\" is \(total), which is not of type \(T.self): use \(T.PersistedType.self)")
        }
        return typed
    }
}

extension ObjectBase {
    /// Returns the type of the property at the end of a path through links; nil if the path does not lead to a single value.
    static func valueType(_ path: String) -> ColumnType? {
        var objectClass: ObjectBase.Type = self
        let names = path.split(separator: ".").map(String.init)
        for (i, name) in names.enumerated() {
            let schema = ClassSchema.of(objectClass)
            guard let index = schema.index(of: name) else { trap("type \"\(schema.name)\" has no property \"\(name)\"") }
            let shape = schema.properties[index].shape
            if i == names.count - 1 { return shape.type.isCollection ? nil : shape.type }
            guard let target = shape.target, !shape.type.isCollection else { return nil }
            objectClass = target
        }
        return nil
    }
}
