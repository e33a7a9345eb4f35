import FirnBytes
import FirnTable

extension WorkingTable {
    /// Appends a row and returns its row id. `fill` must append exactly one value to each column (embedded objects as links to their rows).
    /// If `fill` throws, or if another row has the key, nothing of the row is kept.
    /// - Throws: `.duplicateKey` if another row has the key, and what `fill` throws.
    package func append(_ fill: (inout [Column]) throws(FirnError) -> Void) throws(FirnError) -> Int64 {
        let rows = try startRow()
        do throws(FirnError) {
            try fill(&rows.open)
            assert(rows.open.allSatisfy { $0.holds(rows.openCount + 1) }, "append one value to each column of \"\(type.name)\"")
            if isKeyed {
                let key = try transaction.freeKey(index) { rows.open[$0].value(at: rows.openCount) }
                transaction.noteKey(key, index, transaction.states[index].nextRowID)
            }
        } catch {
            rows.takeBack()
            throw error
        }
        return endRow(rows)
    }

    /// Appends a row whose key no other row has.
    func append(free key: WantedKey?, _ fill: (inout [Column]) -> Void) throws(FirnError) -> Int64 {
        let rows = try startRow()
        fill(&rows.open)
        transaction.noteKey(key, index, transaction.states[index].nextRowID)
        return endRow(rows)
    }

    private func startRow() throws(FirnError) -> WorkingRows {
        mark.checkOpen()
        noteEdits()
        if tail.rowCount >= segmentSize { try handOver() }
        if tail.rowCount == 0, tail.firstGrown != transaction.states[index].nextRowID { emptyTail() }
        return tail
    }

    @inline(__always)
    private func endRow(_ rows: WorkingRows) -> Int64 {
        let rowID = giveRowID()
        rows.noteAppended()
        noteRows()
        return rowID
    }

    /// Returns one value at a position, embedded objects as links.
    package func storedValue(at location: RowLocation, _ column: Int) throws(Damage) -> Value {
        let rows = try rows(location.segment), position = location.position
        if let held = (rows as? WorkingRows)?.heldValue(at: position, column) { return held }
        return try rows.storedColumn(column).value(at: position)
    }

    /// Returns the current value of a row in a column, embedded objects as links.
    /// - Throws: `.notFound` if the row does not exist.
    package func storedValue(_ rowID: Int64, _ column: Int) throws(FirnError) -> Value {
        let value = try transaction.reading { () throws(Damage) -> Value? in
            guard let location = try location(of: rowID) else { return nil }
            return try storedValue(at: location, column)
        }
        guard let value else { throw FirnError(.notFound, "no row \(rowID)") }
        return value
    }

    /// Sets one value of a row; embedded objects are links to their rows.
    /// - Throws: `.schema` if the value does not fit the column, `.duplicateKey` if another row has the new key, `.notFound` if the row
    /// does not exist.
    package func set(_ rowID: Int64, _ column: Int, _ value: Value) throws(FirnError) {
        let (rows, position) = try writable(rowID)
        guard Column(rows.types[column]).fits(value) else { throw misfit(column, value) }
        try takeKey(rowID, column, value)
        if rows.scalars[column] == .date { try forgetZone(rowID, column, unlessEqual: value) }
        try change(rows, position, column) { _ = $0.set($1, value) }
    }

    /// Removes the original text of a date that gets another value. Other original texts are used only if they read as the value of their
    /// row, but that of a date can be its zone alone, which fits every date.
    private func forgetZone(_ rowID: Int64, _ column: Int, unlessEqual value: Value) throws(FirnError) {
        guard let companion = dateCompanions[column], try storedValue(rowID, column) != value else { return }
        let (rows, position) = try writable(rowID)
        try change(rows, position, companion) { _ = $0.set($1, .null) }
    }

    /// Returns one row of a column at a position as a column, embedded objects as links.
    package func storedRow(at location: RowLocation, _ column: Int) throws(Damage) -> Column {
        let rows = try rows(location.segment), position = location.position
        if let held = (rows as? WorkingRows)?.heldRow(at: position, column) { return held }
        return try rows.storedColumn(column).row(at: position)
    }

