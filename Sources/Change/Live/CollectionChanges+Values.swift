import FirnTable

extension CollectionChanges {
    /// Returns the changes of a list of values. Between two elements that were kept, deleted and inserted elements are paired in order as
    /// modifications; the rest of the longer side are deletions or insertions.
    package static func between(old: [Value], new: [Value]) -> CollectionChanges {
        var numbers: [Value: Int64] = [:]
        func number(_ value: Value) -> Int64 {
            if let known = numbers[value] { return known }
            let next = Int64(numbers.count)
            numbers[value] = next
            return next
        }
        let prefix = zip(old, new).prefix { $0 == $1 }.count
        let most = min(old.count, new.count) - prefix
        var suffix = 0
        while suffix < most, old[old.count - 1 - suffix] == new[new.count - 1 - suffix] { suffix += 1 }
        let before = old[prefix..<(old.count - suffix)].map(number), after = new[prefix..<(new.count - suffix)].map(number)
        var changes = CollectionChanges()
        var i = 0, j = 0
        func close(_ a: Int, _ b: Int) {
            while i < a, j < b {
                changes.modificationsOld.append(prefix + i)
                changes.modificationsNew.append(prefix + j)
                i += 1
                j += 1
            }
            changes.deletions.append(contentsOf: prefix + i..<prefix + a)
            changes.insertions.append(contentsOf: prefix + j..<prefix + b)
        }
        Alignment(before, after).forEachKept { a, b in
            close(a, b)
            i = a + 1
            j = b + 1
        }
        close(before.count, after.count)
        return changes
    }

    /// Returns the changes of a set of values; both must be in the order of `Value.order`. Elements of sets are inserted or deleted, never
    /// modified.
    package static func between(oldSet old: [Value], newSet new: [Value]) -> CollectionChanges {
        var changes = CollectionChanges()
        var i = 0, j = 0
        while i < old.count || j < new.count {
            let order = i == old.count ? 1 : j == new.count ? -1 : Value.order(old[i], new[j])
            if order < 0 { changes.deletions.append(i) }
            if order > 0 { changes.insertions.append(j) }
            if order <= 0 { i += 1 }
            if order >= 0 { j += 1 }
        }
        return changes
    }
}

/// The difference of two versions of a map, by key.
package struct MapChanges: Sendable, Equatable {
    /// All three are in ascending order of the bytes of the keys.
    package var deletions: [String] = []
    package var insertions: [String] = []
    package var modifications: [String] = []

    package init() {}

    package var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

    /// Returns the changes of a map; both must be in ascending order of the bytes of the keys. `modified` is called with rows that an entry
    /// links to in both versions.
    package static func between(old: [Value.Entry], new: [Value.Entry], modified: (Int64) -> Bool = { _ in false }) -> MapChanges {
        var changes = MapChanges()
        var i = 0, j = 0
        while i < old.count || j < new.count {
            let order = i == old.count ? 1 : j == new.count ? -1 : Value.order(.string(old[i].key), .string(new[j].key))
            if order < 0 { changes.deletions.append(old[i].key) }
            if order > 0 { changes.insertions.append(new[j].key) }
            if order == 0 {
                var isModified = old[i].value != new[j].value
                if !isModified, case .link(let rowID) = new[j].value { isModified = modified(rowID) }
                if isModified { changes.modifications.append(new[j].key) }
            }
            if order <= 0 { i += 1 }
            if order >= 0 { j += 1 }
        }
        return changes
    }
}
