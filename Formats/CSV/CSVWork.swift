import FirnBytes
import FirnExchange
import FirnTable
import Synchronization

/// What threads do with blocks; the same for all blocks.
struct CSVSetting: Sendable {
    var marks: CSVMarks
    var width: Int
    var plans: [CSVPlan]
    /// Whether the text is checked to be UTF-8 (in the first reading).
    var checksText: Bool
    /// The columns that are known to be text while guesses are made.
    var texts = CSVTextColumns()
    /// The positions of the cells of the key, if the hashes of all keys are computed while guesses are made.
    var keys: [Int] = []

    /// The same for another part of the text, without what is known of the columns.
    var again: CSVSetting {
        var copy = self
        copy.texts = CSVTextColumns()
        return copy
    }
}

/// The columns that are known to be text before all of them has been read, so that their cells are not examined any more.
final class CSVTextColumns: Sendable {
    private let columns = Mutex<[Bool]>([])

    /// Returns whether each of `count` columns is text.
    func known(_ count: Int) -> [Bool] {
        columns.withLock { known in known.isEmpty ? [Bool](repeating: false, count: count) : known }
    }

    func note(_ column: Int, of count: Int) {
        columns.withLock { known in
            if known.isEmpty { known = [Bool](repeating: false, count: count) }
            known[column] = true
        }
    }
}

struct CSVLineEnds: Sendable {
    var carriageReturns = 0
    var bareNewlines = 0
    var blankLines = 0
    var endsOpen = false
    /// Whether unquoted cells contain quotes or carriage returns, which would be written quoted.
    var bareMarks = false
    /// Whether the last record has text in its first cell only, as a padded footer has.
    var endsPadded = false
    /// Whether carriage returns occur in unquoted cells (line feeds, if the line ends are carriage returns).
    var bareReturns = false

    mutating func add(_ index: CSVIndex) {
        carriageReturns += index.carriageReturns
        bareNewlines += index.bareNewlines
        blankLines += index.blankLines
        endsOpen = endsOpen || index.endsOpen
        bareMarks = bareMarks || index.bareQuotes > 0
    }

    mutating func merge(_ other: CSVLineEnds) {
        carriageReturns += other.carriageReturns
        bareNewlines += other.bareNewlines
        blankLines += other.blankLines
        endsOpen = endsOpen || other.endsOpen
        bareMarks = bareMarks || other.bareMarks
        bareReturns = bareReturns || other.bareReturns
        endsPadded = other.endsPadded
    }
}

/// What a block contributes to the guesses of the columns.
struct CSVGuesses: Sendable {
    var columns: [CSVGuess]
    var rows = 0
    var ends = CSVLineEnds()
    /// The hashes of the keys, if the setting requests them.
    var keys = CSVKeyHashes()
    /// The first rejected record, with its offset in the text.
    var bad: (offset: UInt64, fault: CSVFault)?
    var invalidText: UInt64?
}

/// The rows of a block.
struct CSVRows: Sendable {
    var columns: [Column]
    var count = 0
    /// The number of bytes of the block.
    var bytes = 0
    var ends = CSVLineEnds()
    /// Rejected records in order: the offset in the text, the fault, the bytes, and the text of the cell that does not fit.
    var bad: [(offset: UInt64, fault: CSVFault, bytes: [UInt8], cell: String)] = []
    var invalidText: UInt64?
    /// By column.
    var respelled: [Int: CSVRespelling] = [:]
}

extension CSVSetting {
    /// Guesses from all cells of a block.
    func guess(_ block: CSVBlock) -> CSVGuesses {
        var guesses = CSVGuesses(columns: [CSVGuess](repeating: CSVGuess(), count: plans.count))
        if checksText, let offset = firstInvalidUTF8(block.memory, block.count) {
            guesses.invalidText = block.offset + UInt64(offset)
            return guesses
        }
        let index = CSVIndex(width: width), isText = texts.known(plans.count)
        var at = 0
        while at < block.count {
            at = index.fill(block.memory, from: at, to: block.count, marks: marks)
            for (i, plan) in plans.enumerated() {
                if let hasComma = plan.hasComma {
                    guesses.columns[i].see(
                        index, column: plan.cell, after: guesses.rows, isText: isText[i], memory: block.memory, cellMarks: marks,
                        nulls: plan.nulls, hasComma: hasComma)
                    continue
                }
                guesses.columns[i].see(
                    index, column: plan.cell, after: guesses.rows, isText: isText[i], memory: block.memory, marks: marks, nulls: plan.nulls)
            }
            if !keys.isEmpty { guesses.keys.add(index, cells: keys, memory: block.memory) }
            guesses.rows += index.rows
            if index.rows > 0 { guesses.ends.endsPadded = index.endsPadded }
            if guesses.bad == nil, let bad = index.bad.first { guesses.bad = (block.offset + UInt64(bad.offset), bad.fault) }
        }
        guesses.ends.add(index)
        guesses.ends.bareReturns = hasBareReturns(block, index.carriageReturns)
        guesses.ends.bareMarks = guesses.ends.bareMarks || guesses.ends.bareReturns
        return guesses
    }

