import FirnBytes
import FirnCommandLine
import FirnExchange
import FirnTable

/// The original texts of a field of objects that becomes a column of its own: they are among those of the column of the objects.
struct FieldTexts {
    /// The position of the companion of the column of objects.
    let companion: Int
    /// The names of the fields, from the column of objects to the field.
    private let names: [[UInt8]]
    /// Whether the field has single values, or parts that have the texts.
    let isScalar: Bool

    /// Returns nil if the field cannot have original texts.
    init?(_ path: [Int], of type: TypeSchema, in schema: Schema) {
        guard path.count > 1, type.hasPartTexts(path[0]), !type.columns[path[0]].type.isCollection, let companion = type.companions[path[0]]
        else { return nil }
        var names: [[UInt8]] = [], column = type.columns[path[0]]
        for position in path.dropFirst() {
            guard !column.type.isCollection, let target = column.type.target.flatMap({ schema[$0] }),
                target.columns.indices.contains(position)
            else { return nil }
            column = target.columns[position]
            names.append(Array(column.name.utf8))
        }
        isScalar = !column.type.isCollection && column.type.kind != .embedded
        guard !isScalar || [.int, .double, .float, .decimal].contains(column.type.kind) else { return nil }
        (self.companion, self.names) = (companion, names)
    }

    /// Returns the companion of the column that the field becomes.
    func schema(of column: ColumnSchema, in type: TypeSchema) -> ColumnSchema {
        var companion = type.makeCompanion(of: column)
        if isScalar { companion.otherAttributes.append(OriginalToken.attribute) }
        return companion
    }

    /// Returns the texts of the field in a batch.
    func column(of batch: Batch) -> Column {
        let texts = batch.columns[companion]
        var out = Column(ColumnType(.string, optional: true)), last = 0
        for row in 0..<batch.count where texts.isPresent(row) {
            var part = OriginalParts(texts.text.array(row))
            for name in names { part = part?[name] }
            guard let text = isScalar ? part?.token : part?.text else { continue }
            out.appendNulls(row - last)
            out.append(.string(String(decoding: text, as: UTF8.self)))
            last = row + 1
        }
        out.appendNulls(batch.count - last)
        return out
    }
}

/// The original texts of columns that become fields of objects: one column for all fields of an object.
struct GatheredTexts {
    /// A column that becomes a field: the position of its companion, and its path in the object.
    struct Member {
        let column: Int
        let companion: Int
        let path: [[UInt8]]
        /// Whether the texts are tokens, or parts; otherwise they are texts of CSV.
        let isToken: Bool
        let isParts: Bool
    }

    /// The fields, in the order of the object.
    let members: [Member]
    /// The number of texts that JSON cannot have in place of their number.
    private(set) var dropped = 0

    init(_ members: [Member]) { self.members = members }

    /// Returns the texts of all fields in a batch.
    mutating func column(of batch: Batch) -> Column {
        var out = Column(ColumnType(.string, optional: true)), writer = OriginalParts.Writer()
        let filled = members.filter { batch.columns[$0.companion].nullCount < batch.count }
        guard !filled.isEmpty else {
            out.appendNulls(batch.count)
            return out
        }
        for row in 0..<batch.count {
            for member in filled where batch.columns[member.companion].isPresent(row) {
                let text = batch.columns[member.companion].text.array(row)
                add(text, of: member, row: row, in: batch.columns[member.column], to: &writer)
            }
            if writer.isEmpty { out.appendNull() } else { out.append(.string(String(decoding: writer.take(), as: UTF8.self))) }
        }
        return out
    }

    private mutating func add(_ text: [UInt8], of member: Member, row: Int, in values: Column, to writer: inout OriginalParts.Writer) {
        if member.isParts {
            OriginalParts(text)?.collect(member.path, &writer)
        } else if member.isToken || GatheredTexts.isNumber(text, values, row) {
            writer.add(member.path, token: text)
        } else if values.isPresent(row) {
            dropped += 1
        } else {
            writer.add(member.path, token: text.withBytes { OriginalToken.token(ofString: $0) })
        }
    }

    /// Whether JSON can have a text of CSV in place of a number: 1.234 with groups of digits is another number there.
    private static func isNumber(_ text: [UInt8], _ values: Column, _ row: Int) -> Bool {
        text.withBytes { OriginalToken.isNumber($0) && OriginalText.isCurrent($0, values, row: row, notation: .plain) }
    }

    var remarks: [String] {
        dropped == 0
            ? []
            : ["\(Quantity.count(dropped, "original text")) of fields \(dropped == 1 ? "is" : "are") left out: JSON has no such numbers"]
    }
}
