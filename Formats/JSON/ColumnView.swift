import FirnBytes
import FirnExchange
import FirnTable

/// A column prepared for writing row by row: its arrays, its key as text, its fields.
final class ColumnView: Sendable {
    let kind: ScalarKind
    let collection: CollectionKind
    let notation: Notation
    let writesNull: Bool
    let name: String
    /// `"name":` without separators between members.
    let key: [UInt8]
    private let present: [UInt64]?
    let words: [Int64]
    let extra: [Int64]
    let reals: [Double]
    let textOffsets: [Int]
    let textBytes: [UInt8]
    private let tags: [UInt8]
    private let offsets: [Int]
    let children: [ColumnView]
    /// Whether the value of the only field stands for an embedded object.
    private let isBare: Bool
    /// Whether the texts are JSON, which is written as the values that it describes.
    private let isJSON: Bool
    /// The original texts of the column; nil if it has none.
    private let originals: OriginalTexts?
    /// The original texts of parts of the values; nil if there are none.
    private let parts: Column?
    /// The numbers that original texts of parts can stand for.
    private let numbers: Column?

    init(_ column: Column, _ description: ColumnSchema, _ schema: Schema, isPretty: Bool, originals: (Column, ColumnSchema)? = nil) {
        let hasParts = column.type.isCollection || column.type.kind == .embedded
        self.originals =
            hasParts
            ? nil : originals.map { OriginalTexts($0.0, isTokens: OriginalToken.isForm(of: $0.1), of: column, description.notation) }
        parts = hasParts ? originals?.0 : nil
        numbers = !hasParts && OriginalParts.canHaveTexts(column.type.kind) ? column : nil
        kind = column.type.kind
        collection = column.type.collection
        notation = description.notation.standardDate
        writesNull = description.writesNull
        isJSON = description.logical == .json
        name = description.name
        var key = JSONBytes()
        key.append(quoted: description.name)
        key.append(isPretty ? ": " : ":")
        self.key = Array(key.bytes)
        present = column.present?.words
        words = column.words
        extra = column.extra
        reals = column.reals
        textOffsets = column.text.offsets
        textBytes = column.text.bytes
        tags = column.tags
        offsets = column.offsets
        let target = column.type.isCollection ? nil : column.type.target.flatMap { schema[$0] }
        isBare = target?.isBare ?? false
        if column.type.isCollection {
            var element = description
            element.type = column.type.element
            children = column.children.map { ColumnView($0, element, schema, isPretty: isPretty) }
        } else {
            children = zip(column.children, target?.columns ?? []).map { ColumnView($0, $1, schema, isPretty: isPretty) }
        }
    }

    @inline(__always)
    func isPresent(_ row: Int) -> Bool {
        guard let present else { return true }
        return present[row >> 6] >> UInt64(truncatingIfNeeded: row & 63) & 1 == 1
    }

