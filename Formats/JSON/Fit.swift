import CSimdJSON
import FirnBytes
import FirnExchange
import FirnTable

/// Checks whether values of tapes fit the requested columns. Only one thread at a time may use it, for the tapes of one parser.
final class Fit {
    /// A value that does not fit: its item, and the reason.
    struct Misfit {
        var item: Int
        var message: String
    }

    /// A column, the elements of a column, or the row itself.
    private final class Node {
        let plan: ColumnPlan
        let isOptional: Bool
        let path: String
        let fields: [Node]
        let element: Node?
        let positionByName: [[UInt8]: Int]
        var positionByKey: [UInt32: Int] = [:]
        /// The position of the value of each field of the current object; -1 if it has none.
        var items: [Int]
        /// The number of texts that would be written differently.
        var respelled = 0

        init(_ plan: ColumnPlan, isOptional: Bool, path: String) {
            self.plan = plan
            self.isOptional = isOptional
            self.path = path
            element = plan.element.map { Node($0, isOptional: plan.type.elementIsOptional, path: path) }
            fields = plan.fields.map { Node($0.plan, isOptional: $0.isOptional, path: path.isEmpty ? $0.column : path + "." + $0.column) }
            positionByName = Dictionary(plan.fields.enumerated().map { ($1.name, $0) }) { first, _ in first }
            items = [Int](repeating: -1, count: plan.fields.count)
        }

        var all: [Node] { [self] + fields.flatMap(\.all) + (element?.all ?? []) }
    }

    private let root: Node
    private let isBare: Bool
    private let rowsName: String
    private let values: TapeValues
    private let keepsSpelling: Bool
    /// A column for each text of the current row that would be written differently; they are counted only if the row is accepted.
    private var respelledHere: [Node] = []
    /// The number of rows, once it is known; links must be less.
    var rowLimit = Int64.max

    init(_ parser: JSONParser, _ given: GivenRows, isBare: Bool, keepsSpelling: Bool) {
        values = TapeValues(parser)
        self.isBare = isBare
        self.keepsSpelling = keepsSpelling
        rowsName = given.type.name
        root =
            isBare
            ? Node(given.fields[0].plan, isOptional: given.fields[0].isOptional, path: given.fields[0].column)
            : Node(ColumnPlan(ColumnType(.embedded, target: rowsName), fields: given.fields), isOptional: false, path: "")
    }

    func forgetKeys() { for node in root.all { node.positionByKey = [:] } }

    /// The number of texts that are written differently, by column.
    var respelled: [(path: String, count: Int)] { root.all.map { ($0.path, $0.respelled) } }

    /// Returns the first value of a row that does not fit; nil if all fit.
    func misfit(_ items: UnsafePointer<firn_json_item>, _ index: Int) -> Misfit? {
        respelledHere.removeAll(keepingCapacity: true)
        if let misfit = check(items, index, root) { return misfit }
        for node in respelledHere { node.respelled += 1 }
        return nil
    }

    private func check(_ items: UnsafePointer<firn_json_item>, _ index: Int, _ node: Node) -> Misfit? {
        let item = items[index], type = node.plan.type
        if item.tag == TapeTag.null { return node.isOptional || type.kind == .any && !type.isCollection ? nil : misfit(items, index, node) }
        switch type.collection {
        case .none: return type.kind == .embedded ? check(object: items, index, node) : check(scalar: items, index, node)
        case .list, .set:
            guard item.tag == TapeTag.array else { return misfit(items, index, node) }
            if let misfit = check(inside: items, index, node) { return misfit }
            return type.collection == .set ? twice(items, index, node) : nil
        case .map:
            guard item.tag == TapeTag.object else { return misfit(items, index, node) }
            return check(inside: items, index, node)
        }
    }

    private func check(inside items: UnsafePointer<firn_json_item>, _ index: Int, _ node: Node) -> Misfit? {
        var item = index + 1
        for _ in 0..<Int(items[index].size) {
            if let misfit = check(items, item, node.element!) { return misfit }
            item += items[item].step
        }
        return nil
    }

    private func check(object items: UnsafePointer<firn_json_item>, _ index: Int, _ node: Node) -> Misfit? {
        if node.plan.isBare { return check(items, index, node.fields[0]) }
        guard items[index].tag == TapeTag.object else { return misfit(items, index, node) }
        for position in node.items.indices { node.items[position] = -1 }
        var item = index + 1
        for _ in 0..<Int(items[index].size) {
            if let position = position(of: items[item].key, node) {
                node.items[position] = item
            } else if node !== root {
                return Misfit(
                    item: item,
                    message: "the schema's type \"\(node.plan.type.target ?? "")\" has no \"\(values.parser.keyText(items[item].key))\"")
            }
            item += items[item].step
        }
        for (position, field) in node.fields.enumerated() {
            let at = node.items[position]
            if at >= 0 {
                if let misfit = check(items, at, field) { return misfit }
            } else if !field.isOptional, field.plan.type.kind != .any || field.plan.type.isCollection {
                return Misfit(item: index, message: "the member for column \"\(field.path)\" is missing: expected \(words(field))")
            }
        }
        return nil
    }

    private func position(of key: UInt32, _ node: Node) -> Int? {
        if let position = node.positionByKey[key] { return position < 0 ? nil : position }
        let position = node.positionByName[Array(values.parser.key(key))]
        node.positionByKey[key] = position ?? -1
        return position
    }

