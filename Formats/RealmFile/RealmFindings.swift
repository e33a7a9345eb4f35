/// What was changed or left out of the values of columns, by column.
struct RealmFindings {
    enum Kind: Int, CaseIterable { case unresolved, hidden, text, null, duplicate, date, repeated }
    private var counts: [Kind: [String: Int]] = [:]

    mutating func add(_ kind: Kind, _ column: String, _ count: Int = 1) { counts[kind, default: [:]][column, default: 0] += count }

    /// One sentence for each kind and column.
    var remarks: [String] {
        Kind.allCases.flatMap { kind in
            (counts[kind] ?? [:]).sorted { $0.key < $1.key }.map { column, count in RealmFindings.sentence(kind, "\"\(column)\"", count) }
        }
    }

    private static func sentence(_ kind: Kind, _ column: String, _ count: Int) -> String {
        func noun(_ word: String) -> String { "\(count) \(word)\(count == 1 ? "" : "s")" }
        let be = count == 1 ? "is" : "are"
        return switch kind {
        case .unresolved:
            "\(noun("link")) in column \(column) \(count == 1 ? "leads to an object that does" : "lead to objects that do") not exist: null, or left out of collections"
        case .hidden:
            "\(noun("link")) in column \(column) \(count == 1 ? "leads to a table that is" : "lead to tables that are") left out: null"
        case .text: "\(noun("text")) in column \(column) \(be) not UTF-8: malformed bytes are replaced by U+FFFD"
        case .null: "\(noun("null")) in column \(column), which allows none, \(be) read as the zero value of its type"
        case .duplicate: "\(noun("element")) of sets in column \(column) \(be) equal to others and left out"
        case .date: "\(noun("date")) in column \(column) \(be) out of range and moved to the first second of the range"
        case .repeated: "\(noun("key")) of maps in column \(column) \(be) repeated: only the first value is kept"
        }
    }
}
