import FirnBytes
import FirnTable

/// The columns of each type that matter to one observer: key paths, resolved in a schema.
///
/// A path names a column of the root type, or continues through a column of links (single, list, set, map) or of embedded objects to a
/// column of their type: `toys.brand`. Every column of the path matters: `toys.brand` means the list and the brands, `toys` only the list.
/// `*` stands for every column at its position. A path can also follow a named inverse backwards: then the rows that link to a row matter,
/// and the columns of these rows that the path names.
package struct KeyPathFilter: Sendable {
    /// The number of links that are followed if no key paths are given.
    package static let depth = 4

    /// A type at one position of the paths.
    struct Node: Sendable {
        let type: Int
        /// The columns that matter themselves.
        var columns: Bits
        /// Whether a column that a later schema has removed matters too.
        var isWhole: Bool
        /// The columns that are followed, with the node of the rows that they link to.
        var edges: [Edge] = []
    }

    struct Edge: Sendable {
        let column: Int
        let node: Int
        /// Whether the column belongs to the other type, and links from its rows to those of this type.
        var isInverse = false
    }

    /// A name for the rows of `typeName` that link to a row through `column`.
    package struct Inverse: Sendable, Hashable {
        package var name: String
        package var typeName: String
        package var column: String

        package init(_ name: String, type typeName: String, column: String) {
            self.name = name
            self.typeName = typeName
            self.column = column
        }
    }

    package let schema: Schema
    /// Each node is after the nodes that it refers to; the last one is that of the root.
    let nodes: [Node]

    /// Resolves key paths. Nil means every column of the root, and of the rows that it links to over up to four links. An empty array means
    /// no column: only inserted and deleted rows count. Inverses matter only if a path names them. `codeNames` are, for each type, the names
    /// of columns by other names that paths can use for them.
    /// - Throws: `FirnError.usage` if a path names something that does not exist.
    package init(
        root: String, in schema: Schema, keyPaths: [String]?, inverses: [Inverse] = [], codeNames: [String: [String: String]] = [:]
    ) throws(FirnError) {
        guard let type = schema.types.firstIndex(where: { $0.name == root }) else {
            throw FirnError(.usage, "there is no type \"\(root)\"")
        }
        self.schema = schema
        var building = Resolution(schema, inverses, codeNames)
        if let keyPaths {
            let paths = keyPaths.map { path in
                KeyPath(whole: path, parts: path.split(separator: ".", omittingEmptySubsequences: false).map(String.init), next: 0)
            }
            _ = try building.node(type, paths)
        } else {
            _ = building.everything(type, links: Self.depth)
        }
        nodes = building.nodes
    }

    /// Returns a filter with every column of the root, and nothing of the rows that it links to.
    package static func shallow(root: String, in schema: Schema) throws(FirnError) -> KeyPathFilter {
        try KeyPathFilter(root: root, in: schema, keyPaths: ["*"])
    }

    /// The names of the types whose changes matter.
    package var types: Set<String> { Set(nodes.map { schema.types[$0.type].name }) }
}

/// A key path, and how far it has been resolved.
private struct KeyPath: Hashable {
    let whole: String
    let parts: [String]
    var next: Int

    var part: String { parts[next] }
    var isLast: Bool { next == parts.count - 1 }
    var rest: ArraySlice<String> { parts[next...] }
}

/// Makes nodes of key paths. Equal remaining paths at the same type share one node, so that wildcards do not multiply nodes.
private struct Resolution {
    struct NodeKey: Hashable {
        let type: Int
        let rests: Set<ArraySlice<String>>
    }

    let schema: Schema
    let inverses: [KeyPathFilter.Inverse]
    let codeNames: [String: [String: String]]
    var nodes: [KeyPathFilter.Node] = []
    private var known: [NodeKey: Int] = [:]
    private var knownWhole: [[Int]: Int] = [:]

    init(_ schema: Schema, _ inverses: [KeyPathFilter.Inverse], _ codeNames: [String: [String: String]]) {
        self.schema = schema
        self.inverses = inverses
        self.codeNames = codeNames
    }

    private func column(_ name: String, of type: TypeSchema) -> Int? {
        type.index(of: name) ?? codeNames[type.name]?[name].flatMap { type.index(of: $0) }
    }

