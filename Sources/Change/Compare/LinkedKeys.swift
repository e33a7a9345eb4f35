import FirnBytes
import FirnTable
import Synchronization

/// What identifies the rows of one table, for the links that refer to them. It can be used from any thread.
final class LinkedKeys: Sendable {
    private struct Readers {
        var columns: [LinkedColumn]
        var live: LinkedColumn
    }

    private let table: any Table
    private let form: LinkResolution.Form
    /// For types without key: the number of live rows before each segment.
    private let starts: [Int]
    private let readers: Mutex<Readers>

    init(of table: any Table, _ form: LinkResolution.Form) throws(Damage) {
        self.table = table
        self.form = form
        starts = table.type.key.isEmpty ? try table.liveStarts() : []
        var columns: [LinkedColumn] = []
        for position in table.type.key { columns.append(try LinkedColumn(table, path: [position])) }
        readers = Mutex(Readers(columns: columns, live: try LinkedColumn(table, path: [])))
    }

    /// Returns one row for each link; null if there is no link, or if its row does not exist.
    func column(_ links: [Int64], present: Bits?, _ type: ColumnType) throws(Damage) -> Column {
        switch form {
        case .value:
            if table.type.key.isEmpty {
                return try fill(type, links, present) { (_, row) throws(Damage) in try self.ordinal(row).map { .int($0) } ?? .null }
            }
            var found = try readers.withLock { (readers) throws(Damage) -> Column in try readers.columns[0].fetch(links, present: present) }
            found.type = type
            return found
        case .parts, .named:
            let (live, parts) = try readers.withLock { (readers) throws(Damage) -> (Bits, [Column]) in
                var parts: [Column] = []
                for i in readers.columns.indices { parts.append(try readers.columns[i].fetch(links, present: present)) }
                return (try readers.live.live(links, present: present), parts)
            }
            return try fill(type, links, present) { (i, row) throws(Damage) in
                guard live[i] else { return .null }
                if self.table.type.key.isEmpty { return .list(self.named([try self.ordinal(row).map { .int($0) } ?? .null])) }
                return .list(self.named(parts.map { $0.value(at: i) }))
            }
        }
    }

    /// Returns the values of the key of one row, or the number of rows before it; nil if the row does not exist.
    func parts(_ row: Int64) throws(Damage) -> [Value]? {
        if table.type.key.isEmpty { return try ordinal(row).map { named([.int($0)]) } }
        return try readers.withLock { (readers) throws(Damage) -> [Value]? in
            guard try readers.live.isLive(row) else { return nil }
            var parts: [Value] = []
            for i in readers.columns.indices { parts.append(try readers.columns[i].fetch([row], present: nil).value(at: 0)) }
            return named(parts)
        }
    }

    private func named(_ parts: [Value]) -> [Value] {
        form == .named ? [.list(table.type.key.map { .string(table.type.columns[$0].name) })] + parts : parts
    }

    private func fill(_ type: ColumnType, _ links: [Int64], _ present: Bits?, _ value: (Int, Int64) throws(Damage) -> Value) throws(Damage)
        -> Column
    {
        var out = Column(type)
        for (i, row) in links.enumerated() {
            let isThere = present?[i] ?? true
            if !out.append(isThere ? try value(i, row) : .null) { out.appendNull() }
        }
        return out
    }

    private func ordinal(_ row: Int64) throws(Damage) -> Int64? {
        guard let location = try table.liveLocation(of: row) else { return nil }
        return try table.ordinal(of: location, starts)
    }
}