    @inline(__always)
    private func withText<R>(_ row: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        let range = textOffsets[row]..<textOffsets[row &+ 1]
        return textBytes.withBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// Returns the original texts within the value of a row; nil if there are none.
    private func originalParts(_ row: Int) -> OriginalParts? {
        guard let parts, parts.isPresent(row) else { return nil }
        return OriginalParts(parts.text.array(row))
    }

    /// Returns the original text of a value, which is a part of another, if it still reads as that value.
    private func token(_ parts: OriginalParts?, _ row: Int) -> [UInt8]? {
        guard let parts, let numbers else { return nil }
        return parts.token(for: numbers, row, notation)
    }

    /// Writes the value of a row, or null. `indent` is the depth in an indented document; a negative one writes a single line. `parts` are
    /// the original texts of the value and within it; nil: those of the column.
    func write(_ row: Int, to out: inout JSONBytes, _ loss: inout JSONLoss, indent: Int, _ parts: OriginalParts? = nil) {
        if let originals, originals.write(row, to: &out, &loss) { return }
        if let token = token(parts, row) { return out.append(token: token) }
        let parts = parts ?? originalParts(row)
        guard isPresent(row) else { return out.append("null") }
        switch collection {
        case .none: write(scalar: kind.rawValue, row, to: &out, &loss, indent: indent, parts)
        case .map:
            out.append(UInt8(ascii: "{"))
            for entry in offsets[row]..<offsets[row &+ 1] {
                if entry > offsets[row] { out.append(UInt8(ascii: ",")) }
                if indent >= 0 { out.breakLine(indent &+ 1) }
                children[0].withText(entry) { out.append(quoted: $0) }
                out.append(UInt8(ascii: ":"))
                if indent >= 0 { out.append(UInt8(ascii: " ")) }
                let inner = parts.flatMap { parts in children[0].withText(entry) { parts[Array($0)] } }
                children[1].write(entry, to: &out, &loss, indent: indent < 0 ? indent : indent &+ 1, inner)
            }
            if indent >= 0, offsets[row] < offsets[row &+ 1] { out.breakLine(indent) }
            out.append(UInt8(ascii: "}"))
        default:
            out.append(UInt8(ascii: "["))
            for element in offsets[row]..<offsets[row &+ 1] {
                if element > offsets[row] { out.append(UInt8(ascii: ",")) }
                if indent >= 0 { out.breakLine(indent &+ 1) }
                let inner = parts?[element: element - offsets[row]]
                children[0].write(element, to: &out, &loss, indent: indent < 0 ? indent : indent &+ 1, inner)
            }
            if indent >= 0, offsets[row] < offsets[row &+ 1] { out.breakLine(indent) }
            out.append(UInt8(ascii: "]"))
        }
    }

    private func write(
        scalar tag: UInt8, _ row: Int, to out: inout JSONBytes, _ loss: inout JSONLoss, indent: Int, _ parts: OriginalParts?
    ) {
        switch tag {
        case ScalarKind.string.rawValue where isJSON:
            withText(row) { text in
                if out.append(json: text) { return }
                loss.notJSON += 1
                out.append(quoted: text)
            }
        case ScalarKind.string.rawValue: withText(row) { out.append(quoted: $0) }
        case ScalarKind.int.rawValue, ScalarKind.link.rawValue: out.append(words[row])
        case ScalarKind.double.rawValue:
            if reals[row].isFinite { out.append(reals[row], notation) } else { loss.writeNonFinite(&out) }
        case ScalarKind.bool.rawValue: if words[row] != 0 { out.append("true") } else { out.append("false") }
        case ScalarKind.date.rawValue: out.append(date: words[row], extra[row], notation)
        case ScalarKind.uuid.rawValue: out.append(uuid: Column.uuid(words[row], extra[row]), upper: notation == .uuidUpper)
        case ScalarKind.objectID.rawValue: out.append(objectID: Column.objectID(words[row], extra[row]))
        case ScalarKind.decimal.rawValue:
            out.append(Decimal(high: UInt64(bitPattern: words[row]), low: UInt64(bitPattern: extra[row])), &loss)
        case ScalarKind.float.rawValue: out.append(Float(reals[row]), &loss)
        case ScalarKind.data.rawValue:
            loss.hasData = true
            withText(row) { out.append(base64: $0) }
        case ScalarKind.embedded.rawValue where isBare: children[0].write(row, to: &out, &loss, indent: indent, parts)
        case ScalarKind.embedded.rawValue: ColumnView.write(object: children, row, to: &out, &loss, indent: indent, parts)
        case ScalarKind.any.rawValue:
            let tag = tags[row]
            if tag == AnyTag.list || tag == AnyTag.set || tag == AnyTag.map {
                let value = withText(row) { try? Value(encoded: $0) }
                out.append(value ?? .null, &loss, indent: indent)
            } else {
                write(scalar: tag, row, to: &out, &loss, indent: indent, nil)
            }
        default: out.append("null")
        }
    }

    /// Writes an object with the given columns. Columns without a value are omitted, unless they write null.
    static func write(
        object fields: [ColumnView], _ row: Int, to out: inout JSONBytes, _ loss: inout JSONLoss, indent: Int,
        _ parts: OriginalParts? = nil
    ) {
        out.append(UInt8(ascii: "{"))
        var isFirst = true
        for field in fields {
            let inner = parts?[field.name]
            guard field.isWritten(row, inner) else { continue }
            if !isFirst { out.append(UInt8(ascii: ",")) }
            isFirst = false
            if indent >= 0 { out.breakLine(indent &+ 1) }
            out.append(field.key)
            field.write(row, to: &out, &loss, indent: indent < 0 ? indent : indent &+ 1, inner)
        }
        if indent >= 0, !isFirst { out.breakLine(indent) }
        out.append(UInt8(ascii: "}"))
    }

    /// Whether the column has single values, whose text does not depend on other columns.
    var isFlat: Bool { collection == .none && !isJSON }
    func hasOriginal(_ row: Int) -> Bool { originals?.isPresent(row) ?? false }

    /// Whether objects have a member for the column in a row.
    func isWritten(_ row: Int, _ parts: OriginalParts? = nil) -> Bool {
        writesNull || isPresent(row) || originals?.has(row) == true || token(parts, row) != nil
    }

    /// Writes the text of a string column as a key.
    func append(key row: Int, to out: inout JSONBytes) { withText(row) { out.append(quoted: $0) } }
    var isText: Bool { kind == .string && collection == .none }
}

/// Values that JSON cannot represent, as found while writing.
struct JSONLoss {
    var nonFinite = 0
    var hasData = false
    /// The number of texts in columns of JSON that are not JSON.
    var notJSON = 0
    /// Original texts of other formats: those written as strings, and numbers in a notation that JSON does not have.
    var textStrings = 0, plainNumbers = 0

