import FirnBytes
import FirnTable

extension DatabaseSnapshot: TableVersion {
    package func rows(of type: String) -> (any RowTable)? { table(named: type) }

    package func firstDefect() -> (part: String, damage: Damage)? { verify(full: true).first.map { ($0.subject, $0.damage) } }
}

extension DatabaseTransaction: TableTransaction {
    package func versionBefore() throws(FirnError) -> any TableVersion { try baseSnapshot() }

    package func currentRows(of type: String) -> any RowTable { table(type) }

    package func deleteLinks(to type: String, rows: [Int64]) throws(FirnError) { try deleteLinks(to: type, rows: rows[...]) }
}
