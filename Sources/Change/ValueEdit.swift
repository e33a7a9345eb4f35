import FirnBytes
import FirnModel

/// One difference between two nested values: a member, an element, or the whole. Edits are applied one after the other, each to what those before it left.
package struct ValueEdit: Sendable, Equatable {
    /// What is done at the path. The raw values are written to files of changes (docs/format/changes.md) and never change.
    package enum Kind: Int64, Sendable {
        case replaced = 1, added = 2, removed = 3
        /// The path leads to a list whose positions the following edits use: `old` is its hash before them.
        case checked = 4
    }

    /// From the outermost value inwards: the name of a member (string), a position in a list (int), or null for an element of a set.
    package var path: [Value]
    package var kind: Kind
    /// Null where `kind` is `added`.
    package var old: Value
    /// Null where `kind` is `removed` or `checked`.
    package var new: Value

    /// What leads back: applied in the opposite order.
    var reversed: ValueEdit {
        switch kind {
        case .replaced: ValueEdit(path: path, kind: .replaced, old: new, new: old)
        case .added: ValueEdit(path: path, kind: .removed, old: new, new: .null)
        case .removed: ValueEdit(path: path, kind: .added, old: .null, new: old)
        case .checked: self
        }
    }

    /// The path as people read it, after the name of a column: `birth.place.name`, `tags[3]`, `sizes["a.b"]`, `marks[]` for an element of a set.
    package func text(_ column: String) -> String {
        path.reduce(column) { text, step in
            switch step {
            case .string(let name): isPlain(name) ? text + "." + name : text + "[" + nestedText(step) + "]"
            case .int(let position): text + "[\(position)]"
            default: text + "[]"
            }
        }
    }

    private func isPlain(_ name: String) -> Bool {
        !name.isEmpty && !name.utf8.contains { byte in byte <= 32 || byte == 127 || ".[]\"':`".utf8.contains(byte) }
    }
}

extension [ValueEdit] {
    /// Leads from one nested value to another; one `replaced` without a path where they have nothing in common, and none where they are the same.
    ///
    /// - `same`: when parts need no edit.
    /// - `absentIsNull`: a member that one object does not have and the other has as null needs no edit: their types have other members.
    /// - `checks`: whether lists get a `checked` before the edits within them.
    package static func between(_ old: Value, _ new: Value, checks: Bool = false, absentIsNull: Bool = false, same: (Value, Value) -> Bool = { $0 == $1 }) -> [ValueEdit] {
        withoutActuallyEscaping(same) { same in
            var comparison = NestedComparison(checks: checks, absentIsNull: absentIsNull, same: same)
            comparison.compare(old, new, [])
            return comparison.edits
        }
    }

    /// They replace a value as a whole.
    package var isWhole: Bool { count == 1 && self[0].path.isEmpty }

    /// About the bytes that they take in a file.
    var size: Int { reduce(0) { $0 + 4 + 2 * $1.path.count + $1.old.encoded.count + $1.new.encoded.count } }
}

/// Goes through two nested values side by side.
private struct NestedComparison {
    let checks: Bool
    let absentIsNull: Bool
    let same: (Value, Value) -> Bool
    var edits: [ValueEdit] = []

    /// Returns whether they have something in common.
    @discardableResult
    mutating func compare(_ old: Value, _ new: Value, _ path: [Value]) -> Bool {
        if same(old, new) { return true }
        let start = edits.count
        let hasCommon: Bool
        switch (old, new) {
        case (.map(let a), .map(let b)): hasCommon = compareMembers(a, b, path)
        case (.object(let a), .object(let b)):
            hasCommon = absentIsNull ? compareMembers(members(a, beside: b), members(b, beside: a), path) : compareMembers(a, b, path)
        case (.list(let a), .list(let b)): hasCommon = compareLists(a, b, path)
        case (.set(let a), .set(let b)): hasCommon = compareSets(a, b, path)
        default: hasCommon = false
        }
        if !hasCommon {
            edits.removeSubrange(start...)
            edits.append(ValueEdit(path: path, kind: .replaced, old: old, new: new))
        }
        return hasCommon
    }

