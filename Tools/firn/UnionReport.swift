import FirnBytes
import FirnCommandLine
import FirnExchange
import FirnTable

/// What a union of inputs changed: one line for the columns with the same change, and one for the order.
struct UnionReport {
    private(set) var lines: [String] = []

    init(_ union: InputUnion, _ type: TypeSchema, order: (count: Int, first: String?)) {
        let count = union.members.count
        func name(_ index: Int) -> String { union.members[index].name }
        var found = ColumnRemarks()
        for column in type.columns {
            guard let known = union.rows[column.name] else { continue }
            var parts: [String] = []
            if known.inputs < count {
                let inputs = known.first == 0 ? "" : ", first \(name(known.first))"
                parts.append("in \(Quantity.count(known.inputs)) of \(Quantity.count(count, "input"))\(inputs); null in the others")
            }
            let uses = known.uses.filter { $0.type.kind != column.type.kind || $0.type.collection != column.type.collection }
            if !uses.isEmpty {
                let advice = known.hasValuesInCommon && column.type.kind == .string ? "; --union values unites their values" : ""
                parts.append("\(Self.types(known.uses, name)); read as \(column.type.kind.name)\(advice)")
            } else if column.notation == .plain || NumberLayout(column.notation) != nil,
                known.uses.contains(where: { $0.notation != .plain }), known.isContested
            {
                parts.append("written in several notations; read as \(column.type.kind.name)")
            }
            if known.losesOriginals(column) {
                parts.append(column.type.kind == .any ? "its numbers keep no unusual spelling" : "its original texts were left out")
            }
            if count > 1 { parts += known.attributes.losses }
            if !parts.isEmpty { found.add(parts.joined(separator: "; "), of: column.name) }
        }
        lines = found.lines
        lines += (union.attributes.losses + union.rows.attributes.losses).map { "files: \($0)" }
        lines += Self.similar(type, name, union)
        if let first = order.first {
            lines.append("columns are in another order in \(Quantity.count(order.count, "input")) (first: \(first)), and united by name")
        }
    }

    /// `double in 2 (first a.csv), string in 1 (first c.csv)`: inputs whose columns differ only in their notation are counted together.
    private static func types(_ uses: [UnionColumn.Use], _ name: (Int) -> String) -> String {
        var order: [String] = [], counts: [String: (inputs: Int, first: Int)] = [:]
        for use in uses.sorted(by: { $0.first < $1.first }) {
            let label = use.type.kind == .embedded ? "object" : use.type.name
            if counts[label] == nil { order.append(label) }
            counts[label, default: (0, use.first)].inputs += use.inputs
        }
        return order.map { label in
            let (inputs, first) = counts[label] ?? (0, 0)
            return "\(label) in \(Quantity.count(inputs)) (first \(name(first)))"
        }.joined(separator: ", ")
    }

    /// Columns whose names differ only in case or white space. They stay separate.
    private static func similar(_ type: TypeSchema, _ name: (Int) -> String, _ union: InputUnion) -> [String] {
        var groups: [String: [UnionColumn]] = [:], lines: [String] = []
        for column in type.columns {
            guard let known = union.rows[column.name] else { continue }
            groups[column.name.lowercased().filter { !$0.isWhitespace }, default: []].append(known)
        }
        for column in type.columns {
            let folded = column.name.lowercased().filter { !$0.isWhitespace }
            guard let group = groups.removeValue(forKey: folded), group.count > 1, Set(group.map(\.first)).count > 1 else { continue }
            let names = group.map { "\"\($0.name)\" (first \(name($0.first)))" }
            lines.append("columns \(names.joined(separator: " and ")) differ only in case or white space, and stay separate columns")
        }
        return lines
    }
}

/// Remarks of columns: equal ones in one line, and all beyond a number of lines in one.
private struct ColumnRemarks {
    private var order: [String] = []
    private var names: [String: [String]] = [:]
    private static let maximumLines = 20, maximumNames = 5

    mutating func add(_ remark: String, of column: String) {
        if names[remark] == nil { order.append(remark) }
        names[remark, default: []].append(column)
    }

    var lines: [String] {
        var lines = order.prefix(Self.maximumLines).map { remark in "\(Self.list(names[remark] ?? [])): \(remark)" }
        let rest = order.dropFirst(Self.maximumLines).flatMap { names[$0] ?? [] }
        if !rest.isEmpty { lines.append("\(Self.list(rest)): not the same in all inputs") }
        return lines
    }

    private static func list(_ columns: [String]) -> String {
        let shown = columns.prefix(maximumNames).map { "\"\($0)\"" }.joined(separator: ", ")
        guard columns.count > 1 else { return "column \(shown)" }
        return "columns \(shown)" + (columns.count > maximumNames ? " and \(Quantity.count(columns.count - maximumNames)) more" : "")
    }
}

/// Remarks of several inputs: equal ones in one line.
struct RepeatedRemarks {
    private let isOne: Bool
    private var order: [String] = []
    private var counts: [String: (count: Int, first: String)] = [:]
    private var others = 0
    private static let maximumKinds = 100

    init(isOne: Bool) { self.isOne = isOne }

    mutating func add(_ remark: String, of input: String) {
        if let known = counts[remark] {
            counts[remark] = (known.count + 1, known.first)
        } else if order.count < Self.maximumKinds {
            order.append(remark)
            counts[remark] = (1, input)
        } else {
            others += 1
        }
    }

    var lines: [String] {
        if isOne { return order }
        var lines = order.map { remark in
            let (count, first) = counts[remark] ?? (0, "")
            return count == 1 ? "\(first): \(remark)" : "\(Quantity.count(count, "input")) (first \(first)): \(remark)"
        }
        if others > 0 { lines.append("\(Quantity.count(others)) more remarks on single inputs; convert these alone to see them") }
        return lines
    }
}

/// Why columns are text in some of several inputs: for each column the first reason, and in how many more inputs it is text.
struct RepeatedReasons {
    private var order: [String] = []
    private var reasons: [String: (first: String, others: Int)] = [:]

    mutating func add(_ reason: String, for column: String, of input: String) {
        if reasons[column] != nil {
            reasons[column]?.others += 1
        } else {
            order.append(column)
            reasons[column] = ("\(input): \(reason)", 0)
        }
    }

    var lines: [(column: String, reason: String)] {
        order.compactMap { column in
            reasons[column].map { (column, $0.first + ($0.others > 0 ? "; and in \(Quantity.count($0.others, "more input"))" : "")) }
        }
    }
}
