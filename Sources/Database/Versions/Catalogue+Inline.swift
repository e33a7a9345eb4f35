import FirnBytes
import FirnCodecs
import FirnStore
import FirnTable

/// The inline catalogue of a small file of one commit: it contains the schema and the segments (`docs/format/model.md`, "Inline
/// catalogue").
///
///     form u8 (2 plain, 3 one zstd frame: size varint first) · body
///     body = schema: length varint, bytes · for each type: segment
///     segment = next row id varint · row count << 1 | row ids listed varint; nothing else if no row
///             · first row id varint · [row ids: length varint, integer stream]
///             · for each column: chunk length << 3 | bare << 2 | zone flags varint · the chunks end to end
extension Catalogue {
    private static let plain: UInt8 = 2, framed: UInt8 = 3
    /// The maximum length of the body in bytes. It keeps opening a matter of microseconds.
    static let maximumInlineSize = 128 << 10

    static func isInline(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.first == plain || bytes.first == framed }

    /// Returns an encoded inline catalogue, or nil if it would be too long.
    static func encodedInline(
        _ schema: Schema, _ types: [(nextRowID: Int64, header: (SegmentHeader, UnsafeRawBufferPointer)?)], profile: Profile
    ) -> [UInt8]? {
        var out = ByteWriter()
        out.append(lengthPrefixed: schema.encoded)
        for (type, state) in zip(schema.types, types) {
            out.appendVarint(Int(state.nextRowID))
            guard let (header, bytes) = state.header else {
                out.appendVarint(0)
                continue
            }
            header.encodeInline(bytes, columns: type.columns, into: &out)
        }
        guard out.count <= maximumInlineSize else { return nil }
        var whole = [plain] + out.bytes
        var frame = ByteWriter()
        frame.append(framed)
        frame.appendVarint(out.count)
        frame.append(contentsOf: Frame.compress(out.bytes, level: profile == .fast ? 3 : 15))
        if frame.count < whole.count { whole = frame.bytes }
        return whole.count <= StoreTransaction.maximumInlineBytes ? whole : nil
    }

    /// Decodes an inline catalogue. The state of each type contains its segment header in the ordinary form, in memory.
    static func decodeInline(_ bytes: UnsafeRawBufferPointer) throws(Damage) -> (Catalogue, Schema) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == framed else {
            return try decodeInline(body: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
        }
        let size = try reader.readCount(limit: maximumInlineSize)
        let body = try Frame.expand(try reader.read(count: reader.remaining), size: size)
        let result = body.withUnsafeBytes { body in Result { () throws(Damage) in try decodeInline(body: body) } }
        return try result.get()
    }

    private static func decodeInline(body: UnsafeRawBufferPointer) throws(Damage) -> (Catalogue, Schema) {
        var reader = ByteReader(body)
        let schema = try Schema(encoded: try reader.readLengthPrefixed())
        var types: [TypeState] = []
        for type in schema.types {
            var state = TypeState()
            let offset = reader.position
            state.nextRowID = Int64(try reader.readCount())
            if let header = try SegmentHeader(inline: &reader, columns: type.columns) {
                let bytes = FixedBytes(header.encoded)
                // The ordinary form locates each chunk, and passes the ordinary checks.
                let entry = try DirectoryEntry(inner: try SegmentHeader(bytes.bytes))
                guard entry.lastRowID < state.nextRowID else { throw Damage("a segment holds row ids that were never given", at: offset) }
                state.liveRows = entry.rowCount
                state.segmentCount = 1
                state.inner = (entry, bytes)
            }
            types.append(state)
        }
        guard reader.isAtEnd else { throw Damage("bytes after the catalogue", at: reader.position) }
        return (Catalogue(schemaRef: .none, types: types), schema)
    }
}

extension DirectoryEntry {
    /// Creates the entry of a segment whose header has no extent of its own.
    fileprivate init(inner header: SegmentHeader) throws(Damage) {
        let last = try header.decodeRowIDs()?.last ?? Int64(header.rowCount - 1)
        let (lastRowID, overflow) = header.firstRowID.addingReportingOverflow(last)
        guard !overflow else { throw Damage("row ids out of range") }
        self.init(firstRowID: header.firstRowID, lastRowID: lastRowID, rowCount: header.rowCount, deletedCount: 0, header: .none)
    }
}

