import FirnBytes
import FirnTable

/// Writes values as compact JSON text. Flat formats store lists, maps and embedded objects in a cell in this form.
/// Dates, UUIDs and object ids become strings, data becomes base64, decimals become numbers. NaN and the infinities become null.
package enum JSONText {
    /// Appends the value of one row of a column. `schema` contains the names of the fields of embedded objects.
    package static func append(_ column: Column, row: Int, of description: ColumnSchema, in schema: Schema, to out: inout [UInt8]) {
        append(column, row, description.type, description.notation, schema, &out)
    }

    /// Appends one value. Fields of objects have the names in their entries.
    package static func append(_ value: Value, notation: Notation = .plain, to out: inout [UInt8]) {
        switch value {
        case .null: append("null", &out)
        case .bool(let x): append(x ? "true" : "false", &out)
        case .int(let x), .link(let x): number(&out) { NumberText.write(x, to: $0) }
        case .float(let x): x.isFinite ? number(&out) { CellText.write(x, to: $0) } : append("null", &out)
        case .double(let x): x.isFinite ? number(&out) { CellText.write(x, notation, to: $0) } : append("null", &out)
        case .decimal(let x): x.isNaN || x.description.contains("n") ? append("null", &out) : out.append(contentsOf: x.description.utf8)
        case .string(let x): string(Array(x.utf8), &out)
        case .data(let x):
            out.append(UInt8(ascii: "\""))
            CellText.appendBase64(x, to: &out)
            out.append(UInt8(ascii: "\""))
        case .date(let x):
            out.append(UInt8(ascii: "\""))
            number(&out) { DateText.write(seconds: x.seconds, nanoseconds: Int64(x.nanoseconds), notation: notation, to: $0) }
            out.append(UInt8(ascii: "\""))
        case .uuid(let x): string(Array(notation == .uuidUpper ? x.uuidText.uppercased().utf8 : x.uuidText.utf8), &out)
        case .objectID(let x): string(Array(x.objectIDText.utf8), &out)
        case .list(let values), .set(let values):
            out.append(UInt8(ascii: "["))
            for (i, element) in values.enumerated() {
                if i > 0 { out.append(UInt8(ascii: ",")) }
                append(element, notation: notation, to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .map(let entries), .object(let entries):
            out.append(UInt8(ascii: "{"))
            for (i, entry) in entries.enumerated() {
                if i > 0 { out.append(UInt8(ascii: ",")) }
                string(Array(entry.key.utf8), &out)
                out.append(UInt8(ascii: ":"))
                append(entry.value, notation: notation, to: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    /// Appends a string with its quotes. Only characters that must be escaped are escaped.
    package static func string(_ utf8: [UInt8], _ out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): out.append(contentsOf: [UInt8(ascii: "\\"), byte])
            case 10: append("\\n", &out)
            case 13: append("\\r", &out)
            case 9: append("\\t", &out)
            case 0..<32:
                let hex = Array("0123456789abcdef".utf8)
                append("\\u00", &out)
                out.append(contentsOf: [hex[Int(byte >> 4)], hex[Int(byte & 15)]])
            default: out.append(byte)
            }
        }
        out.append(UInt8(ascii: "\""))
    }

    private static func append(
        _ column: Column, _ row: Int, _ type: ColumnType, _ notation: Notation, _ schema: Schema, _ out: inout [UInt8]
    ) {
        guard column.isPresent(row) else { return append("null", &out) }
        if type.isCollection {
            let range = column.offsets[row]..<column.offsets[row + 1], isMap = type.collection == .map
            out.append(UInt8(ascii: isMap ? "{" : "["))
            for i in range {
                if i > range.lowerBound { out.append(UInt8(ascii: ",")) }
                if isMap {
                    string(column.children[0].text.array(i), &out)
                    out.append(UInt8(ascii: ":"))
                }
                append(column.children[isMap ? 1 : 0], i, type.element, notation, schema, &out)
            }
            out.append(UInt8(ascii: isMap ? "}" : "]"))
        } else if type.kind == .embedded, let target = type.target.flatMap({ schema[$0] }) {
            out.append(UInt8(ascii: "{"))
            var isFirst = true
            for (field, child) in zip(target.columns, column.children) where child.isPresent(row) || field.writesNull {
                if !isFirst { out.append(UInt8(ascii: ",")) }
                isFirst = false
                string(Array(field.name.utf8), &out)
                out.append(UInt8(ascii: ":"))
                append(child, row, field.type, field.notation, schema, &out)
            }
            out.append(UInt8(ascii: "}"))
        } else {
            append(column.value(at: row), notation: notation, to: &out)
        }
    }

    private static func append(_ text: StaticString, _ out: inout [UInt8]) {
        out.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private static func number(_ out: inout [UInt8], _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { buffer in
            let count = write(buffer.baseAddress!)
            out.append(contentsOf: buffer[..<count])
        }
    }
}

/// The text of single values, as several formats write it.
package enum CellText {
    /// Writes a double in the notation of its column, and returns the number of bytes.
    package static func write(_ value: Double, _ notation: Notation, to out: UnsafeMutablePointer<UInt8>) -> Int {
        switch notation.code {
        case Notation.fixed(0).code: NumberText.write(value, fixed: Int(notation.parameter), to: out)
        case Notation.pointZero.code: NumberText.writePointZero(value, to: out)
        default: NumberText.writePlain(value, to: out)
        }
    }

    /// Writes the shortest text that reads back as the same float, and returns the number of bytes.
    package static func write(_ value: Float, to out: UnsafeMutablePointer<UInt8>) -> Int {
        NumberText.writePlain(value.isFinite ? Double(value.description)! : Double(value), to: out)
    }

    package static func appendBase64(_ bytes: [UInt8], to out: inout [UInt8]) {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var at = 0
        while at < bytes.count {
            let left = bytes.count - at
            let word = UInt32(bytes[at]) << 16 | (left > 1 ? UInt32(bytes[at + 1]) << 8 : 0) | (left > 2 ? UInt32(bytes[at + 2]) : 0)
            out.append(digits[Int(word >> 18)])
            out.append(digits[Int(word >> 12 & 63)])
            out.append(left > 1 ? digits[Int(word >> 6 & 63)] : UInt8(ascii: "="))
            out.append(left > 2 ? digits[Int(word & 63)] : UInt8(ascii: "="))
            at += 3
        }
    }

    /// Returns the bytes for base64 text in exactly the form that `appendBase64` writes; nil for any other text, for example without
    /// padding.
    package static func bytes(base64 text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        var out: [UInt8] = []
        out.reserveCapacity(text.count / 4 * 3)
        var at = 0
        while at < text.count {
            var word: UInt32 = 0, padding = 0
            for i in 0..<4 {
                let byte = text[at + i]
                if byte == UInt8(ascii: "=") {
                    guard at + 4 == text.count, i >= 2 else { return nil }
                    padding += 1
                    word <<= 6
                } else {
                    guard padding == 0, let digit = digit64(byte) else { return nil }
                    word = word << 6 | digit
                }
            }
            // Other bits in the last digit would not survive a round trip.
            if (padding == 1 && word & 0xFF != 0) || (padding == 2 && word & 0xFFFF != 0) { return nil }
            for i in 0..<(3 - padding) { out.append(UInt8(truncatingIfNeeded: word >> UInt32(16 - 8 * i))) }
            at += 4
        }
        return out
    }

    private static func digit64(_ byte: UInt8) -> UInt32? {
        switch byte {
        case 65...90: UInt32(byte) - 65
        case 97...122: UInt32(byte) - 71
        case 48...57: UInt32(byte) + 4
        case 43: 62
        case 47: 63
        default: nil
        }
    }
}
