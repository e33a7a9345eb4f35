import FirnBytes
import FirnExchange
import FirnTable

/// What is known about the columns before rows are read. It does not change.
final class ArrowLayout: @unchecked Sendable {
    let name: String
    let fields: [ArrowField]
    let total: ArrowField.Numbering
    let plans: [ArrowPlan]
    let dictionaries: ArrowDictionaryIndex
    let schema: Schema
    let type: TypeSchema
    /// The types of the folder that the rows were written into.
    let folderTypes: [String]
    let remarks: [String]
    /// Those of the remarks that are about values which are lost.
    let losses: [String]

    /// - Parameters:
    ///   - more: Metadata in addition to that of the schema.
    ///   - hasNulls: The nodes that have nulls, although they are declared as not null.
    init(
        _ schema: ArrowSchema, named name: String, _ options: ArrowOptions, more: [MetadataEntry] = [], hasNulls: Set<Int> = []
    ) throws(FirnError) {
        self.name = name
        fields = schema.fields
        total = schema.total
        let entries = schema.metadata + more
        folderTypes = entries.last { $0.key == FolderTypes.key }.map { FolderTypes.names($0.value) } ?? []
        let linked = options.readsFolder ? folderTypes : []
        let record = entries.last { $0.key == ArrowFormat.firnSchema }.flatMap { ArrowSchemaRecord.schema($0.value) }.map {
            ArrowLayout.named($0, options, linked: linked)
        }
        let given = record?.roots.first, typeName = given.map(\.name) ?? options.typeName
        var planner = ArrowPlanner(typeName: typeName, record: record, hasNulls: hasNulls)
        var plans: [ArrowPlan]
        do throws(ArrowFault) {
            plans = try planner.rows(schema.fields, path: typeName, given: given)
            dictionaries = try ArrowDictionaryIndex(schema.fields, plans, hasUnionValidity: total.hasUnionValidity)
        } catch { throw error.error(in: name) }
        var embedded = planner.embedded
        if let wanted = options.columns {
            let needed = wanted.map { name in plans.firstIndex { name == $0.name || name.hasPrefix($0.name + ".") } }
            if !needed.contains(nil) {
                let positions = Set(needed.compactMap(\.self))
                plans = plans.indices.filter(positions.contains).map { plans[$0] }
            }
            let used = ArrowLayout.targets(plans.map(\.type), embedded)
            embedded.removeAll { !used.contains($0.name) }
        }
        self.plans = plans
        var type = TypeSchema(typeName, columns: ArrowPlanner.columns(plans))
        if let given {
            let key = given.key.map { given.columns[$0].name }, positions = key.map { type.index(of: $0) }
            if !positions.contains(nil) { type.key = positions.compactMap(\.self) }
            // What surrounded the rows fits only if they have the same columns.
            if type.columns.map(\.name) == given.columns.map(\.name) { type.envelope = given.envelope }
            type.otherAttributes = given.otherAttributes
        }
        self.type = type
        var whole = Schema([type] + embedded)
        whole.otherAttributes = (record?.otherAttributes ?? []).filter { !$0.name.hasPrefix("meta:") }
        // What was written for the type is not that of the file.
        let ofType = type.metadata, ofFile = record?.metadata ?? []
        whole.metadata = ArrowMetadata.kept(entries).filter { !ofType.contains($0) || ofFile.contains($0) }
        self.schema = whole
        let lost = ArrowMetadata.lost(entries)
        losses = planner.leftOut
        remarks = planner.remarks + (lost > 0 ? ["entries of the metadata are too many or too long, and were left out: \(lost)"] : [])
    }

    /// Returns the schema that was recorded, with the name that the type of the rows gets, and with links to `linked` and to this type only.
    private static func named(_ record: Schema, _ options: ArrowOptions, linked: [String]) -> Schema {
        guard let root = record.types.firstIndex(where: { !$0.isEmbedded }) else { return record }
        var record = record
        let stored = record.types[root].name, name = options.keepsTypeName ? stored : options.typeName
        record = ArrowMapping.unlinked(record, except: Set(linked + [stored]))
        guard name != stored else { return record }
        // The name can be that of one of the types of objects.
        if record[name] != nil {
            var other = name + "_object"
            while record[other] != nil { other += "_" }
            record = rename(name, to: other, in: record)
        }
        return rename(stored, to: name, in: record)
    }

