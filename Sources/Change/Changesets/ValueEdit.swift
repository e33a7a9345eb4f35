import FirnBytes
import FirnTable

/// One difference between two nested values: of a member, an element, or the whole. Edits are applied in order, each to the result of the
/// previous ones.
package struct ValueEdit: Sendable, Equatable {
    /// The operation at the path. The raw values are written to changes files (docs/format/changes.md) and never change.
    package enum Kind: Int64, Sendable {
        case replaced = 1, added = 2, removed = 3
        /// The path refers to a list in which the following edits use positions; `old` is the hash of the list before them.
        case checked = 4
    }

    /// From the outermost value inwards: the name of a member (string), a position in a list (int), or null for an element of a set.
    package var path: [Value]
    package var kind: Kind
    /// Null if `kind` is `added`.
    package var old: Value
    /// Null if `kind` is `removed` or `checked`.
    package var new: Value

    /// The inverse edit. The inverse of several edits has the opposite order.
    var reversed: ValueEdit {
        switch kind {
        case .replaced: ValueEdit(path: path, kind: .replaced, old: new, new: old)
        case .added: ValueEdit(path: path, kind: .removed, old: new, new: .null)
        case .removed: ValueEdit(path: path, kind: .added, old: .null, new: old)
        case .checked: self
        }
    }

    /// Returns the path in readable form, after the name of a column: `birth.place.name`, `tags[3]`, `sizes["a.b"]`, `marks[]` for an
    /// element of a set.
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
    /// Returns edits that convert one nested value to another: one `replaced` without a path if they have nothing in common, and none if
    /// they are equal.
    ///
    /// - Parameters:
    ///   - checks: Whether lists get a `checked` before the edits within them.
    ///   - absentIsNull: Whether a member that is null in one object and missing in the other is equal, because their types have different
    /// members.
    ///   - same: Whether two parts are equal and need no edit.
    package static func between(
        _ old: Value, _ new: Value, checks: Bool = false, absentIsNull: Bool = false, same: (Value, Value) -> Bool = { $0 == $1 }
    ) -> [ValueEdit] {
        withoutActuallyEscaping(same) { same in
            var comparison = NestedComparison(checks: checks, absentIsNull: absentIsNull, same: same)
            comparison.compare(old, new, [])
            return comparison.edits
        }
    }

    /// Whether the edits replace the whole value.
    package var isWhole: Bool { count == 1 && self[0].path.isEmpty }

    /// The approximate size of the edits in a file, in bytes.
    var size: Int { reduce(0) { $0 + 4 + 2 * $1.path.count + $1.old.encoded.count + $1.new.encoded.count } }
}

/// Compares two nested values part by part.
private struct NestedComparison {
    let checks: Bool
    let absentIsNull: Bool
    let same: (Value, Value) -> Bool
    var edits: [ValueEdit] = []

    /// Adds edits, and returns whether the values have something in common.
    @discardableResult
    mutating func compare(_ old: Value, _ new: Value, _ path: [Value]) -> Bool {
        if same(old, new) { return true }
        let start = edits.count
        let hasCommon: Bool
        switch (old, new) {
        case (.map(let a), .map(let b)): hasCommon = compareMembers(a, b, path)
        case (.object(let a), .object(let b)):
            hasCommon = absentIsNull ? compareMembers(members(a, beside: b), members(b, beside: a), path) : compareMembers(a, b, path)
        case (.map(let a), .object(let b)), (.object(let a), .map(let b)):
            // The same document can have a map in one file and an object in the other.
            hasCommon = absentIsNull && compareMembers(members(a, beside: b), members(b, beside: a), path)
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

    /// Returns the members, without those that are null here and missing there.
    private func members(_ entries: [Value.Entry], beside others: [Value.Entry]) -> [Value.Entry] {
        guard entries.contains(where: { $0.value == .null }) else { return entries }
        let there = Set(others.map(\.key.bytes))
        return entries.filter { $0.value != .null || there.contains($0.key.bytes) }
    }

    private mutating func compareMembers(_ old: [Value.Entry], _ new: [Value.Entry], _ path: [Value]) -> Bool {
        let was = Dictionary(old.map { ($0.key.bytes, $0.value) }, uniquingKeysWith: { first, _ in first })
        let becomes = Set(new.map(\.key.bytes))
        var hasCommon = false
        for entry in old where !becomes.contains(entry.key.bytes) {
            edits.append(ValueEdit(path: path + [.string(entry.key)], kind: .removed, old: entry.value, new: .null))
        }
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
        for value in old where !becomes.contains(value) {
            edits.append(ValueEdit(path: path + [.null], kind: .removed, old: value, new: .null))
        }
        for value in new where !was.contains(value) { edits.append(ValueEdit(path: path + [.null], kind: .added, old: .null, new: value)) }
        return !was.isDisjoint(with: becomes)
    }

    private mutating func compareLists(_ old: [Value], _ new: [Value], _ path: [Value]) -> Bool {
        if checks { edits.append(ValueEdit(path: path, kind: .checked, old: old.listHash, new: .null)) }
        var hasCommon = false, i = 0, j = 0
        /// Adds edits up to the next kept pair: first changed pairs, then the rest of the longer side. Before `j` the list already equals
        /// the new one.
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

    /// Returns the pairs of elements that are kept, in order.
    private func kept(_ old: [Value], _ new: [Value]) -> [(Int, Int)] {
        let common = Swift.min(old.count, new.count)
        var start = 0, end = 0
        while start < common, same(old[start], new[start]) { start += 1 }
        while end < common - start, same(old[old.count - 1 - end], new[new.count - 1 - end]) { end += 1 }
        var pairs = (0..<start).map { ($0, $0) }
        let was = Array(old[start..<old.count - end]), becomes = Array(new[start..<new.count - end])
        // If the numbers are equal, the elements are most likely the same ones, changed.
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

    /// The maximum number of steps for finding the elements of a list that are kept.
    private static let budget = 1 << 18
}

extension String {
    /// Names are compared byte by byte, not by canonical equivalence.
    fileprivate var bytes: [UInt8] { Array(utf8) }
}

extension [Value] {
    /// The hash that a `checked` compares. It is written to files and never changes.
    var listHash: Value { .int(Int64(bitPattern: Value.list(self).withoutObjects.encoded.withUnsafeBytes { hash64($0) })) }
}
