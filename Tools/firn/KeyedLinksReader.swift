import FirnBytes
import FirnExchange
import FirnTable

/// Reads rows in which links are the keys of the rows that they lead to, for formats with foreign keys.
final class KeyedLinksReader: BatchReader {
    let schema: Schema
    private let source: StoredReader
    private let path: String
    /// By type and position of the column: the keys of the rows that it links to.
    private var columns: [String: [Int: LinkedColumn]] = [:]
    /// By column: the number of links to rows that do not exist.
    private var missing: [String: Int] = [:]

    /// `keys`: by type and position of a column of links, the position of the key in the type that it links to.
    init(_ source: StoredReader, _ tables: [any Table], schema: Schema, keys: [String: [Int: Int]], path: String) throws(FirnError) {
        self.source = source
        self.schema = schema
        self.path = path
        do throws(Damage) {
            for table in tables {
                for (position, key) in keys[table.type.name] ?? [:] {
                    guard
                        let target = try table.type.columns[position].type.target.flatMap({ (name) throws(Damage) in try table.related(name)
                        })
                    else { continue }
                    columns[table.type.name, default: [:]][position] = try LinkedColumn(target, path: [key])
                }
            }
        } catch { throw FirnError(error, in: path) }
    }

    var remarks: [String] {
        source.remarks
            + missing.sorted { $0.key < $1.key }.map {
                "column \"\($0.key)\": \($0.value) links to rows that do not exist are written as null"
            }
    }

    func next() throws(FirnError) -> (type: String, batch: Batch)? {
        guard let (name, rows) = try source.next() else { return nil }
        var batch = rows
        do throws(Damage) {
            for position in (columns[name] ?? [:]).keys.sorted() {
                let links = batch.columns[position]
                guard var keys = try columns[name]?[position]?.fetch(links.words, present: links.present) else { continue }
                keys.type.isOptional = true
                let lost = keys.nullCount - links.nullCount
                if lost > 0, let type = schema[name] { missing["\(name).\(type.columns[position].name)", default: 0] += lost }
                batch.columns[position] = keys
            }
        } catch { throw FirnError(error, in: path) }
        return (name, batch)
    }
}