    private func check(scalar items: UnsafePointer<firn_json_item>, _ index: Int, _ node: Node) -> Misfit? {
        let item = items[index]
        let fits: Bool
        switch node.plan.type.kind {
        case .bool: fits = item.tag == TapeTag.yes || item.tag == TapeTag.no
        case .int: fits = TapeScalar.int(item) != nil
        case .float:
            guard let float = TapeScalar.float(item) else { return misfit(items, index, node) }
            guard Double(float.description) != TapeScalar.double(item) else { return nil }
            guard keepsSpelling else {
                respelledHere.append(node)
                return nil
            }
            return Misfit(item: index, message: "\(Fit.found(item)) would be written back as \(float) (column \"\(node.path)\")")
        case .double: fits = TapeScalar.double(item) != nil
        case .decimal: fits = TapeScalar.decimal(item) != nil
        case .string: fits = item.tag == TapeTag.string || node.plan.isJSON
        case .data: fits = TapeScalar.data(item) != nil
        case .date:
            guard let date = TapeScalar.date(item) else { return misfit(items, index, node) }
            return date.notation == node.plan.notation
                ? nil
                : respelled(items, index, node) { out in
                    out.append(date: date.seconds, date.nanoseconds, node.plan.notation)
                }
        case .uuid:
            guard let uuid = TapeScalar.uuid(item) else { return misfit(items, index, node) }
            let isUpper = node.plan.notation == .uuidUpper
            if let letters = IdentifierText.parseUUID(item.bytes)?.letters, letters == .none || (letters == .upper) == isUpper {
                return nil
            }
            return respelled(items, index, node) { out in out.append(uuid: uuid, upper: isUpper) }
        case .objectID:
            guard let id = TapeScalar.objectID(item) else { return misfit(items, index, node) }
            if !item.bytes.contains(where: { $0 < UInt8(ascii: "a") && $0 > UInt8(ascii: "9") }) { return nil }
            return respelled(items, index, node) { out in out.append(objectID: id) }
        case .link:
            guard let row = TapeScalar.int(item) else { return misfit(items, index, node) }
            let target = node.plan.type.target ?? ""
            if target != rowsName {
                return Misfit(
                    item: index, message: "a link to a row of \"\(target)\", and the input contains none (column \"\(node.path)\")")
            }
            if row >= 0, row < rowLimit { return nil }
            return Misfit(
                item: index,
                message:
                    "a link to row \(row), and the rows are counted from 0\(rowLimit == .max ? "" : " to \(rowLimit - 1)") (column \"\(node.path)\")"
            )
        case .any: return values.value(items, index) == nil ? Misfit(item: index, message: unfitAny(items, index)) : nil
        case .embedded: trap("objects are checked by check(object:)")
        }
        return fits ? nil : misfit(items, index, node)
    }

    private func unfitAny(_ items: UnsafePointer<firn_json_item>, _ index: Int) -> String {
        items[index].tag >= TapeTag.array && values.unfitNumber(items, index) == nil ? JSONReader.tooDeep : JSONReader.unfitNumber
    }

    /// Counts a text that would be written differently; with `keepsSpelling` it does not fit.
    private func respelled(_ items: UnsafePointer<firn_json_item>, _ index: Int, _ node: Node, _ write: (inout JSONBytes) -> Void)
        -> Misfit?
    {
        var out = JSONBytes()
        write(&out)
        if UnsafeRawBufferPointer(rebasing: out.bytes[1..<(out.count - 1)]).elementsEqual(items[index].bytes) { return nil }
        guard keepsSpelling else {
            respelledHere.append(node)
            return nil
        }
        return Misfit(item: index, message: "\(Fit.found(items[index])) would be written back as \(out.string) (column \"\(node.path)\")")
    }

    /// Returns a misfit for the second of two equal elements of a set.
    private func twice(_ items: UnsafePointer<firn_json_item>, _ index: Int, _ node: Node) -> Misfit? {
        let sorted = values.sortedElements(items, index, node.plan.type.kind)
        for (a, b) in zip(sorted, sorted.dropFirst()) where Value.order(a.value, b.value) == 0 {
            return Misfit(item: b.item, message: "\(Fit.found(items[b.item])) occurs twice in a set (column \"\(node.path)\")")
        }
        return nil
    }

    private func misfit(_ items: UnsafePointer<firn_json_item>, _ index: Int, _ node: Node) -> Misfit {
        let found = Fit.found(items[index]), kind = node.plan.type.kind,
            isNumber =
                items[index].tag == TapeTag.double || items[index].tag == TapeTag.int
                || items[index].tag == TapeTag.numberText
        if !node.plan.type.isCollection, isNumber, kind == .float || kind == .double || kind == .decimal {
            return Misfit(item: index, message: "the number \(found) does not fit into a \(kind.name) unchanged (column \"\(node.path)\")")
        }
        return Misfit(
            item: index, message: "expected \(words(node)), found \(found)" + (node.path.isEmpty ? "" : " (column \"\(node.path)\")"))
    }

    private func words(_ node: Node) -> String {
        switch node.plan.type.collection {
        case .list, .set: return "an array"
        case .map: return "an object"
        case .none: break
        }
        switch node.plan.type.kind {
        case .embedded: return "an object"
        case .data: return "bytes as base64"
        case .any: return "a value"
        default: return ColumnTypeName(kind: node.plan.type.kind).words
        }
    }

    /// Returns the text of a value for errors.
    static func found(_ item: firn_json_item) -> String {
        switch item.tag {
        case TapeTag.null: return "null"
        case TapeTag.no: return "false"
        case TapeTag.yes: return "true"
        case TapeTag.int: return "\(item.integer)"
        case TapeTag.double: return JSONBytes.plain(item.double)
        case TapeTag.numberText: return short(item.string)
        case TapeTag.string: return "\"\(short(item.string))\""
        case TapeTag.array: return "an array"
        default: return "an object"
        }
    }

    private static func short(_ text: String) -> String { text.count > 60 ? text.prefix(60) + "…" : text }
}
