/// Shortens lists of remarks about columns. A survey of 1,200 columns can have the same remark about each of them.
package enum RemarkGroups {
    /// The maximum number of remarks of one kind, and how many are kept of more.
    private static let most = 10, kept = 5

    /// Returns the remarks, with at most ten of a kind about columns: remarks that differ only in numbers, and in names and values in quotes.
    /// Of more, the first five are kept, and a line after them names the other columns.
    package static func condensed(_ remarks: [String]) -> [String] {
        var groups: [String: (count: Int, columns: [String])] = [:]
        let kinds = remarks.map { remark in column(of: remark) == nil ? nil : kind(of: remark) }
        for (remark, kind) in zip(remarks, kinds) {
            guard let kind, let column = column(of: remark) else { continue }
            var group = groups[kind] ?? (0, [])
            group.count += 1
            if group.count > kept, group.columns.count < 3 { group.columns.append("\"\(column)\"") }
            groups[kind] = group
        }
        guard groups.contains(where: { $0.value.count > most }) else { return remarks }
        var seen: [String: Int] = [:]
        return zip(remarks, kinds).compactMap { remark, kind in
            guard let kind, let group = groups[kind], group.count > most else { return remark }
            let number = (seen[kind] ?? 0) + 1
            seen[kind] = number
            if number <= kept { return remark }
            guard number == kept + 1 else { return nil }
            return "the same of \(group.count - kept) other columns: \(group.columns.joined(separator: ", ")), …"
        }
    }

    /// The name of the column that a remark is about; nil if it begins differently.
    private static func column(of remark: String) -> String? {
        guard remark.hasPrefix("column \"") else { return nil }
        let rest = remark.dropFirst(8)
        return rest.firstIndex(of: "\"").map { String(rest[..<$0]) }
    }

    /// A remark without digits, and without names and values in quotes.
    private static func kind(of remark: String) -> String {
        var out: [UInt8] = [], isQuoted = false
        for byte in remark.utf8 {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if !isQuoted, byte &- 48 > 9, byte != UInt8(ascii: ",") { out.append(byte) }
        }
        // One and several are the same kind.
        return String(decoding: out, as: UTF8.self).replacing(" cells are ", with: " cell is ").replacing(" cells is ", with: " cell is ")
            .replacing(" is not an ", with: " is not ").replacing(" is not a ", with: " is not ").replacing("s: stored ", with: ": stored ")
            .replacing(" with their text", with: " with its text")
    }
}
