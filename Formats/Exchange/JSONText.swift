import FirnBytes
import FirnTable

/// Writes values as compact JSON text. Flat formats store lists, maps and embedded objects in a cell in this form.
/// Dates, UUIDs and object ids become strings, data becomes base64, decimals become numbers. NaN and the infinities become null.
package enum JSONText {
    /// Appends the value of one row of a column. `schema` contains the names of the fields of embedded objects, `parts` the original texts
    /// within the value.
    package static func append(
        _ column: Column, row: Int, of description: ColumnSchema, in schema: Schema, parts: OriginalParts? = nil, to out: inout [UInt8]
    ) {
        append(column, row, description.type, description.notation, schema, parts, &out)
    }

    /// Appends one value. Fields of objects have the names in their entries.
    package static func append(_ value: Value, notation: Notation = .plain, to out: inout [UInt8]) {
        switch value {
        case .null: append("null", &out)
        case .bool(let x): append(x ? "true" : "false", &out)
        case .int(let x), .link(let x): number(&out) { NumberText.write(x, to: $0) }
        case .float(let x): x.isFinite ? number(&out) { NumberText.write(x, to: $0) } : append("null", &out)
        case .double(let x): x.isFinite ? number(&out) { NumberText.write(x, notation, to: $0) } : append("null", &out)
        case .decimal(let x): x.isNaN || x.description.contains("n") ? append("null", &out) : out.append(contentsOf: x.description.utf8)
        case .string(let x): JSONString.append(Array(x.utf8), to: &out)
        case .data(let x):
            out.append(UInt8(ascii: "\""))
            Base64.append(x, to: &out)
            out.append(UInt8(ascii: "\""))
        case .date(let x):
            out.append(UInt8(ascii: "\""))
            number(&out) { DateText.write(seconds: x.seconds, nanoseconds: Int64(x.nanoseconds), notation: notation, to: $0) }
            out.append(UInt8(ascii: "\""))
        case .uuid(let x): JSONString.append(Array(notation == .uuidUpper ? x.uuidText.uppercased().utf8 : x.uuidText.utf8), to: &out)
        case .objectID(let x): JSONString.append(Array(x.objectIDText.utf8), to: &out)
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
                JSONString.append(Array(entry.key.utf8), to: &out)
                out.append(UInt8(ascii: ":"))
                append(entry.value, notation: notation, to: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    private static func append(
        _ column: Column, _ row: Int, _ type: ColumnType, _ notation: Notation, _ schema: Schema, _ parts: OriginalParts?,
        _ out: inout [UInt8]
    ) {
        if let token = parts?.token(for: column, row, notation) { return OriginalToken.append(token, to: &out) }
        guard column.isPresent(row) else { return append("null", &out) }
        if type.isCollection {
            let range = column.offsets[row]..<column.offsets[row + 1], isMap = type.collection == .map
            out.append(UInt8(ascii: isMap ? "{" : "["))
            for i in range {
                if i > range.lowerBound { out.append(UInt8(ascii: ",")) }
                if isMap {
                    JSONString.append(column.children[0].text.array(i), to: &out)
                    out.append(UInt8(ascii: ":"))
                }
                let inner = parts.flatMap { isMap ? $0[column.children[0].text.array(i)] : $0[element: i - range.lowerBound] }
                append(column.children[isMap ? 1 : 0], i, type.element, notation, schema, inner, &out)
            }
            out.append(UInt8(ascii: isMap ? "}" : "]"))
        } else if type.kind == .embedded, let target = type.target.flatMap({ schema[$0] }) {
            if target.isBare {
                return append(column.children[0], row, target.columns[0].type, target.columns[0].notation, schema, parts, &out)
            }
            out.append(UInt8(ascii: "{"))
            var isFirst = true
            for (field, child) in zip(target.columns, column.children) {
                let inner = parts?[field.name]
                guard child.isPresent(row) || field.writesNull || inner?.token(for: child, row, field.notation) != nil else { continue }
                if !isFirst { out.append(UInt8(ascii: ",")) }
                isFirst = false
                JSONString.append(Array(field.name.utf8), to: &out)
                out.append(UInt8(ascii: ":"))
                append(child, row, field.type, field.notation, schema, inner, &out)
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

extension TypeSchema {
    /// The envelope of embedded types for collections within collections. They have one field; outside formats show its value in place of
    /// the object.
    package static let bareEnvelope = #"{"json":"bare"}"#

    /// Whether outside formats show the value of the only field in place of the object.
    package var isBare: Bool { isEmbedded && columns.count == 1 && columns[0].type.isCollection && envelope == TypeSchema.bareEnvelope }
}

extension TypeSchema {
    /// The attribute of a column whose values are those of a field of objects in the same row: `convert --key a.b`. Permanent.
    package static let fieldCopyAttribute = "copy-of-field"

    /// Whether a column has the values of a field of an object that the type still has, so that JSON need not contain it.
    package func isFieldCopy(_ column: Int) -> Bool {
        guard let path = columns[column].otherAttributes.first(where: { $0.name == TypeSchema.fieldCopyAttribute })?.value else {
            return false
        }
        let name = String(decoding: path, as: UTF8.self)
        return columns.contains { $0.type.kind == .embedded && name.hasPrefix($0.name + ".") }
    }
}
