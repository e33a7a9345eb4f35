import CSimdJSON
import FirnBytes
import FirnTable

/// Converts single values of a parser's tapes to `Value`, for columns of type any and for elements of sets.
struct TapeValues {
    let parser: JSONParser

    init(_ parser: JSONParser) { self.parser = parser }

    /// Returns nil if the value nests deeper than can be read back, or contains a number that a decimal cannot store.
    func value(_ items: UnsafePointer<firn_json_item>, _ index: Int, depth: Int = 0) -> Value? {
        let item = items[index]
        switch item.tag {
        case TapeTag.no: return .bool(false)
        case TapeTag.yes: return .bool(true)
        case TapeTag.int: return .int(item.integer)
        case TapeTag.double: return .double(item.double)
        case TapeTag.numberText: return TapeScalar.decimal(item).map { .decimal($0) }
        case TapeTag.string: return .string(item.string)
        case TapeTag.array, TapeTag.object:
            guard depth < Value.maximumDepth - 1 else { return nil }
            if item.tag == TapeTag.object {
                var entries: [Value.Entry] = []
                for member in sortedMembers(items, index) {
                    guard let value = value(items, member, depth: depth + 1) else { return nil }
                    entries.append(.init(parser.keyText(items[member].key), value))
                }
                return .map(entries)
            }
            var values: [Value] = [], at = index &+ 1
            values.reserveCapacity(Int(item.size))
            for _ in 0..<Int(item.size) {
                guard let value = value(items, at, depth: depth + 1) else { return nil }
                values.append(value)
                at &+= items[at].step
            }
            return .list(values)
        default: return .null
        }
    }

    /// Returns the members of an object in ascending order of keys; of a repeated key, the last one.
    func sortedMembers(_ items: UnsafePointer<firn_json_item>, _ index: Int) -> [Int] {
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
        return members.indices.filter { $0 == members.count - 1 || items[members[$0]].key != items[members[$0 + 1]].key }.map {
            members[$0]
        }
    }

    private func precedes(_ a: UInt32, _ b: UInt32) -> Bool { parser.key(a).lexicographicallyPrecedes(parser.key(b)) }

    /// Returns the elements of an array in the order of a set of the kind; equal elements are in the order of the text.
    func sortedElements(_ items: UnsafePointer<firn_json_item>, _ index: Int, _ kind: ScalarKind) -> [(item: Int, value: Value)] {
        var elements: [(item: Int, value: Value)] = [], item = index + 1
        for _ in 0..<Int(items[index].size) {
            let value = kind == .any ? value(items, item) : TapeScalar.value(items[item], kind)
            elements.append((item, value ?? .null))
            item += items[item].step
        }
        return elements.sorted { a, b in
            let order = Value.order(a.value, b.value)
            return order == 0 ? a.item < b.item : order < 0
        }
    }

    /// Returns the first number within a value that a decimal cannot store.
    func unfitNumber(_ items: UnsafePointer<firn_json_item>, _ index: Int) -> Int? {
        (index..<(index + items[index].step)).first { items[$0].tag == TapeTag.numberText && Decimal(items[$0].string) == nil }
    }

    /// Returns the first array or object within a value at the given level (the value itself is level 1).
    func item(atLevel level: Int, of items: UnsafePointer<firn_json_item>, _ index: Int) -> Int? {
        var ends: [Int] = [], item = index
        while item < index + items[index].step {
            while let end = ends.last, item >= end { ends.removeLast() }
            if items[item].tag >= TapeTag.array {
                if ends.count + 1 >= level { return item }
                ends.append(item + items[item].step)
            }
            item += 1
        }
        return nil
    }
}
