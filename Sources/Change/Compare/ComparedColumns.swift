import FirnBytes
import FirnTable

/// What the options choose for single columns: their tolerances, and the fields of their objects that are not compared.
extension DifferenceOptions {
    /// Returns the pairing of a column that is compared or, with `isKey`, part of the key, which has no tolerance.
    func pairing(_ name: String, old: any Table, new: any Table, isKey: Bool) -> ColumnPairing {
        var pairing = ColumnPairing(name, old: old, new: new)
        if !isKey { pairing.tolerance = tolerances[name] ?? tolerance }
        pairing.ignored = ignoredFields(of: name, old, new)
        return pairing
    }

    /// Returns the fields of the objects in a column that are not compared, each as the names that lead to it.
    func ignoredFields(of column: String, _ old: any Table, _ new: any Table) -> [ArraySlice<String>] {
        ignore.compactMap { name in
            guard name.hasPrefix(column + "."), old.type.index(of: name) == nil, new.type.index(of: name) == nil,
                let path = MemberTable.names(name, in: new) ?? MemberTable.names(name, in: old), path.first == column
            else { return nil }
            return path.dropFirst()
        }
    }

    /// Throws `.usage` for a name that is neither a column nor a field of an object, and for a column whose tolerance has no effect.
    func checkNames(_ old: any Table, _ new: any Table, key: [String]) throws(FirnError) {
        func exists(_ name: String) -> Bool { old.type.index(of: name) != nil || new.type.index(of: name) != nil }
        func unknown(_ name: String) -> FirnError {
            FirnError(.usage, "neither file has a column \"\(name)\"", advice: "the columns are: " + new.type.columns.map(\.name).listed())
        }
        for name in columns where !exists(name) { throw unknown(name) }
        for name in ignore where !exists(name) && MemberTable.names(name, in: new) == nil && MemberTable.names(name, in: old) == nil {
            throw unknown(name)
        }
        if case .wholeRows = matching { return }
        for name in tolerances.keys.sorted() {
            guard exists(name) else { throw unknown(name) }
            guard !key.contains(name) else {
                throw FirnError(.usage, "the column \"\(name)\" is part of the key, which has no tolerance", advice: "omit it")
            }
            guard compares(name) else {
                throw FirnError(.usage, "the column \"\(name)\" is not compared, but has a tolerance", advice: "omit it")
            }
            for (table, side) in [(old, DifferenceSide.old), (new, .new)] {
                guard let position = table.type.index(of: name), !table.type.columns[position].type.canHoldNumbers else { continue }
                throw FirnError(
                    .usage, "the column \"\(name)\" has a tolerance, and is \(table.type.columns[position].type.name)",
                    at: .init(file: self.name(side)), advice: "choose columns of numbers")
            }
        }
    }
}

extension ColumnType {
    fileprivate var canHoldNumbers: Bool {
        switch kind {
        case .int, .float, .double, .decimal, .any, .embedded: true
        default: false
        }
    }
}

extension Value {
    /// Returns the value without the fields at some paths, in objects with named fields and in collections of them.
    func without(_ paths: [ArraySlice<String>]) -> Value { paths.reduce(self) { $0.without($1) } }

    private func without(_ path: ArraySlice<String>) -> Value {
        guard let name = path.first else { return self }
        switch self {
        case .object(let entries):
            return .object(
                entries.compactMap { entry in
                    guard entry.key == name else { return entry }
                    return path.count == 1 ? nil : Entry(entry.key, entry.value.without(path.dropFirst()))
                })
        case .list(let values): return .list(values.map { $0.without(path) })
        case .set(let values): return .set(values.map { $0.without(path) })
        case .map(let entries): return .map(entries.map { Entry($0.key, $0.value.without(path)) })
        default: return self
        }
    }
}
