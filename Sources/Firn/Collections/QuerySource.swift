import FirnBytes
import FirnQuery
import FirnTable

/// The elements of another source that a query selects, in the query's order. The query is evaluated on first access, and again after
/// changes.
final class QuerySource: _CollectionSource {
    let base: _CollectionSource
    /// All filters, then all sort, distinct and limit clauses, left to right.
    let query: QuerySyntax
    let arguments: [Value]
    /// The row ids; nil if they have not been read from `matches` yet.
    private var rows: [Int64]?
    private var values: [Value] = []
    private var evaluated: UInt64?
    /// The matches by segment, for queries that select rows of a whole table by the row's own columns only.
    private var matches: SegmentMatches?
    /// Any thread may read a frozen source, so its evaluation is locked.
    private let frozen = Gate()

    init(_ base: _CollectionSource, _ query: QuerySyntax, arguments: [Value] = []) {
        self.base = base
        self.query = query
        self.arguments = arguments
        super.init(base.shape)
        if base is TableSource, query.descriptors.isEmpty, let access = base.elementAccess,
            query.predicate.looksOnly(at: access.columnNames)
        {
            matches = SegmentMatches()
        }
    }

    override var core: RealmCore? { base.core }
    override var isInvalidated: Bool { base.isInvalidated }
    override var isReleased: Bool { base.isReleased }
    override var reportsInvalid: Bool { base.isReleased }

    /// A query on the results of a query becomes one query.
    override func appending(_ next: QuerySyntax, _ more: [Value]) -> _CollectionSource {
        guard query.takes(next) else { return QuerySource(self, next, arguments: more) }
        return QuerySource(base, query.followed(by: next, shift: arguments.count), arguments: arguments + more)
    }

    override func figured() -> (table: any Table, query: QuerySyntax, arguments: [Value]) { (base.table(), query, arguments) }
    override func emptyTable() -> any Table { base.emptyTable() }

    private func evaluate() {
        guard let core = base.core else { return run() }
        core.check()
        if core.isFrozen { return frozen.pass { follow(core) } }
        follow(core)
    }

    private func follow(_ core: RealmCore) {
        if evaluated == core.changeStamp { return }
        core.flushCellsNotingErrors()
        run()
        evaluated = core.changeStamp
    }

    private func run() {
        let table = base.table()
        do {
            let run = try QueryRun(request(query, arguments), over: table)
            if matches != nil {
                rows = nil
                return try matches!.evaluate(run, table)
            }
            let locations = try run.rowLocations()
            if shape.target != nil {
                rows = try locations.map { try table.segment($0.segment).rowID(at: $0.position) }
            } else {
                values = try locations.map { try table.segment($0.segment).column(0).value(at: $0.position) }
            }
        } catch let error as QueryError {
            trap(error.description)
        } catch let error as FirnError {
            core?.note(error)
        } catch let damage as Damage {
            core?.note(damage)
        } catch {
            trap("\(error)")
        }
    }

    override var count: Int {
        if base.isInvalidated { return 0 }
        evaluate()
        if let matches { return matches.count }
        return shape.target != nil ? rows?.count ?? 0 : values.count
    }

    override func value(_ index: Int) -> Value {
        evaluate()
        guard shape.target != nil else { return values[index] }
        // In a damaged file, the number of rows can be known while the row ids cannot be read.
        let rows = chosen()
        return index < rows.count ? .link(rows[index]) : .null
    }

    override func rowIDs() -> [Int64] {
        if base.isInvalidated { return [] }
        evaluate()
        return chosen()
    }

    private func chosen() -> [Int64] {
        guard let core, core.isFrozen else { return listed() }
        return frozen.pass { listed() }
    }

    private func listed() -> [Int64] {
        if let rows { return rows }
        var found: [Int64] = []
        if let matches {
            do { found = try matches.rowIDs() } catch let damage as Damage {
                core?.note(damage)
            } catch { trap("\(error)") }
        }
        rows = found
        return found
    }

    override func moved(to core: RealmCore) -> _CollectionSource? {
        base.moved(to: core).map { QuerySource($0, query, arguments: arguments) }
    }

    /// The number of segments that all evaluations so far have read.
    var segmentsEvaluated: Int { matches?.evaluatedCount ?? 0 }
}
