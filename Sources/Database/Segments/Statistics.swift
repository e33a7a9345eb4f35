import FirnBytes
import FirnStore
import FirnTable

/// The space that one column takes in a file, for `firn info`.
package struct ColumnStatistics: Sendable {
    package var name: String
    package var type: ColumnType
    /// The bytes of its chunks and chunk overlays.
    package var bytes = 0
    /// The bytes of dictionaries that its segments share.
    package var sharedBytes = 0
    /// The bytes of the original texts of its cells, in a column of their own.
    package var originalTextBytes = 0
    /// The bytes of its indexes.
    package var indexBytes = 0
    /// The encodings of its value stream and the number of segments that use each, most frequent first.
    package var encodings: [(name: String, segments: Int)] = []
}

/// The space that one type takes in a file.
package struct TypeStatistics: Sendable {
    package var name: String
    package var isEmbedded: Bool
    package var rows: Int
    package var segments: Int
    /// The number of rows that exist only in the delta store, and of delta records about rows of segments.
    package var deltaRows: Int
    package var deltaChanges: Int
    /// The number of rows of segments that are deleted but still stored.
    package var deletedRows = 0
    /// The bytes of headers, directory and delta records (without the nodes of the delta tree).
    package var overheadBytes = 0
    package var columns: [ColumnStatistics] = []

    /// All bytes of the type: columns, dictionaries, indexes and overhead.
    package var bytes: Int { columns.reduce(overheadBytes) { $0 + $1.bytes + $1.sharedBytes + $1.indexBytes + $1.originalTextBytes } }
}

extension DatabaseSnapshot {
    /// Returns the space that each type takes. Reads all headers and the beginnings of all chunks.
    package func statistics() throws(FirnError) -> [TypeStatistics] {
        do throws(Damage) { return try core.statistics() } catch { throw FirnError(error, in: path) }
    }
}

extension SnapshotCore {
    func statistics() throws(Damage) -> [TypeStatistics] {
        var out: [TypeStatistics] = []
        for type in schema.types.indices { out.append(try statistics(type)) }
        return out
    }

    private func statistics(_ type: Int) throws(Damage) -> TypeStatistics {
        let state = catalogue.types[type], schema = schema.types[type]
        var out = TypeStatistics(
            name: schema.name, isEmbedded: schema.isEmbedded, rows: state.liveRows, segments: state.segmentCount,
            deltaRows: state.deltaRows, deltaChanges: state.deltaChanges)
        out.columns = schema.columns.map { ColumnStatistics(name: $0.name, type: $0.type) }
        out.overheadBytes = Int(state.directory.length) + state.deltaBytes
        for index in state.indexes {
            if let columnPosition = schema.index(ofID: index.column) { out.columns[columnPosition].indexBytes += index.bytes }
        }
        var counted: Set<ExtentRef> = []
        for index in 0..<state.segmentCount {
            let segment = try segment(type: type, index: index)
            out.deletedRows += segment.rowCount - segment.liveCount
            var inside = 0
            for (column, stored) in segment.layout.entries.enumerated() {
                guard let columnPosition = schema.index(ofID: stored.columnID) else { continue }
                let bytes = Int(stored.chunk?.length ?? UInt64(stored.packed!.count)) + Int(stored.overlay?.length ?? 0)
                inside += stored.packed?.count ?? 0
                out.columns[columnPosition].bytes += bytes
                var encoding = "absent"
                if let chunk = try segment.rawColumn(columnPosition).chunk {
                    encoding = chunk.encodingName
                    if let outer = chunk.sharedPresence {
                        let id = segment.layout.entries[outer.column].columnID
                        encoding +=
                            " \(outer.isNested ? "validity-within" : "validity-of")(\(schema.index(ofID: id).map { schema.columns[$0].name } ?? "?"))"
                    }
                }
                out.columns[columnPosition].note(encoding)
                for blob in (segment.sharedIndices[column] ?? []).map({ segment.layout.shared[$0] }) where counted.insert(blob.ref).inserted
                {
                    out.columns[columnPosition].sharedBytes += Int(blob.ref.length)
                }
            }
            out.overheadBytes += segment.headerBytes.count - inside
        }
        for (target, column) in schema.companions {
            out.columns[target].originalTextBytes =
                out.columns[column].bytes + out.columns[column].sharedBytes + out.columns[column].indexBytes
        }
        out.columns = schema.visibleColumns.map { out.columns[$0] }
        for i in out.columns.indices { out.columns[i].encodings.sort { ($0.segments, $1.name) > ($1.segments, $0.name) } }
        return out
    }
}

extension ColumnStatistics {
    fileprivate mutating func note(_ encoding: String) {
        if let i = encodings.firstIndex(where: { $0.name == encoding }) {
            encodings[i].segments += 1
        } else {
            encodings.append((encoding, 1))
        }
    }
}

extension ChunkReader {
    /// The encoding of the largest stream that contains values.
    var encodingName: String {
        let payload = streams.filter { type.payload.contains($0.kind) }.sorted { $0.length > $1.length }
        let values = payload.prefix(1).map(\.encoding).joined()
        return type.isCollection ? "\(type.collection)(\(values))" : values
    }
}
