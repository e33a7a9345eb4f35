import FirnBytes
import FirnChange
import FirnExchange
import FirnTable

/// Writes differences as CSV in the tabular diff format that daff reads (docs/decisions/034-differences-as-tables.md): a record for each row
/// that differs, with what happened to it in the first field.
///
///     !,,,+++           if only one file has a column
///     @@,id,price,unit
///     ---,2,20,
///     ->,1,10->12,kg
///     +++,4,40,kg
///
/// The first field of a changed row separates the old value from the new one; it has as many dashes as keep it apart from the text of the
/// row. A null that changed is `NULL`, and a changed text `NULL` is `_NULL`.
struct DiffRecords {
    private let grid: DiffGrid
    private let out: DiffOutput

    init(_ grid: DiffGrid, _ out: DiffOutput) {
        self.grid = grid
        self.out = out
    }

    /// Writes at most `limit` rows of the given kinds. Returns how many rows are left.
    func write(_ kinds: Set<DifferenceEntry.Kind>, limit: Int?) throws(FirnError) -> Int {
        if grid.columns.contains(where: { $0.change != nil }) {
            try write(
                "!",
                grid.columns.map { column in
                    switch column.change {
                    case .added: "+++"
                    case .removed: "---"
                    case .renamed(let name): "(\(name))"
                    case nil: nil
                    }
                })
        }
        try write("@@", grid.columns.map(\.name))
        return try grid.forEachRow(kinds, limit: limit) { kind, cells throws(FirnError) in
            switch kind {
            case .added: try write("+++", cells.map { DiffRecords.pair($0).new })
            case .removed: try write("---", cells.map { DiffRecords.pair($0).new })
            case .changed:
                let pairs = cells.map(DiffRecords.pair), mark = DiffRecords.mark(for: pairs)
                try write(mark, pairs.map { pair in pair.old.map { $0 + mark + (pair.new ?? "") } ?? pair.new })
            }
        }
    }

    /// Returns the texts of a cell; `old` is nil unless the cell changed, and `new` is nil for null.
    private static func pair(_ cell: DiffGrid.Cell) -> (old: String?, new: String?) {
        switch cell {
        case .absent: return (nil, nil)
        case .same(let shown): return (nil, text(shown.value, shown.notation))
        case .changed(_, let old, let new):
            var texts = (text(old.value, old.notation), text(new.value, new.notation))
            // A notation of days, for example, omits the times of day by which they differ.
            if texts.0 == texts.1 { texts = (text(old.value, .plain), text(new.value, .plain)) }
            return (encoded(texts.0), encoded(texts.1))
        }
    }

    /// Returns the text of a value as in other CSV; nil for null.
    private static func text(_ value: Value, _ notation: Notation) -> String? {
        guard case .data(let bytes) = value else { return value.isNull ? nil : canonicalText(value, notation: notation) }
        var text: [UInt8] = []
        Base64.append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    private static func encoded(_ text: String?) -> String {
        guard let text else { return "NULL" }
        return text.drop { $0 == "_" } == "NULL" ? "_" + text : text
    }

    /// Returns an arrow that is in no text.
    private static func mark(for pairs: [(old: String?, new: String?)]) -> String {
        var most = 0
        for text in pairs.flatMap({ [$0.old, $0.new] }) {
            var dashes = 0
            for byte in (text ?? "").utf8 {
                if byte == UInt8(ascii: ">") { most = max(most, dashes) }
                dashes = byte == UInt8(ascii: "-") ? dashes + 1 : 0
            }
        }
        return String(repeating: "-", count: most + 1) + ">"
    }

    /// Writes a record. Nil is a field without quotes, and the empty text is one with quotes.
    private func write(_ mark: String, _ fields: [String?]) throws(FirnError) {
        var record = mark
        for field in fields {
            record += ","
            if let field { record += DiffRecords.field(field) }
        }
        try out.write(record + "\n")
    }

    private static func field(_ text: String) -> String {
        let isPlain =
            text.utf8.first.map { $0 != UInt8(ascii: " ") } ?? false && text.utf8.last != UInt8(ascii: " ")
            && text.utf8.allSatisfy { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\"") && $0 != 0x0A && $0 != 0x0D }
        return isPlain ? text : "\"" + text.unicodeScalars.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
    }
}