    private static func rename(_ name: String, to new: String, in schema: Schema) -> Schema {
        var schema = schema
        for type in schema.types.indices {
            if schema.types[type].name == name { schema.types[type].name = new }
            for column in schema.types[type].columns.indices where schema.types[type].columns[column].type.target == name {
                schema.types[type].columns[column].type.target = new
            }
        }
        return schema
    }

    /// Returns the names of the embedded types that columns lead to.
    private static func targets(_ types: [ColumnType], _ embedded: [TypeSchema]) -> Set<String> {
        let byName = Dictionary(embedded.map { ($0.name, $0) }) { first, _ in first }
        var found: Set<String> = [], waiting = types.compactMap(\.target)
        while let next = waiting.popLast() {
            guard found.insert(next).inserted, let type = byName[next] else { continue }
            waiting += type.columns.compactMap(\.type.target)
        }
        return found
    }

    /// Decodes one column of some rows of a batch.
    func column(_ index: Int, _ batch: ArrowBatch, _ rows: Range<Int>) throws(FirnError) -> (column: Column, changes: ArrowChanges) {
        var decoder = ArrowDecoder(batch)
        do throws(ArrowFault) {
            return (try decoder.column(plans[index], rows), decoder.changes)
        } catch { throw self.error(error, column: index, batch) }
    }

    func error(_ fault: ArrowFault, column: Int, _ batch: ArrowBatch) -> FirnError {
        fault.error(in: name, "column \"\(plans[column].name)\", batch \(batch.index)")
    }

    /// Returns the number of rows of a part of a batch of about 16 MiB.
    func partRows(_ batch: ArrowBatch, _ options: ArrowOptions) -> Int {
        let perRow = max(batch.plainBytes / max(batch.rowCount, 1), total.node * 16)
        return max(1, min(options.batchRows, max(1024, (16 << 20) / max(perRow, 1))))
    }
}

/// A file, or a stream in a file, with its metadata.
final class ArrowContent: @unchecked Sendable {
    /// A batch that is not read yet.
    private struct Entry {
        var block: ArrowBlock
        var firstRow: Int
        var rowCount: Int
        var dictionaries: Int
    }

    let file: FileBytes
    let layout: ArrowLayout
    private let entries: [Entry]
    /// The dictionaries after each change.
    private let states: [ArrowDictionaries]
    let rowCount: Int
    let remarks: [String]

    var batchCount: Int { entries.count }

    init(_ file: FileBytes, _ options: ArrowOptions) throws(FirnError) {
        self.file = file
        let isFile = file.bytes.starts(with: ArrowFormat.magic)
        do throws(ArrowFault) {
            let parts = isFile ? try ArrowContent.file(file) : try ArrowContent.stream(file)
            let more = parts.metadata.map { MetadataEntry($0.key, $0.value) }
            let hasNulls = try ArrowContent.nulls(file, parts)
            do throws(FirnError) {
                layout = try ArrowLayout(parts.schema, named: file.name, options, more: more, hasNulls: hasNulls)
            } catch { throw ArrowLayoutError(error: error).fault }
            (entries, states, rowCount) = try ArrowContent.index(file, parts, layout)
            remarks = layout.remarks + parts.remarks
        } catch { throw error.error(in: file.name) }
        if file.isBroken { throw FirnError.truncated(file.name) }
    }

    /// Where the messages are.
    private struct Parts {
        var schema: ArrowSchema
        /// Dictionaries and batches of rows, in their order.
        var blocks: [(block: ArrowBlock, isDictionary: Bool)] = []
        /// Whether the dictionaries are valid for all batches, wherever they are.
        var isFile = false
        var metadata: [ArrowFooter.MetadataPair] = []
        var remarks: [String] = []
    }