    /// All members but those that are null here and absent there.
    private func members(_ entries: [Value.Entry], beside others: [Value.Entry]) -> [Value.Entry] {
        guard entries.contains(where: { $0.value == .null }) else { return entries }
        let there = Set(others.map(\.key.bytes))
        return entries.filter { $0.value != .null || there.contains($0.key.bytes) }
    }

    private mutating func compareMembers(_ old: [Value.Entry], _ new: [Value.Entry], _ path: [Value]) -> Bool {
        let was = Dictionary(old.map { ($0.key.bytes, $0.value) }, uniquingKeysWith: { first, _ in first })
        let becomes = Set(new.map(\.key.bytes))
        var hasCommon = false
        for entry in old where !becomes.contains(entry.key.bytes) { edits.append(ValueEdit(path: path + [.string(entry.key)], kind: .removed, old: entry.value, new: .null)) }
        for entry in new {
            if let value = was[entry.key.bytes] {
                hasCommon = true
                compare(value, entry.value, path + [.string(entry.key)])
            } else {
                edits.append(ValueEdit(path: path + [.string(entry.key)], kind: .added, old: .null, new: entry.value))
            }
        }
        return hasCommon
    }

    private mutating func compareSets(_ old: [Value], _ new: [Value], _ path: [Value]) -> Bool {
        let was = Set(old), becomes = Set(new)
        for value in old where !becomes.contains(value) { edits.append(ValueEdit(path: path + [.null], kind: .removed, old: value, new: .null)) }
        for value in new where !was.contains(value) { edits.append(ValueEdit(path: path + [.null], kind: .added, old: .null, new: value)) }
        return !was.isDisjoint(with: becomes)
    }

    private mutating func compareLists(_ old: [Value], _ new: [Value], _ path: [Value]) -> Bool {
        if checks { edits.append(ValueEdit(path: path, kind: .checked, old: old.listHash, new: .null)) }
        var hasCommon = false, i = 0, j = 0
        /// Up to the next pair that stays: pairs that changed, then what is left of the longer side. Before `j` the list is the new one already.
        func goOn(to end: (Int, Int)) {
            while i < end.0, j < end.1 {
                if compare(old[i], new[j], path + [.int(Int64(j))]) { hasCommon = true }
                i += 1
                j += 1
            }
            while i < end.0 {
                edits.append(ValueEdit(path: path + [.int(Int64(j))], kind: .removed, old: old[i], new: .null))
                i += 1
            }
            while j < end.1 {
                edits.append(ValueEdit(path: path + [.int(Int64(j))], kind: .added, old: .null, new: new[j]))
                j += 1
            }
        }
        for pair in kept(old, new) {
            goOn(to: pair)
            hasCommon = true
            i += 1
            j += 1
        }
        goOn(to: (old.count, new.count))
        return hasCommon
    }

    /// The elements that stay, in order.
    private func kept(_ old: [Value], _ new: [Value]) -> [(Int, Int)] {
        let common = Swift.min(old.count, new.count)
        var start = 0, end = 0
        while start < common, same(old[start], new[start]) { start += 1 }
        while end < common - start, same(old[old.count - 1 - end], new[new.count - 1 - end]) { end += 1 }
        var pairs = (0..<start).map { ($0, $0) }
        let was = Array(old[start..<old.count - end]), becomes = Array(new[start..<new.count - end])
        // Equally many are most likely the same ones, changed.
        if was.count != becomes.count {
            var numbers: [Value: Int64] = [:]
            func number(_ value: Value) -> Int64 {
                if let known = numbers[value] { return known }
                numbers[value] = Int64(numbers.count)
                return numbers[value]!
            }
            let script = EditScript(was.map(number), becomes.map(number), budget: NestedComparison.budget)
            for (i, j) in script?.kept ?? [] { pairs.append((start + i, start + j)) }
        }
        for k in 0..<end { pairs.append((old.count - end + k, new.count - end + k)) }
        return pairs
    }

    /// Steps that finding the elements of a list that stay may take.
    private static let budget = 1 << 18
}

extension String {
    /// Names are the same byte by byte, not by canonical equivalence.
    fileprivate var bytes: [UInt8] { Array(utf8) }
}

extension [Value] {
    /// What a `checked` compares: written to files, never changes.
    var listHash: Value { .int(Int64(bitPattern: Value.list(self).withoutObjects.encoded.withUnsafeBytes { hash64($0) })) }
}
