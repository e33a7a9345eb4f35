import FirnBytes
import FirnTable

extension StoredTable {
    /// Returns the row id of the first row with this primary key (values in the order of `type.key`), or nil.
    /// - Complexity: The first look-ups skip what zones exclude and search the rest. Once they have cost as much as building an index, one
    /// is built in
    ///   memory, and look-ups are O(1).
    package func find(key: [Value]) throws(Damage) -> Int64? {
        trap(unless: key.count == type.key.count, "give a value for each column of the key")
        guard let (index, shape) = keys ?? KeyShape(type, mask: .max).map({ (nil, $0) }) else { return try findObjects(key) }
        guard let wanted = shape.wanted(key) else { return nil }
        if let index, let keeper, let found = try index.candidates(wanted, core, type: self.index, version: keeper.version) {
            let keySegments = try keySegments(shape)
            return try found.smallest { (row) throws(Damage) in
                if let keySegments, let answer = try keySegments.holds(row, wanted) { return answer }
                return try holds(row, wanted, shape)
            }
        }
        var scan = KeyScan(shape, wanted, work: keeper?.keys.work)
        let found = try scan.rows(core, type: self.index, one: true)
        index?.spend(scan.cost)
        return found.first
    }

    /// Returns whether the row exists and has the key.
    private func holds(_ rowID: Int64, _ wanted: WantedKey, _ shape: KeyShape) throws(Damage) -> Bool {
        guard let position = try segmentIndex(of: rowID) else { return false }
        let segment = try segment(position)
        guard let row = try segment.position(of: rowID), segment.live?[row] ?? true else { return false }
        for (i, column) in shape.columns.enumerated() where !shape.same(try segment.column(column).value(at: row), wanted.values[i]) {
            return false
        }
        return true
    }

    /// Finds a row by a key that contains embedded objects, or in an embedded type: searches all rows.
    private func findObjects(_ key: [Value]) throws(Damage) -> Int64? {
        for position in 0..<(type.key.isEmpty ? 0 : segmentCount) {
            let segment = try segment(position)
            for row in 0..<segment.rowCount where segment.live?[row] ?? true {
                var matches = true
                for (value, column) in zip(key, type.key) where matches {
                    matches = Value.areEquivalent(try segment.column(column).value(at: row), value, tolerance: 0)
                }
                if matches { return try segment.rowID(at: row) }
            }
        }
        return nil
    }
}