    private static func file(_ file: FileBytes) throws(ArrowFault) -> Parts {
        let footer = try ArrowFooter(file)
        var parts = Parts(schema: footer.schema, isFile: true, metadata: footer.metadata)
        parts.blocks = footer.dictionaries.map { ($0, true) } + footer.batches.map { ($0, false) }
        return parts
    }

    private static func stream(_ file: FileBytes) throws(ArrowFault) -> Parts {
        try ArrowSignature.check(file.bytes)
        var parts: Parts?, at = 0, isEnded = false
        while at < file.count {
            let (prefix, length) = try ArrowMessage.prefix(UnsafeRawBufferPointer(rebasing: file.bytes[at...]), base: at)
            if length == 0 {
                at += prefix
                isEnded = true
                break
            }
            let message = try ArrowMessage(try file.slice(at + prefix, length, "a message"), base: at + prefix)
            let block = ArrowBlock(offset: at, prefixLength: prefix + length, bodyLength: message.bodyLength)
            _ = try file.slice(at + block.prefixLength, block.bodyLength, "the body of a message: the stream is cut short, or the body")
            switch message.kind {
            case .schema:
                guard parts == nil else { throw ArrowFault("a second schema follows the first one", at: at) }
                parts = Parts(schema: try ArrowSchema(message.header, version: message.version, size: length))
            default:
                guard parts != nil else { throw ArrowFault("the stream does not begin with a schema", at: at) }
                parts?.blocks.append((block, message.kind == .dictionaryBatch))
            }
            at = block.end
        }
        guard var parts else { throw ArrowFault("the stream has no schema: it is cut short", at: file.count) }
        if !isEnded { parts.remarks.append(ArrowContent.noEnd) }
        if at < file.count { parts.remarks.append("\(file.count - at) bytes follow the end of the stream, and are not read") }
        return parts
    }

    static let noEnd = "the stream has no end marker: it may be cut short after a batch"

    private static func message(_ file: FileBytes, _ block: ArrowBlock) throws(ArrowFault) -> ArrowMessage {
        let bytes = try file.slice(block.offset, block.prefixLength, "a message")
        let (prefix, length) = try ArrowMessage.prefix(bytes, base: block.offset)
        guard length > 0, length <= block.prefixLength - prefix else {
            throw ArrowFault("a message has the length \(length), and \(block.prefixLength - prefix) bytes", at: block.offset)
        }
        return try ArrowMessage(UnsafeRawBufferPointer(rebasing: bytes[prefix..<prefix + length]), base: block.offset + prefix)
    }

    /// Returns the nodes of the rows that have nulls.
    private static func nulls(_ file: FileBytes, _ parts: Parts) throws(ArrowFault) -> Set<Int> {
        var required: [Int] = []
        func collect(_ field: ArrowField) {
            if !field.isNullable { required.append(field.node) }
            for child in field.stored { collect(child) }
        }
        for field in parts.schema.fields { collect(field) }
        guard !required.isEmpty else { return [] }
        var found: Set<Int> = []
        for (block, isDictionary) in parts.blocks where !isDictionary {
            let header = try ArrowBatchHeader(try message(file, block).batch(), parts.schema.total)
            for node in required where try header.node(node).nulls > 0 { found.insert(node) }
        }
        return found
    }

