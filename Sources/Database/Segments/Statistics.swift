import FirnBytes
import FirnDisk
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
    /// The bytes of delta records.
    package var deltaBytes = 0
    /// The number of rows of segments that are deleted but still stored.
    package var deletedRows = 0
    /// The bytes of headers, directory and delta records (without the nodes of the delta tree).
    package var overheadBytes = 0
    package var columns: [ColumnStatistics] = []
    /// The columns and segments that are damaged.
    package var defects: [Defect] = []

    /// All bytes of the type: columns, dictionaries, indexes and overhead.
    package var bytes: Int { columns.reduce(overheadBytes) { $0 + $1.bytes + $1.sharedBytes + $1.indexBytes + $1.originalTextBytes } }
}

extension DatabaseSnapshot {
    /// Returns the space that each type takes. Reads all headers and all chunks, whose hashes are checked. Columns and segments that are
    /// damaged are counted as far as they can be read, and listed in `TypeStatistics.defects`.
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
        out.deltaBytes = state.deltaBytes
        out.overheadBytes = Int(state.directory.length) + state.deltaBytes
        for index in state.indexes {
            if let columnPosition = schema.index(ofID: index.column) { out.columns[columnPosition].indexBytes += index.bytes }
        }
        var counted: Set<ExtentRef> = []
        for index in 0..<state.segmentCount {
            let segment: StoredSegment
            do throws(Damage) { segment = try self.segment(type: type, index: index) } catch {
                out.defects.append(try SnapshotCore.defect(error, of: schema.name, part: "segment \(index)"))
                continue
            }
            out.deletedRows += segment.rowCount - segment.liveCount
            var inside = 0
            for (column, stored) in segment.layout.entries.enumerated() {
                guard let columnPosition = schema.index(ofID: stored.columnID) else { continue }
                let bytes = Int(stored.chunk?.length ?? UInt64(stored.packed!.count)) + Int(stored.overlay?.length ?? 0)
                inside += stored.packed?.count ?? 0
                out.columns[columnPosition].bytes += bytes
                do throws(Damage) {
                    out.columns[columnPosition].note(try encoding(of: columnPosition, segment, schema))
                } catch  where error.isUnknownID {
                    out.columns[columnPosition].note("unknown (\(FirnError.newerVersion))")
                } catch {
                    out.columns[columnPosition].note("damaged")
                    let location = segment.location(of: columnPosition)
                    out.defects.append(
                        try SnapshotCore.defect(
                            error.offset < location.base ? error.shifted(by: location.base) : error, of: schema.name,
                            column: location.column, rows: location.rows, part: "segment \(index)"))
                }
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

extension SnapshotCore {
    /// Returns the damage as a defect. Throws it if the bytes could not be read, and so are not known to be damaged.
    private static func defect(
        _ damage: Damage, of type: String, column: String? = nil, rows: ClosedRange<Int64>? = nil, part: String
    ) throws(Damage) -> Defect {
        if damage.isUnread { throw damage }
        return Defect(type: type, column: column, rows: rows, part: part, damage)
    }

    /// Returns the name of the encoding of a column of a segment.
    private func encoding(of column: Int, _ segment: StoredSegment, _ schema: TypeSchema) throws(Damage) -> String {
        guard let chunk = try segment.rawColumn(column).chunk else { return "absent" }
        func name(_ entryPosition: Int) -> String {
            schema.index(ofID: segment.layout.entries[entryPosition].columnID).map { schema.columns[$0].name } ?? "?"
        }
        var encoding = chunk.encodingName
        if let relation = chunk.relation?.relation {
            encoding = "\(relation.kind)(\(name(relation.column)))" + (relation.entries == 0 ? "" : " " + encoding)
        }
        if let prediction = chunk.prediction?.prediction {
            encoding = "\(prediction.name)(\(prediction.sources.map(name).joined(separator: ", "))) " + encoding
        }
        if let pieces = chunk.pieces?.pieces { encoding = "pieces(\(pieces.sources.map(name).joined(separator: ", "))) " + encoding }
        guard let outer = chunk.sharedPresence else { return encoding }
        return encoding + " \(outer.isNested ? "validity-within" : "validity-of")(\(name(outer.column)))"
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
        let kinds = prediction == nil ? type.payload : [.words]
        let payload = streams.filter { kinds.contains($0.kind) }.sorted { $0.length > $1.length }
        let values = payload.prefix(1).map(\.encoding).joined()
        return type.isCollection ? "\(type.collection)(\(values))" : values
    }
}
