import FirnBytes

/// The number of values of leaves, which are laid out differently for each type.
enum RealmLeaf {
    /// Returns the number of values of a leaf of a tree, or of a column of a cluster.
    /// - Parameter isOld: Whether the file has a format up to 9.
    static func count(_ ref: Int, _ column: RealmColumn, _ bytes: RealmBytes, _ isOld: Bool) throws(Damage) -> Int {
        let array = try bytes.array(ref)
        guard column.collection == .none else { return array.count }
        switch column.kind {
        case .int, .bool, .link, .typedLink:
            return hasSentinel(column, isOld) ? max(0, array.count - 1) : array.count
        case .float, .double, .decimal: return array.count
        case .string, .binary:
            guard array.hasRefs, !array.hasContext else { return array.count }
            guard array.count >= 2, let ends = try array.ref(0) else { throw Damage("a leaf of texts is incomplete", at: ref) }
            return try bytes.integers(ends, "lengths").count
        case .timestamp:
            guard array.hasRefs, array.count >= 2, let seconds = try array.ref(0) else {
                throw Damage("a leaf of dates is incomplete", at: ref)
            }
            return max(0, try bytes.integers(seconds, "seconds").count - 1)
        case .objectID, .uuid: return identifiers(array.count, column.kind == .uuid ? 16 : 12)
        case .mixed:
            guard array.hasRefs, array.count >= 1 else { throw Damage("a leaf of mixed values is incomplete", at: ref) }
            guard let values = try array.ref(0) else { return 0 }
            return try bytes.integers(values, "mixed values").count
        }
    }

    /// Whether the first integer of a leaf stands for null.
    static func hasSentinel(_ column: RealmColumn, _ isOld: Bool) -> Bool {
        column.isNullable && (column.kind == .int || isOld && column.kind == .bool)
    }

    /// Returns how many identifiers of a length a leaf of so many bytes has: eight follow each byte of null bits.
    static func identifiers(_ byteCount: Int, _ length: Int) -> Int {
        let block = 8 * length + 1
        return max(0, byteCount - (byteCount + block - 1) / block) / length
    }
}
