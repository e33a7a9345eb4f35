import FirnBytes
import FirnModel

/// 128 bits that say what the rows of a type are, and nothing of how they are stored: docs/format/content-hash.md.
///
/// The same for any segments, encodings, row ids, orders of columns, and for CSV and JSON files of the same types and values. The rows of a type with a key
/// have no order; without one they have. Memory: a megabyte for each thread; where links lead to a type with a key, 16 bytes for each of its rows.
package struct ContentHash: Sendable {
    /// What is hashed, and by whom.
    package struct Options: Sendable {
        /// The columns that tell rows apart; nil: those of the type's key.
        package var key: [String]?
        /// A hash of each column too.
        package var eachColumn = false
        /// How messages name the file.
        package var name = "the file"
        /// Calls the body with 0 ..< count, on several threads or one after the other, and returns when all are done.
        package var parallel: @Sendable (_ count: Int, _ body: @Sendable (Int) -> Void) -> Void = { count, body in
            for i in 0..<count { body(i) }
        }

        package init() {}
    }

    package struct OfColumn: Sendable {
        package let name: String
        package let hash: Hash128
    }

    /// The type's name, which is no part of its hash.
    package let name: String
    package let key: [String]
    package let rows: Int
    package let hash: Hash128
    /// In the order of the type, if they were asked for.
    package let columns: [OfColumn]

    /// Errors: `.usage` for a key of columns that do not exist, `.damaged`.
    package init(of table: any Table, options: Options = Options()) throws(FirnError) {
        let type = table.type
        var key = type.key
        if let names = options.key {
            key = []
            for column in names {
                guard let place = type.index(of: column) else {
                    if type.columns.contains(where: { $0.type.kind == .embedded && column.hasPrefix($0.name + ".") }) {
                        throw FirnError(.usage, "\"\(column)\" is a member of objects, and the key of a content hash is made of whole columns", at: .init(file: options.name), advice: "choose a column")
                    }
                    throw FirnError(.usage, "the key column '\(column)' does not exist", at: .init(file: options.name),
                                    advice: "the columns are: " + type.columns.prefix(12).map(\.name).joined(separator: ", "))
                }
                key.append(place)
            }
        }
        name = type.name
        self.key = key.map { type.columns[$0].name }
        rows = table.rowCount
        var sum: UInt128 = 0, columnSums = [UInt128](repeating: 0, count: type.columns.count), live = 0
        do throws(Damage) {
            let part = Part(table: table, key: key, eachColumn: options.eachColumn, starts: try table.liveStarts(), hasher: CellHasher(places: LinkedRows(of: table)))
            for outcome in Part.all(table.segmentCount, options, part) {
                let found = try outcome.get()
                sum &+= found.rows
                live += found.live
                for (i, column) in found.columns.enumerated() { columnSums[i] &+= column }
            }
        } catch { throw FirnError(error, in: options.name) }
        guard live == rows else { throw .damaged(options.name, what: "\(live) rows of type '\(name)' in place of \(rows)", byte: 0) }

        var whole = ByteWriter()
        whole.append(contentsOf: Array("firn content 1\n".utf8))
        whole.append(key.isEmpty ? 0 as UInt8 : 1)
        whole.append(UInt32(clamping: type.columns.count))
        for (place, column) in type.columns.enumerated().sorted(by: { $0.element.name.utf8.lexicographicallyPrecedes($1.element.name.utf8) }) {
            whole.append(column, isKey: key.contains(place))
        }
        whole.append(UInt64(live))
        whole.append(sum)
        hash = Hash128(of: whole.bytes)
        columns = !options.eachColumn ? [] : type.columns.enumerated().map { place, column in
            var one = ByteWriter()
            one.append(contentsOf: Array("firn column 1\n".utf8))
            one.append(column, isKey: key.contains(place))
            one.append(UInt64(live))
            one.append(columnSums[place])
            return OfColumn(name: column.name, hash: Hash128(of: one.bytes))
        }
    }

    /// Of a whole file: of one type, that type's; of several, theirs with their names.
    package static func ofFile(_ types: [ContentHash]) -> Hash128 { ofFile(types.map { ($0.name, $0.hash) }) }

    static func ofFile(_ types: [(name: String, hash: Hash128)]) -> Hash128 {
        if types.count == 1 { return types[0].hash }
        var whole = ByteWriter()
        whole.append(contentsOf: Array("firn contents 1\n".utf8))
        whole.append(UInt32(clamping: types.count))
        for type in types.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            whole.append(fixed: type.name)
            whole.append(type.hash)
        }
        return Hash128(of: whole.bytes)
    }

    /// What one segment contributes.
    private struct Part: Sendable {
        struct Found: Sendable {
            var rows: UInt128 = 0
            var live = 0
            var columns: [UInt128] = []
        }

        let table: any Table
        let key: [Int]
        let eachColumn: Bool
        let starts: [Int]
        let hasher: CellHasher

        static func all(_ count: Int, _ options: Options, _ part: Part) -> [Result<Found, Damage>] {
            let room = UnsafeMutablePointer<Result<Found, Damage>>.allocate(capacity: max(count, 1))
            room.initialize(repeating: .success(Found()), count: max(count, 1))
            defer {
                room.deinitialize(count: max(count, 1))
                room.deallocate()
            }
            nonisolated(unsafe) let slots = room   // every index is written by one thread, and read after all are done
            options.parallel(count) { i in
                do throws(Damage) { slots[i] = .success(try part.found(i)) } catch { slots[i] = .failure(error) }
            }
            return Array(UnsafeBufferPointer(start: room, count: count))
        }

        func found(_ index: Int) throws(Damage) -> Found {
            let segment = try table.segment(index), live = segment.live, isKeyed = !key.isEmpty
            var out = Found(), columns = [UInt128](repeating: 0, count: eachColumn ? table.type.columns.count : 0)
            let identities = eachColumn ? try self.identities(index, segment) : []
            let sums = try RowSums(table, index, columns: Array(table.type.columns.indices), hasher) { column, first, cells in
                guard eachColumn else { return }
                for i in 0..<cells.count where cells[i] != 0 && (live?[first + i] ?? true) { columns[column] &+= CellHasher.hash(cells[i], identities[first + i], 0) }
            }
            var ordinal = UInt64(starts[index])
            for row in 0..<segment.rowCount where live?[row] ?? true {
                ordinal += 1
                out.rows &+= CellHasher.hash(sums[row], isKeyed ? 0 : ordinal)
                out.live += 1
            }
            out.columns = columns
            return out
        }

        /// What the values of each row are bound to in the hash of their column.
        private func identities(_ index: Int, _ segment: any Segment) throws(Damage) -> [UInt128] {
            if !key.isEmpty { return try RowSums(table, index, columns: key, hasher).array.map { CellHasher.hash($0, 0) } }
            var out = [UInt128](repeating: 0, count: segment.rowCount), ordinal = Int64(starts[index])
            for row in 0..<segment.rowCount where segment.live?[row] ?? true {
                out[row] = CellHasher.hash(ordinal, 0)
                ordinal += 1
            }
            return out
        }
    }
}

extension ByteWriter {
    fileprivate mutating func append(_ column: ColumnSchema, isKey: Bool) {
        append(fixed: column.name)
        append(column.type.kind.rawValue)
        append(column.type.collection.rawValue)
        append(isKey ? 1 as UInt8 : 0)
        append(fixed: column.type.kind == .link ? column.type.target ?? "" : "")
    }

    /// Length as 32 bits, then UTF-8.
    fileprivate mutating func append(fixed text: String) {
        append(UInt32(clamping: text.utf8.count))
        append(contentsOf: Array(text.utf8))
    }
}