    /// Whether carriage returns (line feeds, if the line ends are carriage returns) occur outside quotes and are not part of a line end.
    private func hasBareReturns(_ block: CSVBlock, _ lineEnds: Int) -> Bool {
        let other: UInt8 = marks.newline == 10 ? 13 : 10
        var count = 0, at = find(other, block.memory, 0, block.count)
        while at < block.count {
            count += 1
            // Usually there is one before every line end, and each costs one search.
            at = find(other, block.memory, at + 1, block.count)
        }
        guard count > lineEnds else { return false }
        var inQuotes = false
        for at in 0..<block.count {
            let byte = block.memory[at]
            if byte == marks.quote { inQuotes.toggle() }
            if byte == other, !inQuotes, other == 10 || block.memory[at + 1] != 10 { return true }
        }
        return false
    }

    /// Returns the number of rows of a block for which its columns allocate memory, given the first rows and their share of its bytes: an
    /// eighth more than they let expect. They may be much shorter than those that follow, so the cells have a bound.
    static func expectedRows(after rows: Int, share: Double, columns: Int) -> Int {
        let most = max(rows, min(CSVReader.blockRows, CSVReader.maximumWideCells / max(columns, 1)))
        return Int(min(Double(most), Double(rows) / share * 1.125 + 2))
    }

    /// Reads all cells of a block.
    func read(_ block: CSVBlock) -> CSVRows {
        var rows = CSVRows(columns: [])
        if checksText, let offset = firstInvalidUTF8(block.memory, block.count) {
            rows.invalidText = block.offset + UInt64(offset)
            return rows
        }
        // Rejected rows are passed on unchanged. A row with a cell that does not fit its type is read before it is rejected, which makes
        // doubled quotes single; other faults are found before that.
        let original =
            plans.contains(where: \.isForced) && marks.quote != CSVMarks.noQuote
                && find(marks.quote, block.memory, 0, block.count) < block.count
            ? block.copy() : block
        let index = CSVIndex(width: width)
        let columns = plans.map(CSVColumn.init)
        var spellings = CSVSpellings(plans)
        var at = 0
        while at < block.count {
            at = index.fill(block.memory, from: at, to: block.count, marks: marks)
            if rows.bytes == 0, index.rows > 0 {
                let expected = CSVSetting.expectedRows(after: index.rows, share: Double(at) / Double(block.count), columns: columns.count)
                for column in columns { column.expect(rows: expected) }
                rows.bytes = block.count
            }
            append(index, to: columns, block)
            spellings.append(index, block)
            for bad in index.bad {
                var cell = ""
                if case .cell(let column) = bad.fault { cell = CSVSetting.cellText(original, bad.range, bad.offset, column, self) }
                let bytes = Array(UnsafeBufferPointer(start: original.memory + bad.range.lowerBound, count: bad.range.count))
                rows.bad.append((block.offset + UInt64(bad.offset), bad.fault, bytes, cell))
            }
        }
        rows.ends.add(index)
        rows.count = columns.first?.count ?? 0
        rows.columns = columns.map { $0.finish() }
        rows.columns += columns.compactMap { $0.finishOriginals() }
        rows.respelled = spellings.compare(rows.columns)
        if rows.bad.count > 1 { rows.bad.sort { $0.offset < $1.offset } }
        return rows
    }

    /// Appends the rows of the index to every column, except rows with a cell that does not fit.
    private func append(_ index: CSVIndex, to columns: [CSVColumn], _ block: CSVBlock) {
        let before = columns.first?.count ?? 0
        var next = 0
        while next < columns.count {
            if let row = columns[next].append(index, memory: block.memory) {
                index.drop(row: row, column: columns[next].plan.cell)
                for column in columns[..<next] { column.cut(to: before) }
                next = 0
            } else {
                next += 1
            }
        }
    }

    private static func cellText(_ block: CSVBlock, _ range: Range<Int>, _ start: Int, _ column: Int, _ setting: CSVSetting) -> String {
        var end = start
        while end < range.upperBound, block.memory[end] != setting.marks.delimiter, block.memory[end] != 10, block.memory[end] != 13,
            block.memory[end] != setting.marks.quote
        { end += 1 }
        return String(decoding: UnsafeBufferPointer(start: block.memory + start, count: min(end - start, 60)), as: UTF8.self)
    }
}

extension CSVBlock {
    func copy() -> CSVBlock {
        let copy = CSVBlock(copyOf: count)
        copy.memory.update(from: memory, count: count)
        copy.count = count
        copy.offset = offset
        copy.seal()
        return copy
    }
}
