import FirnBytes
import FirnModel
import FirnQuery

/// The elements of another source that a query chooses, in the order that it asks for. Evaluated when first looked at, and again after changes.
final class QuerySource: _CollectionSource {
    let base: _CollectionSource
    /// All filters, then what orders and thins out, left to right.
    let query: QuerySyntax
    let arguments: [Value]
    private var rows: [Int64] = []
    private var values: [Value] = []
    private var evaluated: UInt64?

    init(_ base: _CollectionSource, _ query: QuerySyntax, arguments: [Value] = []) {
        self.base = base
        self.query = query
        self.arguments = arguments
        super.init(base.shape)
    }

    override var core: RealmCore? { base.core }
    override var isInvalidated: Bool { base.isInvalidated }

    private func evaluate() {
        guard let core = base.core else { return run() }
        core.confinement.check()
        if evaluated == core.changeStamp { return }
        _ = core.failing(()) { () throws(FirnError) in try core.flushCells() }
        run()
        evaluated = core.changeStamp
    }

    private func run() {
        let table = base.table()
        do {
            let run = try QueryRun(QueryRequest(parsed: query, arguments: arguments, inverses: inverses), table: table)
            let places = try run.rowPositions()
            if shape.target != nil {
                rows = try places.map { try table.segment($0.segment).rowID(at: $0.row) }
            } else {
                values = try places.map { try table.segment($0.segment).column(0).value(at: $0.row) }
            }
        } catch let error as QueryError {
            preconditionFailure(error.description)
        } catch let error as FirnError {
            core?.note(error)
        } catch let damage as Damage {
            core?.note(.damaged(core!.file.path, what: damage.what, byte: damage.offset))
        } catch {
            preconditionFailure("\(error)")
        }
    }

    override var count: Int {
        if base.isInvalidated { return 0 }
        evaluate()
        return shape.target != nil ? rows.count : values.count
    }

    override func value(_ index: Int) -> Value {
        evaluate()
        return shape.target != nil ? .link(rows[index]) : values[index]
    }

    override func rowIDs() -> [Int64] {
        evaluate()
        return rows
    }

    override func moved(to core: RealmCore) -> _CollectionSource? {
        base.moved(to: core).map { QuerySource($0, query, arguments: arguments) }
    }
}
