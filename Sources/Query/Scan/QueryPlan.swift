import FirnBytes
import FirnTable

/// A request bound to a table: all names, types and arguments have been checked. Shared by all threads.
struct QueryPlan: Sendable {
    var slots: SlotTable
    var textTests: Int
    var filter: PredicateNode
    var descriptors: [Descriptor]
    /// The keys that descriptors use, each once.
    var keys: [Key]
    /// The columns of the result; empty for grouped queries.
    var selected: [Operand]
    var columns: [ColumnSchema]
    var group: GroupPlan?

    /// Returns the name of a key in errors.
    func name(ofKey index: Int) -> String {
        switch keys[index] {
        case .value(let path), .absence(let path): "\(path.syntax)"
        }
    }

    enum Descriptor: Sendable {
        case sort([(key: Int, ascending: Bool)])
        /// Keeps the first row for each combination of the keys. Rows whose `required` keys are absent objects are dropped.
        case distinct([Int], required: [Int])
        case limit(Int), offset(Int)
    }

    enum Key: Sendable {
        case value(BoundPath)
        /// 0 if the object (embedded or linked to) exists, 1 if it does not: absent objects sort last.
        case absence(BoundPath)

        var type: ColumnType {
            switch self {
            case .value(let path): path.type
            case .absence: ColumnType(.int)
            }
        }
    }

    init(_ request: QueryRequest, _ table: any Table) throws(QueryError) {
        var binder = Binder(table, arguments: request.arguments, names: request.names)
        binder.acceptsNumbersAsBooleans = request.acceptsNumbersAsBooleans
        var syntax = QuerySyntax(.constant(true))
        if let parsed = request.parsed {
            syntax = parsed
            binder.text = request.filter ?? ""
        } else if let filter = request.filter {
            syntax = try Parser.query(filter)
            binder.text = filter
        }
        filter = try binder.predicate(syntax.predicate)
        for (number, node) in filter.conjunctions.enumerated() { node.number = number }
        keys = []
        descriptors = []
        let used = request.isGrouped ? QueryPlan.choosing(syntax.descriptors) : syntax.descriptors.count
        for descriptor in syntax.descriptors[..<used] { try QueryPlan.add(descriptor, &descriptors, &keys, &binder) }
        var unused = (descriptors: descriptors, keys: keys, binder: binder)
        for descriptor in syntax.descriptors[used...] { try QueryPlan.add(descriptor, &unused.descriptors, &unused.keys, &unused.binder) }
        // The other paths of the request have texts of their own.
        binder.text = ""
        selected = []
        columns = []
        if request.isGrouped {
            let plan = try GroupPlan(request, &binder)
            columns = plan.columns
            group = plan
        } else {
            try QueryPlan.addRequest(request, &descriptors, &keys, &binder)
            if request.select.isEmpty {
                for i in request.includesCompanions ? Array(table.type.columns.indices) : table.type.visibleColumns {
                    let column = table.type.columns[i]
                    selected.append(
                        .path(
                            BoundPath(
                                slot: binder.slots.slot([i], column.type), steps: [], type: column.type, isMany: false,
                                syntax: PathSyntax([.name(column.name)]), isPrimitiveCollection: column.type.isCollection)))
                    columns.append(column)
                }
            }
            for text in request.select {
                let (path, column) = try QueryPlan.selected(text, &binder, id: columns.count)
                selected.append(.path(path))
                columns.append(column)
            }
        }
        slots = binder.slots
        textTests = binder.textTests
    }

    /// Returns the number of descriptors that change groups. Rows are added to groups in the order of the table, so sorting matters only if
    /// a later descriptor chooses rows; the sorts after the last one are checked, and nothing else.
    private static func choosing(_ descriptors: [DescriptorSyntax]) -> Int {
        let last = descriptors.lastIndex { if case .sort = $0 { false } else { true } }
        return last.map { $0 + 1 } ?? 0
    }

