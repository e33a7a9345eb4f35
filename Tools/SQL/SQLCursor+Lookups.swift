import CSQLite
import FirnBytes
import FirnQuery
import FirnTable

/// Look-ups by row id, and by values through an index in memory.
extension SQLCursor {
    /// Finds the rows of a look-up. Returns false if they must be found by a query.
    func find(_ plan: SQLPlan, _ values: UnsafeMutablePointer<OpaquePointer?>?) throws(FirnError) -> Bool {
        let first = plan.terms[plan.lookup[0]]
        if first.column >= 0 { return try find(byValues: plan, values) }
        guard let value = values?[first.argument] else { return false }
        var found: [UInt64] = []
        if first.isList {
            try forEachValue(of: value) { (one) throws(FirnError) in try find(row: one, &found) }
            found.sort()
        } else {
            try find(row: value, &found)
        }
        try begin(lookedUp: found)
        return true
    }

    private func find(byValues plan: SQLPlan, _ values: UnsafeMutablePointer<OpaquePointer?>?) throws(FirnError) -> Bool {
        guard let values else { return false }
        var hash: UInt64 = 0, known = 0, oddTerms = 0
        for at in plan.lookup {
            let term = plan.terms[at]
            guard let value = values[term.argument] else { continue }
            let next: UInt64
            switch EqualityKey.probe(value, table.columns[term.column].form) {
            case .never: return beginWithNothing()
            case .null:
                if term.comparison == FIRN_SQL_EQ { return beginWithNothing() }
                next = nullHash
            case .unknown: continue
            case .hash(let known, let orOdd):
                next = known
                if orOdd { oddTerms += 1 }
            }
            hash = known == 0 ? next : EqualityKey.combine(hash, next)
            known += 1
        }
        guard known > 0 else { return false }
        let key = known == plan.lookup.count ? plan.lookupColumns : knownColumns(plan, values)
        guard oddTerms == 0 else { return try find(byOddValues: plan, values, key) }
        guard let index = try index(of: key) else { return false }
        if lookups > 32 {
            try keepVectors()
            table.work.lookups += 1
            begin(candidates: index.matches(hash))
            return true
        }
        let numbers = try table.vectorNumbers()
        try begin(lookedUp: index.spots(hash, orOdd: false).map(numbers.position))
        return true
    }

    /// Returns the columns of a look-up whose values determine a hash.
    private func knownColumns(_ plan: SQLPlan, _ values: UnsafeMutablePointer<OpaquePointer?>) -> [Int] {
        plan.lookup.compactMap { at in
            let term = plan.terms[at]
            guard let value = values[term.argument] else { return nil }
            if case .unknown = EqualityKey.probe(value, table.columns[term.column].form) { return nil }
            return term.column
        }
    }

    /// Finds rows if some values can equal odd texts, which have other hashes. If the table has such texts, only the other columns are
    /// looked up.
    private func find(byOddValues plan: SQLPlan, _ values: UnsafeMutablePointer<OpaquePointer?>, _ key: [Int]) throws(FirnError) -> Bool {
        // This index lists the odd texts of the columns.
        guard let whole = try index(of: key) else { return false }
        var hash: UInt64 = 0, rest: [(column: Int, hash: UInt64, orOdd: Bool)] = [], hasOdd = false, position = 0
        for at in plan.lookup {
            let term = plan.terms[at]
            guard let value = values[term.argument] else { continue }
            var next: (hash: UInt64, orOdd: Bool)
            switch EqualityKey.probe(value, table.columns[term.column].form) {
            case .hash(let hash, let orOdd): next = (hash, orOdd)
            case .null: next = (nullHash, false)
            case .never, .unknown: continue
            }
            next.orOdd = next.orOdd && (whole.hasTooManyOdd[position] || !whole.odd[position].isEmpty)
            hasOdd = hasOdd || next.orOdd
            hash = position == 0 ? next.hash : EqualityKey.combine(hash, next.hash)
            rest.append((term.column, next.hash, next.orOdd))
            position += 1
        }
        let numbers = try table.vectorNumbers()
        if !hasOdd || rest.count == 1 && !whole.hasTooManyOdd[0] {
            try begin(lookedUp: whole.spots(hash, orOdd: hasOdd).map(numbers.position))
            return true
        }
        let others = rest.filter { !$0.orOdd }
        guard !others.isEmpty, let index = try index(of: others.map(\.column)) else { return false }
        let known = others.dropFirst().reduce(others[0].hash) { EqualityKey.combine($0, $1.hash) }
        try begin(lookedUp: index.spots(known, orOdd: false).map(numbers.position))
        return true
    }

    private func index(of key: [Int]) throws(FirnError) -> EqualityIndex? {
        if key == indexKey, let index { return index }
        guard let found = try table.index(key) else { return nil }
        index = found
        indexKey = key
        return found
    }

    private func beginWithNothing() -> Bool {
        source = .none
        table.work.lookups += 1
        return true
    }

    private func begin(lookedUp found: [UInt64]) throws(FirnError) {
        table.work.lookups += 1
        lookups += 1
        begin(found: found)
        isPartial = false
        guard lookups > 32 else { return }
        source = .kept
        isFound = false
        try keepVectors()
    }

    func begin(candidates matches: EqualityIndex.Matches) {
        candidates = matches
        source = .candidates
        isFound = false
    }

    /// Returns the store that keeps the vectors of look-ups decoded.
    @discardableResult
    private func keepVectors() throws(FirnError) -> VectorStore {
        if let vectors { return vectors }
        let numbers = try table.vectorNumbers(), store = VectorStore(numbers, width: width + 1)
        self.numbers = numbers
        vectors = store
        return store
    }

    private func find(row value: OpaquePointer, _ found: inout [UInt64]) throws(FirnError) {
        guard let id = SQLNumbers.whole(SQLValue(numeric: value)) else { return }
        do throws(Damage) {
            guard let number = try table.table.segmentIndex(of: id), case let segment = try table.table.segment(number),
                let row = try segment.position(of: id),
                segment.live?[row] ?? true
            else { return }
            found.append(UInt64(number) << 32 | UInt64(row))
        } catch { throw table.damaged(error) }
    }
}
