import CSimdJSON
import FirnBytes
import FirnExchange
import FirnModel

/// Moves values from tapes into the builders of one row type.
final class RowBuilder: @unchecked Sendable {
    /// Why a value did not go in.
    enum Fault {
        /// Not what the first reading saw.
        case changed
        case tooDeep
    }

    private let parser: JSONParser
    private let fields: [Plan.Field]
    /// The row as an embedded object; or, if rows are bare values, its only field.
    private let row: ColumnBuilder.Node
    private let isBare: Bool
    private(set) var fault: Fault?
    private var scratch: [Int] = []

    init(_ parser: JSONParser, fields: [Plan.Field], isBare: Bool) {
        self.parser = parser
        self.fields = fields
        self.isBare = isBare
        row = isBare ? ColumnBuilder.make(fields[0].plan) : ColumnBuilder.make(Plan(ColumnType(.embedded), fields: fields))
    }

    deinit { ColumnBuilder.free(row) }

    func forgetKeys() { ColumnBuilder.forgetKeys(row) }

    /// Takes one value as a row.
    func append(_ items: UnsafePointer<firn_json_item>, _ index: Int) {
        if items[index].tag == Tag.null { appendNull(row) } else { append(items, index, row) }
    }

    /// The rows taken since the last call.
    func take() -> Batch {
        var columns = fields.map { $0.plan.column(optional: $0.isOptional) }
        let count = row.pointee.count
        if isBare {
            ColumnBuilder.move(row, into: &columns[0])
        } else {
            for index in columns.indices { ColumnBuilder.move(row.pointee.children[index], into: &columns[index]) }
        }
        ColumnBuilder.reset(row)
        return Batch(count: count, columns: columns)
    }

    // MARK: One value

    private func appendNull(_ node: ColumnBuilder.Node) {
        node.pointee.nulls.append(node.pointee.count)
        node.pointee.count &+= 1
        if node.pointee.collection != .none {
            let end = node.pointee.offsets.base[node.pointee.offsets.count &- 1]
            node.pointee.offsets.append(end)
            return
        }
        switch node.pointee.kind {
        case .bool, .int: node.pointee.words.append(0)
        case .date, .decimal, .uuid:
            node.pointee.words.append(0)
            node.pointee.extra.append(0)
        case .double: node.pointee.reals.append(0)
        case .string: node.pointee.offsets.append(node.pointee.bytes.count)
        case .any: pushAny(node, AnyTag.null)
        case .embedded: for child in node.pointee.children { appendNull(child) }
        default: fault = .changed
        }
    }

    private func append(_ items: UnsafePointer<firn_json_item>, _ index: Int, _ node: ColumnBuilder.Node) {
        let item = items[index], tag = item.tag
        switch node.pointee.collection {
        case .none: break
        case .map:
            guard tag == Tag.object else { return fail(node) }
            return appendMap(items, index, node)
        default:
            guard tag == Tag.array else { return fail(node) }
            return appendList(items, index, node)
        }
        switch node.pointee.kind {
        case .string:
            guard tag == Tag.string else { return fail(node) }
            appendText(item.bytes, node)
        case .int:
            guard tag == Tag.int else { return fail(node) }
            node.pointee.words.append(item.integer)
        case .double:
            if tag == Tag.double { node.pointee.reals.append(item.double) } else if tag == Tag.int { node.pointee.reals.append(Double(item.integer)) } else { return fail(node) }
        case .bool:
            guard tag == Tag.yes || tag == Tag.no else { return fail(node) }
            node.pointee.words.append(tag == Tag.yes ? 1 : 0)
        case .embedded:
            guard tag == Tag.object else { return fail(node) }
            return appendObject(items, index, node)
        case .any: return appendAny(items, index, node)
        case .date:
            guard tag == Tag.string, let date = DateText.parse(item.bytes) else { return fail(node) }
            node.pointee.words.append(date.seconds)
            node.pointee.extra.append(date.nanoseconds)
        case .uuid:
            guard tag == Tag.string, let uuid = IdentifierText.parseUUID(item.bytes) else { return fail(node) }
            let pair = Column.pair(uuid: uuid.value)
            node.pointee.words.append(pair.0)
            node.pointee.extra.append(pair.1)
        case .decimal:
            guard let decimal = decimal(item) else { return fail(node) }
            let pair = Column.pair(decimal)
            node.pointee.words.append(pair.0)
            node.pointee.extra.append(pair.1)
        default: return fail(node)
        }
        node.pointee.count &+= 1
    }

    private func fail(_ node: ColumnBuilder.Node) {
        fault = .changed
        appendNull(node)
    }

    @inline(__always)
    private func appendText(_ bytes: UnsafeRawBufferPointer, _ node: ColumnBuilder.Node) {
        if let base = bytes.baseAddress { node.pointee.bytes.append(base.assumingMemoryBound(to: UInt8.self), bytes.count) }
        node.pointee.offsets.append(node.pointee.bytes.count)
    }

    private func decimal(_ item: firn_json_item) -> Decimal? {
        switch item.tag {
        case Tag.int: Decimal(item.integer)
        case Tag.double: Decimal("\(item.double)")
        case Tag.numberText: Decimal(item.string)
        default: nil
        }
    }

    private func appendList(_ items: UnsafePointer<firn_json_item>, _ index: Int, _ node: ColumnBuilder.Node) {
        let element = node.pointee.children[0]
        var item = index &+ 1
        for _ in 0..<Int(items[index].size) {
            if items[item].tag == Tag.null { appendNull(element) } else { append(items, item, element) }
            item &+= items[item].step
        }
        node.pointee.offsets.append(element.pointee.count)
        node.pointee.count &+= 1
    }