    private func target(_ column: ColumnSchema) -> Int? {
        guard column.type.kind == .link || column.type.kind == .embedded, let name = column.type.target else { return nil }
        return schema.types.firstIndex { $0.name == name }
    }

    /// Returns the type and the column of an inverse of a type.
    private func inverse(_ name: String, of type: Int) -> (type: Int, column: Int)? {
        for inverse in inverses where inverse.name == name {
            guard let source = schema.types.firstIndex(where: { $0.name == inverse.typeName }),
                let column = schema.types[source].index(of: inverse.column), target(schema.types[source].columns[column]) == type
            else { continue }
            return (source, column)
        }
        return nil
    }

    mutating func node(_ type: Int, _ paths: [KeyPath]) throws(FirnError) -> Int {
        let key = NodeKey(type: type, rests: Set(paths.map(\.rest)))
        if let node = known[key] { return node }
        let schema = schema.types[type]
        var node = KeyPathFilter.Node(type: type, columns: Bits(count: schema.columns.count), isWhole: false)
        var following: [Int: [KeyPath]] = [:], leadingHere: [[Int]: [KeyPath]] = [:]
        for path in paths {
            if path.part == "*", path.isLast {
                node.columns = Bits(repeating: true, count: schema.columns.count)
                node.isWhole = true
                continue
            }
            if column(path.part, of: schema) == nil, let (source, column) = inverse(path.part, of: type) {
                var next = path
                next.next += 1
                leadingHere[[source, column], default: []] += path.isLast ? [] : [next]
                continue
            }
            let columns = path.part == "*" ? Array(schema.columns.indices) : column(path.part, of: schema).map { [$0] } ?? []
            var next = path
            next.next += 1
            var leads = false
            for column in columns {
                if path.isLast {
                    node.columns[column] = true
                    leads = true
                } else if let target = target(schema.columns[column]), path.part != "*" || canGoOn(next, at: target) {
                    node.columns[column] = true
                    following[column, default: []].append(next)
                    leads = true
                }
            }
            if !leads { throw refusal(path, schema, isThere: !columns.isEmpty && path.part != "*") }
        }
        for (column, paths) in following.sorted(by: { $0.key < $1.key }) {
            node.edges.append(.init(column: column, node: try self.node(target(schema.columns[column])!, paths)))
        }
        for (source, paths) in leadingHere.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            node.edges.append(.init(column: source[1], node: try self.node(source[0], paths), isInverse: true))
        }
        nodes.append(node)
        known[key] = nodes.count - 1
        return nodes.count - 1
    }

    /// Whether a type that a wildcard leads to has the next part of the path.
    private func canGoOn(_ path: KeyPath, at type: Int) -> Bool {
        let columns = schema.types[type].columns, own = column(path.part, of: schema.types[type])
        let isColumn = path.part == "*" || own != nil
        var next = path
        next.next += 1
        if !isColumn { return inverse(path.part, of: type).map { path.isLast || canGoOn(next, at: $0.type) } ?? false }
        if path.isLast { return true }
        return columns.indices.contains { column in
            (path.part == "*" || column == own) && target(columns[column]).map { canGoOn(next, at: $0) } ?? false
        }
    }

    private func refusal(_ path: KeyPath, _ type: TypeSchema, isThere: Bool) -> FirnError {
        if isThere {
            return FirnError(
                .usage, "Property '\(path.part)' in KeyPath '\(path.whole)' does not lead to objects, so nothing can follow it.",
                advice: "end the key path there, or name a property that holds objects")
        }
        return FirnError(
            .usage, "Property '\(path.part)' in KeyPath '\(path.whole)' is not a valid property in \(type.name).",
            advice: "the properties are: " + type.columns.map(\.name).listed())
    }

    mutating func everything(_ type: Int, links: Int) -> Int {
        if let node = knownWhole[[type, links]] { return node }
        let columns = schema.types[type].columns
        var node = KeyPathFilter.Node(type: type, columns: Bits(repeating: true, count: columns.count), isWhole: true)
        if links > 0 {
            for (i, column) in columns.enumerated() {
                if let target = target(column) { node.edges.append(.init(column: i, node: everything(target, links: links - 1))) }
            }
        }
        nodes.append(node)
        knownWhole[[type, links]] = nodes.count - 1
        return nodes.count - 1
    }
}
