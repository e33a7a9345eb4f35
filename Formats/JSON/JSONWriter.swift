import FirnBytes
import FirnExchange
import FirnTable
import FirnThreads

/// Writes rows as NDJSON or as one document. A type that was read from JSON is written as the same document (see `JSONReader`). Other types
/// become an array of objects, and several types become an object of such arrays. Missing values are omitted, or null if the column writes
/// null; numbers and dates have the notation of the column. Decimals become numbers, data base64, UUIDs and object ids text, links row ids,
/// sets arrays, maps objects. NaN and the infinities become null, with a remark; if the options are lossless, they are an error.
package final class JSONWriter: BatchWriter {
    private let output: Output
    private let options: JSONOptions
    private var schema = Schema()
    private var envelope: Envelope?
    private var out = JSONBytes()
    /// One for each thread that formats rows, made when it is needed.
    private var rows: [JSONRowText] = []
    private var loss = JSONLoss()
    private var rowsWritten = 0
    /// If there are several types: the one whose array is open.
    private var openType: String?
    private var typesDone: Set<String> = []
    private var isPretty = false
    private var hasLeftOutDocument = false
    /// For each type with rows: the columns without a value so far. Their members are in no row.
    private var missing: [String: Set<Int>] = [:]

    package init(_ output: Output, options: JSONOptions = JSONOptions()) {
        self.output = output
        self.options = options
    }

    package var remarks: [String] {
        var remarks: [String] = []
        if loss.nonFinite > 0 { remarks.append(JSONString.remark(notFinite: loss.nonFinite)) }
        if hasLeftOutDocument { remarks.append("the JSON around the rows in their document was left out") }
        if loss.textStrings > 0 {
            remarks.append(
                loss.textStrings == 1
                    ? "1 original text that is not a number was written as a string"
                    : "\(loss.textStrings) original texts that are not numbers were written as strings")
        }
        if loss.plainNumbers > 0 {
            remarks.append(
                loss.plainNumbers == 1
                    ? "1 number has an original text that is not a number in JSON; its value was written"
                    : "\(loss.plainNumbers) numbers have original texts that are not numbers in JSON; their values were written")
        }
        if loss.notJSON > 0 { remarks.append("\(loss.notJSON) texts in columns of JSON are not JSON, and were written as strings") }
        if envelope?.form == .sequence, rowsWritten > 1 {
            remarks.append(
                "the output is one value after another, as the input was, not one JSON document; --to ndjson writes a line for each")
        }
        if rowsWritten == 0, envelope == nil, schema.roots.count == 1, !schema.roots[0].columns.isEmpty {
            remarks.append("there are no rows, so the columns are not in the output")
        }
        if loss.hasData { remarks.append("bytes were written as base64 text") }
        for type in schema.roots {
            let names = missing[type.name, default: []].sorted().map { "\"\(type.columns[$0].name)\"" }
            guard !names.isEmpty else { continue }
            let listed = names.prefix(4).joined(separator: ", ") + (names.count > 4 ? " and \(names.count - 4) more" : "")
            remarks.append(
                names.count == 1
                    ? "column \(listed) is null in every row, and is not in the output"
                    : "columns \(listed) are null in every row, and are not in the output")
        }
        return remarks
    }

    /// Notes which columns have values. Members that are null are written if the column says so.
    private func note(_ batch: Batch, _ type: TypeSchema, companions: [Int: Int]) {
        guard batch.count > 0 else { return }
        func isEmpty(_ position: Int) -> Bool { batch.columns[position].present?.noneSet ?? false }
        let columns =
            missing[type.name] ?? Set(type.visibleColumns.filter { !type.columns[$0].writesNull && !type.isFieldCopy($0) })
        missing[type.name] = columns.filter { isEmpty($0) && (companions[$0].map(isEmpty) ?? true) }
    }

    private var hasSeveralTypes: Bool { schema.roots.count > 1 }

    package func begin(_ schema: Schema) throws(FirnError) {
        self.schema = schema
        let roots = schema.roots
        if roots.count == 1 { envelope = roots[0].envelope.flatMap { Envelope($0, options.budget) } }
        if options.layout == .lines {
            if roots.count > 1 {
                throw FirnError(
                    .usage, "NDJSON can contain rows of only one type, and there are \(roots.count)",
                    advice: "choose one: FILE:\(roots[0].name)")
            }
            hasLeftOutDocument = envelope?.hasOthers ?? false
            if hasLeftOutDocument, options.isLossless {
                throw FirnError(
                    .rejected, "NDJSON contains only rows, not the JSON around them in their document",
                    advice: "use --to json, or omit --lossless")
            }
            if !(envelope?.isBareValue ?? false) || roots[0].visibleColumns.count != 1 { envelope = nil }
            return
        }
        isPretty = options.isPretty ?? envelope?.isPretty ?? false
        if hasSeveralTypes { return out.append("{") }
        if let envelope, !fits(envelope, roots.first) { self.envelope = nil }
        if let around = envelope?.surroundings { out.append(Array(around.before)) }
        switch envelope?.form {
        case .one, .oneValue, .sequence: break
        case .keyed: out.append("{")
        case .rows, .values, nil: out.append("[")
        }
    }

    /// Whether rows of the type can still be written in the form of the envelope: the columns can have changed since.
    private func fits(_ envelope: Envelope, _ type: TypeSchema?) -> Bool {
        guard let type else { return false }
        switch envelope.form {
        case .values, .oneValue: return type.visibleColumns.count == 1
        case .keyed: return type.columns.first.map { $0.type.kind == .string && !$0.type.isCollection && !$0.type.isOptional } ?? false
        case .sequence: return !envelope.isBare || type.visibleColumns.count == 1
        case .rows, .one: return true
        }
    }

    package func write(_ batch: Batch, type name: String) throws(FirnError) {
        guard let type = schema[name] else { trap("write only batches of types that were passed to begin") }
        if hasSeveralTypes { try open(name) }
        let companions = type.companions
        note(batch, type, companions: companions)
        let form = envelope?.form
        if form == .one || form == .oneValue, rowsWritten + batch.count > 1 {
            throw FirnError(.schema, "the original document is a single value and cannot hold several rows", advice: "use --to ndjson")
        }
        try flush()
        let columns = type.visibleColumns.filter { !type.isFieldCopy($0) }
        let names = columns.reduce(0) { $0 &+ JSONWriter.nameBytes(batch.columns[$1], type.columns[$1], schema) }
        for pieces in RowPieces.groups(batch, 0..<batch.count, threads: options.threads, names: names) {
            while rows.count < pieces.count { rows.append(JSONRowText()) }
            let rows = rows, form = rowForm, isFirst = rowsWritten == 0, schema = schema, isPretty = isPretty
            parallel(count: pieces.count, threads: pieces.count) { (i) throws(Never) in
                let fields = columns.map { position in
                    ColumnView(
                        batch.columns[position], type.columns[position], schema, isPretty: isPretty,
                        originals: companions[position].map { (batch.columns[$0], type.columns[$0]) })
                }
                rows[i].format(fields, pieces[i], form, isFirst: isFirst && i == 0)
            }
            for i in pieces.indices {
                loss.add(rows[i].loss)
                try output.write(rows[i].bytes)
                rowsWritten += pieces[i].count
            }
        }
        if options.isLossless, loss.nonFinite > 0 {
            throw FirnError(.rejected, "JSON has no way to write NaN or an infinity", advice: "omit --lossless to write null")
        }
    }

    /// Returns the number of bytes of the names that are written with the values of a column: its own in each row, and those of the fields
    /// within it. A short file can have long names.
    private static func nameBytes(_ column: Column, _ description: ColumnSchema, _ schema: Schema) -> Int {
        let own = (description.name.utf8.count &+ 4) &* column.count
        if column.type.isCollection {
            var element = description
            element.type = column.type.element
            element.name = ""
            return column.children.reduce(own) { $0 &+ nameBytes($1, element, schema) }
        }
        let fields = column.type.target.flatMap { schema[$0] }?.columns ?? []
        return zip(column.children, fields).reduce(own) { $0 &+ nameBytes($1.0, $1.1, schema) }
    }

    /// How each row of the type is written.
    private var rowForm: JSONRowForm {
        let newline: [UInt8] = [10]
        if options.layout == .lines { return JSONRowForm(content: envelope == nil ? .object : .value, after: newline) }
        let depth = isPretty ? envelope?.depth ?? 0 : -1
        switch envelope?.form {
        case .one: return JSONRowForm(indent: depth)
        case .oneValue: return JSONRowForm(content: .value, indent: depth)
        case .sequence:
            let mark = envelope?.hasSeparators ?? false ? [ValueCutter.separator] : []
            let content: JSONRowForm.Content = envelope?.isBare ?? false ? .value : .object
            return JSONRowForm(content: content, beforeFirst: mark, before: mark, after: newline, indent: depth)
        case let form:
            var line = JSONBytes()
            line.breakLine(isPretty ? rowIndent : 0)
            let first = Array(line.bytes)
            return JSONRowForm(
                content: form == .keyed ? .keyed : form == .values ? .value : .object, beforeFirst: first,
                before: [UInt8(ascii: ",")] + first, indent: isPretty ? rowIndent : -1)
        }
    }

    private var rowIndent: Int { hasSeveralTypes ? 2 : 1 + (envelope?.depth ?? 0) }

    package func finish() throws(FirnError) {
        if options.layout == .document {
            if hasSeveralTypes {
                closeType()
                for type in schema.roots where !typesDone.contains(type.name) {
                    try open(type.name)
                    closeType()
                }
                if isPretty || !typesDone.isEmpty { out.breakLine(0) }
                out.append("}")
            } else {
                close()
            }
            if envelope?.form != .sequence { out.append(UInt8(ascii: "\n")) }
        }
        try flush()
        try output.finish()
    }

    private func close() {
        switch envelope?.form {
        case .one, .oneValue: if rowsWritten == 0 { out.append("null") }
        case .keyed: closeBracket("}")
        case .rows, .values, nil: closeBracket("]")
        case .sequence: break
        }
        if let around = envelope?.surroundings { out.append(Array(around.after)) }
    }

    private func closeBracket(_ bracket: StaticString) {
        if rowsWritten > 0 { out.breakLine(isPretty ? envelope?.depth ?? 0 : 0) }
        out.append(bracket)
    }

    // MARK: Several types

    private func open(_ name: String) throws(FirnError) {
        if openType == name { return }
        closeType()
        guard typesDone.insert(name).inserted else { trap("write all batches of a type before those of the next") }
        if typesDone.count > 1 { out.append(UInt8(ascii: ",")) }
        out.breakLine(isPretty ? 1 : 0)
        out.append(quoted: name)
        out.append(isPretty ? ": [" : ":[")
        openType = name
        rowsWritten = 0
    }

    private func closeType() {
        guard openType != nil else { return }
        if rowsWritten > 0 { out.breakLine(isPretty ? 1 : 0) }
        out.append("]")
        openType = nil
    }

    private func flush() throws(FirnError) {
        if out.count == 0 { return }
        try output.write(out.bytes)
        out.removeAll()
    }
}