    private func appendMap(_ items: UnsafePointer<firn_json_item>, _ index: Int, _ node: ColumnBuilder.Node) {
        let keys = node.pointee.children[0], values = node.pointee.children[1]
        for item in sortedMembers(items, index) {
            appendText(parser.key(items[item].key), keys)
            keys.pointee.count &+= 1
            if items[item].tag == Tag.null { appendNull(values) } else { append(items, item, values) }
        }
        node.pointee.offsets.append(values.pointee.count)
        node.pointee.count &+= 1
    }

    private func appendObject(_ items: UnsafePointer<firn_json_item>, _ index: Int, _ node: ColumnBuilder.Node) {
        let fieldCount = node.pointee.children.count
        var item = index &+ 1, guess = 0
        // First where each field's value stands (of a key seen twice the last), then the fields in order.
        for _ in 0..<Int(items[index].size) {
            let key = items[item].key
            if guess >= fieldCount || node.pointee.keys[guess] != key { guess = field(key, node) }
            if guess >= 0 {
                node.pointee.slots[guess] = item
                guess &+= 1
            } else {
                fault = .changed
                guess = 0
            }
            item &+= items[item].step
        }
        node.pointee.count &+= 1
        for place in 0..<fieldCount {
            let at = node.pointee.slots[place], child = node.pointee.children[place]
            if at >= 0, items[at].tag != Tag.null { append(items, at, child) } else { appendNull(child) }
            node.pointee.slots[place] = -1
        }
    }

    @inline(never)
    private func field(_ key: UInt32, _ node: ColumnBuilder.Node) -> Int {
        if let place = node.pointee.lookup[key] { return place }
        guard let place = node.pointee.fieldsByName[Array(parser.key(key))] else { return -1 }
        node.pointee.lookup[key] = place
        node.pointee.keys[place] = key
        return place
    }

    /// The members of an object ascending by key, of each key the last.
    private func sortedMembers(_ items: UnsafePointer<firn_json_item>, _ index: Int) -> [Int] {
        var members: [Int] = []
        members.reserveCapacity(Int(items[index].size))
        var item = index &+ 1, isAscending = true
        for _ in 0..<Int(items[index].size) {
            if let last = members.last, !precedes(items[last].key, items[item].key) { isAscending = false }
            members.append(item)
            item &+= items[item].step
        }
        if isAscending { return members }
        members.sort { items[$0].key == items[$1].key ? $0 < $1 : precedes(items[$0].key, items[$1].key) }
        return members.indices.filter { $0 == members.count - 1 || items[members[$0]].key != items[members[$0 + 1]].key }.map { members[$0] }
    }

    private func precedes(_ a: UInt32, _ b: UInt32) -> Bool { parser.key(a).lexicographicallyPrecedes(parser.key(b)) }

    // MARK: Values of any kind

    private func pushAny(_ node: ColumnBuilder.Node, _ tag: UInt8, word: Int64 = 0, extra: Int64 = 0, real: Double = 0) {
        node.pointee.tags.append(tag)
        node.pointee.words.append(word)
        node.pointee.extra.append(extra)
        node.pointee.reals.append(real)
        node.pointee.offsets.append(node.pointee.bytes.count)
    }

    private func appendAny(_ items: UnsafePointer<firn_json_item>, _ index: Int, _ node: ColumnBuilder.Node) {
        let item = items[index]
        node.pointee.count &+= 1
        switch item.tag {
        case Tag.no, Tag.yes: pushAny(node, ScalarKind.bool.rawValue, word: item.tag == Tag.yes ? 1 : 0)
        case Tag.int: pushAny(node, ScalarKind.int.rawValue, word: item.integer)
        case Tag.double: pushAny(node, ScalarKind.double.rawValue, real: item.double)
        case Tag.numberText:
            let pair = Column.pair(decimal(item) ?? Decimal(Int64(0)))
            pushAny(node, ScalarKind.decimal.rawValue, word: pair.0, extra: pair.1)
        case Tag.string:
            if let base = item.bytes.baseAddress { node.pointee.bytes.append(base.assumingMemoryBound(to: UInt8.self), item.bytes.count) }
            pushAny(node, ScalarKind.string.rawValue)
        case Tag.array, Tag.object:
            let value = value(items, index, depth: 0)
            var writer = ByteWriter()
            value.encode(into: &writer)
            writer.bytes.withUnsafeBufferPointer { node.pointee.bytes.append($0.baseAddress!, $0.count) }
            pushAny(node, item.tag == Tag.array ? AnyTag.list : AnyTag.map)
        default: pushAny(node, AnyTag.null)
        }
    }

    /// One value of a tape by itself.
    private func value(_ items: UnsafePointer<firn_json_item>, _ index: Int, depth: Int) -> Value {
        let item = items[index]
        switch item.tag {
        case Tag.no: return .bool(false)
        case Tag.yes: return .bool(true)
        case Tag.int: return .int(item.integer)
        case Tag.double: return .double(item.double)
        case Tag.numberText: return .decimal(decimal(item) ?? Decimal(Int64(0)))
        case Tag.string: return .string(item.string)
        case Tag.array, Tag.object:
            // A value's bytes read back only so deep.
            guard depth < Value.deepest - 1 else {
                fault = .tooDeep
                return .null
            }
            if item.tag == Tag.object {
                return .map(sortedMembers(items, index).map { Value.Entry(parser.keyText(items[$0].key), value(items, $0, depth: depth + 1)) })
            }
            var values: [Value] = [], at = index &+ 1
            values.reserveCapacity(Int(item.size))
            for _ in 0..<Int(item.size) {
                values.append(value(items, at, depth: depth + 1))
                at &+= items[at].step
            }
            return .list(values)
        default: return .null
        }
    }
}