    private static func index(_ file: FileBytes, _ parts: Parts, _ layout: ArrowLayout) throws(ArrowFault) -> (
        [Entry], [ArrowDictionaries], Int
    ) {
        var entries: [Entry] = [], states = [ArrowDictionaries()], current = ArrowDictionaries(), rows = 0, isChanged = false
        for (block, isDictionary) in parts.blocks {
            let message = try message(file, block)
            guard (message.kind == .dictionaryBatch) == isDictionary, message.kind != .schema else {
                throw ArrowFault("a message is not of the kind that the footer names", at: block.offset)
            }
            if isDictionary {
                let (id, isDelta) = try message.dictionary
                guard let total = layout.dictionaries.totals[id] else {
                    throw ArrowFault("no column has the dictionary \(id)", at: block.offset)
                }
                // Those of columns that are not read are passed over.
                guard layout.dictionaries.plans[id] != nil else { continue }
                if parts.isFile, !isDelta, current.has(id) {
                    throw ArrowFault("the dictionary \(id) is in the file twice", at: block.offset)
                }
                let header = try ArrowBatchHeader(try message.batch(), total)
                let batch = try self.batch(file, block, message, header, index: 0, ArrowDictionaries())
                try current.add(id, batch, isDelta: isDelta, layout.dictionaries)
                isChanged = true
                continue
            }
            if isChanged { states.append(current) }
            isChanged = false
            let header = try ArrowBatchHeader(try message.batch(), layout.total)
            guard !layout.fields.isEmpty || header.rowCount == 0 else {
                throw ArrowFault.unknown("a batch has \(header.rowCount) rows and no columns", at: block.offset)
            }
            entries.append(Entry(block: block, firstRow: rows, rowCount: header.rowCount, dictionaries: states.count - 1))
            rows += header.rowCount
        }
        if parts.isFile {
            states = [current]
            for i in entries.indices { entries[i].dictionaries = 0 }
        }
        return (entries, states, rows)
    }

    private static func batch(
        _ file: FileBytes, _ block: ArrowBlock, _ message: ArrowMessage, _ header: ArrowBatchHeader, index: Int,
        _ dictionaries: ArrowDictionaries
    ) throws(ArrowFault) -> ArrowBatch {
        let start = block.offset + block.prefixLength
        return ArrowBatch(
            header, index: index, body: try file.slice(start, message.bodyLength, "the body of a batch"), at: start, owners: [file],
            dictionaries: dictionaries)
    }

    func rows(ofBatch index: Int) -> Range<Int> { entries[index].firstRow..<entries[index].firstRow + entries[index].rowCount }

    /// Returns the batch at a position.
    func batch(_ index: Int) throws(FirnError) -> ArrowBatch {
        let entry = entries[index]
        do throws(ArrowFault) {
            let message = try ArrowContent.message(file, entry.block)
            let header = try ArrowBatchHeader(try message.batch(), layout.total)
            guard header.rowCount == entry.rowCount else { throw ArrowFault("the file changed while it was read", at: entry.block.offset) }
            return try ArrowContent.batch(file, entry.block, message, header, index: index, states[entry.dictionaries])
        } catch { throw error.error(in: file.name, "batch \(index)") }
    }

    var bytes: Int { entries.reduce(0) { $0 + $1.block.bodyLength } }
}

/// An error of the layout within the reading of a file, as a fault.
private struct ArrowLayoutError {
    let error: FirnError
    var fault: ArrowFault {
        ArrowFault(error.message, at: error.location?.byte.map { Int(clamping: $0) }, code: error.code, advice: error.advice)
    }
}

/// Recognises data of other formats.
enum ArrowSignature {
    /// Throws if the bytes are not the beginning of a stream.
    static func check(_ bytes: UnsafeRawBufferPointer) throws(ArrowFault) {
        if bytes.starts(with: ArrowFormat.formerMagic) {
            throw ArrowFault(
                "this is a Feather file of version 1, a format that has nothing in common with Arrow files", at: 0, code: .unsupported,
                advice:
                    "write it again as version 2, in Python: pyarrow.feather.write_feather(pyarrow.feather.read_table(\"OLD\"), \"NEW.arrow\")"
            )
        }
        guard !bytes.isEmpty else { throw ArrowFault("the file is empty", code: .notThisFormat) }
        // A message that cannot begin a stream is another format, not damage.
        guard bytes.count >= 8 else {
            let isBegun = ArrowFormat.magic.starts(with: bytes) || bytes.allSatisfy { $0 == 0xFF }
            throw ArrowFault("this is no Arrow data", at: 0, code: isBegun ? .damaged : .notThisFormat)
        }
        let first = UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))
        guard first == ArrowFormat.continuation || first > 0 && first < 1 << 27 else {
            throw ArrowFault(
                "this is no Arrow data: it begins neither with \"ARROW1\" nor with a message", at: 0, code: .notThisFormat,
                advice: "omit --from to detect the format")
        }
    }
}