    /// Sets a collection to the only row of a column, which has the type of this column as it is stored. Throws as `set` does.
    package func set(_ rowID: Int64, _ column: Int, row: Column) throws(FirnError) {
        let (rows, position) = try writable(rowID)
        trap(unless: row.type == rows.types[column] && row.count == 1 && row.type.isCollection, "the row has another type than the column")
        try change(rows, position, column) { if $0.count == 1 { $0 = row } else { $0.set($1, row, 0) } }
    }

    /// Sets a bool, int or link (also of an embedded object) to a value that is not null. Throws as `set` does.
    package func setWord(ofRow rowID: Int64, _ column: Int, to value: Int64) throws(FirnError) {
        let (rows, position) = try writable(rowID)
        // A `switch`, because `==` of kinds is a call of another module, which costs more than the rest.
        let word: Int64
        switch rows.scalars[column] {
        case .int:
            word = value
            if isKeyed { try takeKey(rowID, column, .int(value)) }
        case .bool:
            word = value == 0 ? 0 : 1
            if isKeyed { try takeKey(rowID, column, .bool(value != 0)) }
        case .link:
            word = value
            if isKeyed { try takeKey(rowID, column, .link(value)) }
        default: throw misfit(column, .int(value))
        }
        try change(rows, position, column) { $0.setWord($1, word) }
    }

    /// Sets a float or double to a value that is not null. Throws as `set` does.
    package func setReal(ofRow rowID: Int64, _ column: Int, to value: Double) throws(FirnError) {
        let (rows, position) = try writable(rowID)
        let real: Double
        switch rows.scalars[column] {
        case .double:
            real = value
            if isKeyed { try takeKey(rowID, column, .double(value)) }
        case .float:
            real = Double(Float(value))
            if isKeyed { try takeKey(rowID, column, .float(Float(value))) }
        default: throw misfit(column, .double(value))
        }
        try change(rows, position, column) { $0.setReal($1, real) }
    }

    /// Sets a string to a value that is not null. Throws as `set` does.
    package func setText(_ rowID: Int64, _ column: Int, _ value: String) throws(FirnError) {
        let (rows, position) = try writable(rowID)
        guard rows.scalars[column] == .string else { throw misfit(column, .string(value)) }
        if isKeyed { try takeKey(rowID, column, .string(value)) }
        var value = value
        try change(rows, position, column) { $0.setText($1, &value) }
    }

    /// Ensures that no other row has the key that the row is about to get.
    /// - Throws: `.duplicateKey` if another row has it.
    private func takeKey(_ rowID: Int64, _ column: Int, _ value: Value) throws(FirnError) {
        guard isKeyed else { return }
        transaction.noteKey(try transaction.freeKey(index, changing: column, to: value, rowID), index, rowID)
    }

    /// Sets a link to null, even in a column that is not optional, because the row that it referred to is deleted.
    func clearLink(_ rowID: Int64, _ column: Int) throws(FirnError) {
        let (rows, position) = try writable(rowID)
        try change(rows, position, column) { $0.setNull($1) }
    }

    @inline(__always)
    private func change(_ rows: WorkingRows, _ position: Int, _ column: Int, _ body: (inout Column, Int) -> Void) throws(FirnError) {
        let isFirst: Bool
        do throws(Damage) { isFirst = try rows.change(position, column, body) } catch { throw transaction.database.failure(error) }
        noteChange(column, isFirst: isFirst)
    }

    private func misfit(_ column: Int, _ value: Value) -> FirnError {
        FirnError(.schema, "column \"\(type.columns[column].name)\" takes \(type.columns[column].type.name), not \(value)")
    }

    /// Deletes only this row. The caller must handle links to it and embedded objects that it owns.
    /// - Throws: `.notFound` if the row does not exist.
    package func delete(_ rowID: Int64) throws(FirnError) {
        let (rows, position) = try writable(rowID)
        rows.delete(position)
        transaction.states[index].liveRows -= 1
        noteRows()
    }

    /// Passes the rows of the tail, including those of the delta store, to the bulk writer of the type.
    func handOver() throws(FirnError) {
        guard tail.rowCount > 0 else { return }
        let (columns, rowIDs) = try transaction.reading { () throws(Damage) in
            try needTail()
            return try tail.liveRows(columns: type.columns.count)
        }
        try transaction.dropDeltaRows(index)
        emptyTail()
        try transaction.writer(index).add(columns, rowIDs: rowIDs)
    }
}