extension SegmentHeader {
    /// Encodes a packed header, whose ordinary form is `bytes`, in the short form. It omits the bounds of zones: there is almost nothing to
    /// skip.
    fileprivate func encodeInline(_ bytes: UnsafeRawBufferPointer, columns: [ColumnSchema], into out: inout ByteWriter) {
        out.appendVarint(rowCount << 1 | (rowIDs == nil ? 0 : 1))
        out.appendVarint(Int(firstRowID))
        if let rowIDs { out.append(lengthPrefixed: rowIDs) }
        var chunks: [UnsafeRawBufferPointer] = []
        for (entry, column) in zip(entries, columns) {
            let chunk = UnsafeRawBufferPointer(rebasing: bytes[entry.packed!])
            let streams = (try? Chunk.split(chunk)) ?? []
            let isBare = streams.count == 1 && streams[0].kind == column.type.payload[0]
            chunks.append(isBare ? streams[0].bytes : chunk)
            out.appendVarint(chunks.last!.count << 3 | (isBare ? 4 : 0) | Int(entry.zone.flags))
        }
        for chunk in chunks { out.append(contentsOf: chunk) }
    }

    /// Decodes the short form, with the chunks in `packedChunks`, ready to be encoded in the ordinary form. Nil if there are no rows.
    fileprivate init?(inline reader: inout ByteReader, columns: [ColumnSchema]) throws(Damage) {
        let offset = reader.position
        let first = try reader.readCount(limit: segmentSize << 1 | 1)
        if first == 0 { return nil }
        guard first > 1 else { throw Damage("row ids are listed for a type without rows", at: offset) }
        self.init(rowCount: first >> 1, firstRowID: Int64(try reader.readCount()), entries: [])
        if first & 1 == 1 { rowIDs = Array(try reader.readLengthPrefixed()) }
        var forms: [(length: Int, isBare: Bool)] = []
        for column in columns {
            let form = try reader.readCount(limit: reader.bytes.count << 3 | 7)
            forms.append((form >> 3, form & 4 != 0))
            entries.append(Entry(columnID: column.id, zone: try Zone(flags: UInt8(form & 3), kind: 0, low: 0, high: 0)))
        }
        var chunks: [[UInt8]] = []
        for (form, column) in zip(forms, columns) {
            let bytes = Array(try reader.read(count: form.length))
            chunks.append(form.isBare ? Chunk(streams: [(column.type.payload[0], bytes)]).encoded : bytes)
        }
        packedChunks = chunks
    }
}

extension DatabaseTransaction {
    /// Returns the inline catalogue of the file that this transaction creates; nil if the file needs the ordinary form.
    func inlineCatalogue() throws(FirnError) -> [UInt8]? {
        guard mayBeInline, store.canBeInline, !store.changesHistory,
            states.allSatisfy({ $0.segmentCount <= 1 && $0.indexes.isEmpty && $0.delta.isNone && $0.deltaRows == 0 && $0.touched.isEmpty })
        else { return nil }
        return try reading { () throws(Damage) -> [UInt8]? in
            var types: [(nextRowID: Int64, header: (SegmentHeader, UnsafeRawBufferPointer)?)] = [], total = 0
            for (state, type) in zip(states, schema.types) {
                guard state.segmentCount == 1 else {
                    types.append((state.nextRowID, nil))
                    continue
                }
                let entry = try DirectoryEntry(try store.read(state.directory), 0)
                total += Int(entry.header.length)
                guard total <= 2 * Catalogue.maximumInlineSize, entry.deletedCount == 0 else { return nil }
                let bytes = try store.read(entry.header), header = try SegmentHeader(bytes)
                guard header.deletes == nil, header.entries.map(\.columnID) == type.columns.map(\.id),
                    header.entries.allSatisfy({ $0.packed != nil })
                else { return nil }
                types.append((state.nextRowID, (header, bytes)))
            }
            return Catalogue.encodedInline(schema, types, profile: profile)
        }
    }

    /// Writes the segment headers of an inline catalogue as extents of their own, so that the file can be changed like any other.
    func writeOutInner() throws(FirnError) {
        for type in states.indices {
            guard let (entry, header) = states[type].inner else { continue }
            states[type].inner = nil
            states[type].segmentCount = 0
            var moved = entry
            moved.header = try store.write(header.bytes)
            try directoryChange(type) { (entries) throws(FirnError) in entries = [moved] }
        }
    }
}
