import FirnBytes
import FirnTable
import FirnThreads

/// A hash of 128 bits of the rows of a type, independent of how they are stored: docs/format/content-hash.md.
///
/// It is the same for any segments, encodings, row ids and orders of columns, and for CSV and JSON files with the same types and values.
/// The order of rows matters only if the type has no key. It needs a megabyte of memory for each thread and, if links refer to a type with
/// a key, 16 bytes for each of its rows.
package struct ContentHash: Sendable {
    /// What is hashed, and on which threads.
    package struct Options: Sendable {
        /// The columns of the key; nil means those of the type's key.
        package var key: [String]?
        /// Whether each column is hashed too.
        package var eachColumn = false
        /// The name of the file in messages.
        package var name = "the file"
        /// The number of threads that hash segments.
        package var threads = 1
        /// Called with the number of rows of each segment that was hashed, on any thread. If it returns false, the hash ends with
        /// `.interrupted`.
        package var progress: @Sendable (_ rows: Int) -> Bool = { _ in true }

        package init() {}
    }

    package struct OfColumn: Sendable {
        package let name: String
        package let hash: Hash128
    }

    /// The name of the type, which is not part of its hash.
    package let name: String
    package let key: [String]
    package let rows: Int
    package let hash: Hash128
    /// The hashes of the columns in the order of the type, if requested.
    package let columns: [OfColumn]

    /// - Throws: `FirnError.usage` for a key with columns that do not exist, `.damaged`, or the error of the memory limit.
    package init(of table: any Table, options: Options = Options()) throws(FirnError) {
        let table = VisibleTable.of(table), key = try ContentHash.key(of: table.type, options)
        var sums = Sums(columns: table.type.columns.count)
        do throws(Damage) {
            let part = Part(
                table: table, key: key, eachColumn: options.eachColumn, starts: try table.liveStarts(),
                hasher: CellHasher(linkedRows: LinkedRows(of: table)))
            for outcome in Part.all(table.segmentCount, options, part) { sums.add(try outcome.get()) }
        } catch {
            guard options.progress(0) else { throw FirnError(.interrupted, "the operation was cancelled") }
            throw FirnError(error, in: options.name)
        }
        guard sums.live == table.rowCount else {
            throw .damaged(options.name, what: "\(sums.live) rows of type \"\(table.type.name)\" instead of \(table.rowCount)", byte: 0)
        }
        self.init(sums, of: table.type, key: key, options)
    }

    /// Returns the positions of the columns of the key.
    static func key(of type: TypeSchema, _ options: Options) throws(FirnError) -> [Int] {
        guard let names = options.key else { return type.key }
        return try names.map { (column) throws(FirnError) -> Int in
            if let index = type.index(of: column) { return index }
            if type.columns.contains(where: { $0.type.kind == .embedded && column.hasPrefix($0.name + ".") }) {
                throw FirnError(
                    .usage, "\"\(column)\" is a field of an object, but the key of a content hash consists of whole columns",
                    at: .init(file: options.name), advice: "choose a column")
            }
            throw FirnError(
                .usage, "the key column \"\(column)\" does not exist", at: .init(file: options.name),
                advice: "the columns are: " + type.columns.map(\.name).listed())
        }
    }

    /// The sums over all rows.
    struct Sums {
        var rows: UInt128 = 0
        var live = 0
        var columns: [UInt128]

        init(columns count: Int) { columns = Array(repeating: 0, count: count) }

        mutating func add(_ found: Part.Found) {
            rows &+= found.rows
            live += found.live
            for (i, column) in found.columns.enumerated() { columns[i] &+= column }
        }
    }

    init(_ sums: Sums, of type: TypeSchema, key: [Int], _ options: Options) {
        name = type.name
        self.key = key.map { type.columns[$0].name }
        rows = sums.live
        var whole = ByteWriter()
        whole.append(contentsOf: Array("firn content 1\n".utf8))
        whole.append(key.isEmpty ? 0 as UInt8 : 1)
        whole.append(UInt32(clamping: type.columns.count))
        for (index, column) in type.columns.enumerated().sorted(by: { $0.element.name.utf8.lexicographicallyPrecedes($1.element.name.utf8) }
        ) {
            whole.append(column, isKey: key.contains(index))
        }
        whole.append(UInt64(sums.live))
        whole.append(sums.rows)
        hash = Hash128(of: whole.bytes)
        columns =
            !options.eachColumn
            ? []
            : type.columns.enumerated().map { index, column in
                var one = ByteWriter()
                one.append(contentsOf: Array("firn column 1\n".utf8))
                one.append(column, isKey: key.contains(index))
                one.append(UInt64(sums.live))
                one.append(sums.columns[index])
                return OfColumn(name: column.name, hash: Hash128(of: one.bytes))
            }
    }

    /// Returns the hash of a whole file: the hash of its one type, or a hash of the names and hashes of several.
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

    /// The contribution of one segment.
    struct Part: Sendable {
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
            parallelMap(count: count, threads: options.threads) { i in
                guard options.progress(0) else { return .failure(Damage("cancelled")) }
                do throws(Damage) {
                    let found = try part.found(i)
                    _ = options.progress(found.live)
                    return .success(found)
                } catch { return .failure(error) }
            }
        }

        func found(_ index: Int) throws(Damage) -> Found {
            let segment = try table.segment(index), live = segment.live, isKeyed = !key.isEmpty
            var out = Found(), columns = [UInt128](repeating: 0, count: eachColumn ? table.type.columns.count : 0)
            let identities = eachColumn ? try self.identities(index, segment) : []
            let sums = try RowSums(table, index, columns: Array(table.type.columns.indices), hasher) { column, first, cells in
                guard eachColumn else { return }
                for i in 0..<cells.count where cells[i] != 0 && (live?[first + i] ?? true) {
                    columns[column] &+= CellHasher.hash(cells[i], identities[first + i], 0)
                }
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

        /// Returns what identifies each row in the hash of a column.
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

    /// Appends the length as 32 bits, then UTF-8.
    fileprivate mutating func append(fixed text: String) {
        append(UInt32(clamping: text.utf8.count))
        append(contentsOf: Array(text.utf8))
    }
}