    /// Returns a path of the result, and its column.
    private static func selected(_ text: String, _ binder: inout Binder, id: Int) throws(QueryError) -> (BoundPath, ColumnSchema) {
        binder.text = text
        var path = try binder.bind(try binder.path(text))
        var column = path.schema(text, id: id)
        if case .name(let name, _)? = (try binder.path(text)).steps.first, path.steps.isEmpty, !path.isMany,
            let known = binder.column(name), (try binder.path(text)).steps.count == 1
        {
            column = binder.type.columns[known]
        } else if path.isMany, path.steps == [.enter] {
            path.steps = []
            path.type = binder.slots.types[path.slot]
            path.isMany = false
            column.type = path.type
        } else if path.isMany {
            // Lists of lists are concatenated.
            path = try binder.entered(path, at: 0)
            column.type = ColumnType(path.type.kind, collection: .list, elementOptional: true, target: path.type.target)
        }
        return (path, column)
    }

    static func addRequest(_ request: QueryRequest, _ descriptors: inout [Descriptor], _ keys: inout [Key], _ binder: inout Binder)
        throws(QueryError)
    {
        if !request.sort.isEmpty {
            var sort: [SortKeySyntax] = []
            for key in request.sort { sort.append(SortKeySyntax(try binder.path(key.path), ascending: key.ascending)) }
            try add(.sort(sort), &descriptors, &keys, &binder)
        }
        if !request.distinct.isEmpty {
            var paths: [PathSyntax] = []
            for path in request.distinct { paths.append(try binder.path(path)) }
            try add(.distinct(paths), &descriptors, &keys, &binder)
        }
        if request.offset > 0 { descriptors.append(.offset(request.offset)) }
        if let limit = request.limit { descriptors.append(.limit(max(0, limit))) }
    }

    private static func add(_ descriptor: DescriptorSyntax, _ descriptors: inout [Descriptor], _ keys: inout [Key], _ binder: inout Binder)
        throws(QueryError)
    {
        switch descriptor {
        case .limit(let count): descriptors.append(.limit(count))
        case .offset(let count): descriptors.append(.offset(count))
        case .sort(let list):
            var sort: [(key: Int, ascending: Bool)] = [], seen: Set<PathSyntax> = []
            // A path that is named again changes nothing, but its values would be kept again.
            for item in list where seen.insert(item.path).inserted {
                if let absence = try absence(item.path, &keys, &binder) { sort.append((absence, item.ascending)) }
                keys.append(.value(try binder.sortKey(item.path)))
                sort.append((keys.count - 1, item.ascending))
            }
            descriptors.append(.sort(sort))
        case .distinct(let list):
            var values: [Int] = [], required: [Int] = [], seen: Set<PathSyntax> = []
            for path in list where seen.insert(path).inserted {
                if let absence = try absence(path, &keys, &binder) { required.append(absence) }
                keys.append(.value(try binder.scalar(path, for: "DISTINCT")))
                values.append(keys.count - 1)
            }
            descriptors.append(.distinct(values, required: required))
        }
    }

    /// For a path through an object that may be absent, adds the key that records the absence, and returns its index.
    private static func absence(_ path: PathSyntax, _ keys: inout [Key], _ binder: inout Binder) throws(QueryError) -> Int? {
        guard path.steps.count > 1, case .name? = path.steps.last else { return nil }
        var parent = path
        parent.steps.removeLast()
        if case .name(let name, _) = parent.steps[0], parent.steps.count == 1, name.lowercased() == "self" { return nil }
        guard let bound = try? binder.bind(parent), !bound.type.isCollection, !bound.isMany else { return nil }
        guard bound.type.kind == .link || bound.type.kind == .embedded && bound.type.isOptional else { return nil }
        keys.append(.absence(binder.resolved(bound)))
        return keys.count - 1
    }
}

extension Binder {
    /// Parses a path of a request. The whole name of a column is accepted even if it does not parse as a path.
    func path(_ text: String) throws(QueryError) -> PathSyntax {
        if column(text) != nil { return PathSyntax([.name(text)]) }
        return try Parser.path(text)
    }
}
