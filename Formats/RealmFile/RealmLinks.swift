import FirnBytes
import FirnTable

/// Links: the key of an object becomes its position among the objects of its table, which is the row id that writers assign.
extension RealmVersion {
    /// Appends links as positions. Elements of collections that lead to no object are left out.
    func appendLinks(_ ref: Int, _ column: RealmColumn, _ rows: [Int], isCluster: Bool, to out: inout Column) throws(Damage) {
        let array = try bytes.integers(ref, "links")
        guard let target = column.target else { throw Damage("column \"\(column.path)\" leads to no table", at: ref) }
        for row in rows {
            // In the columns of objects, 0 is null and keys are greater by one.
            if isCluster, array[row] == 0 {
                out.appendNull()
                continue
            }
            let key = isCluster ? array[row] &- 1 : array[row]
            if let position = try position(of: key, in: target, column) {
                out.notePresent()
                out.words.append(Int64(position))
            } else if isCluster {
                out.appendNull()
            }
        }
    }

    /// Returns the position of the object with a key; nil if there is none, which is recorded.
    func position(of key: Int64, in target: Int, _ column: RealmColumn) throws(Damage) -> Int? {
        guard let table = tables[target] else {
            findings.add(.hidden, column.path)
            return nil
        }
        if let position = try table.objects.position(ofKey: key, bytes) { return position }
        findings.add(.unresolved, column.path)
        return nil
    }

    /// Returns a link of a mixed value in the form in which the object layer of Firn keeps it: a map of one entry, the name of the type
    /// and the row id.
    func link(table key: Int64, key object: Int64, _ column: RealmColumn) throws(Damage) -> Value {
        let slot = Int(key & 0xFFFF)
        guard slot < keys.count, keys[slot] == UInt64(bitPattern: key) else {
            findings.add(.unresolved, column.path)
            return .null
        }
        guard let position = try position(of: object, in: slot, column), let name = names[slot] else { return .null }
        return .map([.init("$link", .list([.string(name), .link(Int64(position))]))])
    }
}