    mutating func add(_ other: JSONLoss) {
        nonFinite += other.nonFinite
        hasData = hasData || other.hasData
        notJSON += other.notJSON
        textStrings += other.textStrings
        plainNumbers += other.plainNumbers
    }

    mutating func writeNonFinite(_ out: inout JSONBytes) {
        nonFinite += 1
        out.append("null")
    }
}

extension JSONBytes {
    /// Appends a token in the form of `OriginalToken`.
    mutating func append(token: [UInt8]) {
        guard let string = token.withBytes({ OriginalToken.string($0).map(Array.init) }) else { return append(token) }
        string.withBytes { append(quoted: $0) }
    }

    mutating func append(_ value: Decimal, _ loss: inout JSONLoss) {
        let text = value.description
        guard let first = text.utf8.first(where: { $0 != UInt8(ascii: "-") }), first >= 48, first <= 57 else {
            return loss.writeNonFinite(&self)
        }
        // The exponent is written like that of doubles: 1e400, not 1E+400.
        for byte in text.utf8 where byte != UInt8(ascii: "+") { append(byte == UInt8(ascii: "E") ? UInt8(ascii: "e") : byte) }
    }

    mutating func append(_ value: Float, _ loss: inout JSONLoss) {
        guard value.isFinite else { return loss.writeNonFinite(&self) }
        var text = "\(value)"
        if text.hasSuffix(".0") { text.removeLast(2) }
        append(text)
    }

    mutating func append(_ value: Value, _ loss: inout JSONLoss, indent: Int) {
        switch value {
        case .null: append("null")
        case .bool(let x): if x { append("true") } else { append("false") }
        case .int(let x), .link(let x): append(x)
        case .float(let x): append(x, &loss)
        case .double(let x): if x.isFinite { append(x, .plain) } else { loss.writeNonFinite(&self) }
        case .string(let x): append(quoted: x)
        case .data(let x):
            loss.hasData = true
            x.withBytes { append(base64: $0) }
        case .date(let x): append(date: x.seconds, Int64(x.nanoseconds), .plain)
        case .decimal(let x): append(x, &loss)
        case .objectID(let x): append(objectID: x)
        case .uuid(let x): append(uuid: x, upper: false)
        case .list(let values), .set(let values):
            append(UInt8(ascii: "["))
            for (index, element) in values.enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                if indent >= 0 { breakLine(indent + 1) }
                append(element, &loss, indent: indent < 0 ? indent : indent + 1)
            }
            if indent >= 0, !values.isEmpty { breakLine(indent) }
            append(UInt8(ascii: "]"))
        case .map(let entries), .object(let entries):
            append(UInt8(ascii: "{"))
            for (index, entry) in entries.enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                if indent >= 0 { breakLine(indent + 1) }
                append(quoted: entry.key)
                append(UInt8(ascii: ":"))
                if indent >= 0 { append(UInt8(ascii: " ")) }
                append(entry.value, &loss, indent: indent < 0 ? indent : indent + 1)
            }
            if indent >= 0, !entries.isEmpty { breakLine(indent) }
            append(UInt8(ascii: "}"))
        }
    }
}
