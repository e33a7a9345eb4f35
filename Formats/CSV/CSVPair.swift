import FirnBytes
import FirnExchange
import FirnTable

/// Two CSV texts in one notation, most of whose records are equal byte by byte: the readers of the other records, and the number of those
/// that are equal. In each text no two rows have the same key, so an equal record cannot have the key of another one.
///
/// Each text is read once. Its columns have the types that a `CSVReader` of the whole text infers.
package struct CSVPair {
    /// The rows of the records that only one of the texts has.
    package let old: CSVReader
    package let new: CSVReader
    /// The number of rows that both texts have.
    package let equalRows: Int

    /// What is read, and how.
    package struct Source {
        let input: Input
        let options: CSVOptions

        package init(_ input: Input, _ options: CSVOptions) {
            self.input = input
            self.options = options
        }
    }

    /// The maximum number of hashes of keys (8 bytes each) in memory.
    private static func maximumKeys(_ budget: MemoryBudget) -> Int { min(1 << 24, budget.limit / 64) }

    /// Compares the records of two inputs. Returns nil if the texts are not so alike that this pays, or if anything needs a closer look, which
    /// `CSVReader` gives; then the inputs must be opened again.
    /// - Parameters:
    ///   - key: The names of the columns that identify a row; not empty.
    ///   - limit: The maximum number of bytes of the records that are not equal.
    /// - Throws: `FirnError.interrupted`. Other errors are left to `CSVReader`.
    /// - Complexity: the bytes of both texts; the types of equal records are inferred once.
    package init?(old: Source, new: Source, key: [String], limit: Int) throws(FirnError) {
        do throws(FirnError) {
            guard let found = try CSVPairReading(old, new, key: key, limit: limit), let readers = try found.readers() else { return nil }
            (self.old, self.new, equalRows) = (readers.old, readers.new, found.equalRows)
        } catch {
            if error.code == .interrupted { throw error }
            return nil
        }
    }

    /// The first reading of both texts.
    private struct CSVPairReading {
        private let sides: [Side]
        private let header: CSVHeader
        private let keys: [Int]
        private let common: CSVGuesses
        var equalRows: Int { common.rows }

        /// One text.
        private struct Side {
            let source: Source
            let opening: CSVOpening
            let form: CSVGuessedForm
            /// The records that only this text has, after the header.
            var others = CSVSide.Records()
            var found = CSVGuesses(columns: [])
        }

        init?(_ old: Source, _ new: Source, key: [String], limit: Int) throws(FirnError) {
            var sides: [Side] = [], headers: [CSVHeader] = []
            for source in [old, new] {
                guard source.options.allowsPairs else { return nil }
                let opening = try CSVOpening(source.input, source.options, charge: MemoryCharge(source.input.budget))
                guard let (form, header) = try opening.plainHeader() else { return nil }
                sides.append(Side(source: source, opening: opening, form: form))
                headers.append(header)
            }
            header = headers[0]
            guard header.names == headers[1].names, header.length == headers[1].length, header.marks == headers[1].marks else { return nil }
            var keys: [Int] = []
            for name in key {
                guard let cell = header.names.firstIndex(of: name) else { return nil }
                keys.append(cell)
            }
            self.keys = keys

            let records = try CSVCommonRecords(old: sides[0].opening.text, new: sides[1].opening.text, header: header, limit: limit)
            if let total = records.input.totalBytes { old.options.progress?.setTotal(bytes: Int(clamping: total)) }
            var setting = CSVPairReading.setting(header, sides[0].source.options)
            setting.keys = keys
            let maximumKeys = CSVPair.maximumKeys(old.input.budget)
            common = try CSVReader.look(
                records, setting, header, old.options, isTentative: true, until: { records.isGivenUp || $0 > maximumKeys })
            guard !records.isGivenUp, common.isRegular, common.rows <= maximumKeys else { return nil }
            let others = [records.others.old, records.others.new]
            for i in sides.indices {
                sides[i].others = others[i]
                let text = try CSVText(Input(bytes: others[i].bytes, name: sides[i].source.input.name), encoding: .utf8)
                var quiet = sides[i].source.options
                quiet.progress = nil
                // The columns are those of all records, so no part of them can decide that a column is text.
                let found = try CSVReader.look(text, setting.again, header, quiet, isTentative: true, maximumCells: .max)
                guard found.isRegular else { return nil }
                sides[i].found = found
            }
            self.sides = sides
            guard common.keys.areUnique(withEach: sides.map(\.found.keys), threads: old.options.threads) else { return nil }
        }

        private static func setting(_ header: CSVHeader, _ options: CSVOptions) -> CSVSetting {
            let plans = header.names.enumerated().map { cell, name in
                CSVPlan(cell: cell, type: ColumnType(.string), isForced: false, nulls: CSVNulls(options.nullWords(of: name)))
            }
            return CSVSetting(marks: header.marks, width: header.width, plans: plans, checksText: true)
        }

        /// Returns the readers of the records that only one text has; nil unless the columns of both have the same types, apart from nulls.
        func readers() throws(FirnError) -> (old: CSVReader, new: CSVReader)? {
            var decisions: [CSVDecision] = [], opened: [CSVOpened] = []
            for side in sides {
                guard let whole = whole(side) else { return nil }
                opened.append(whole)
                decisions.append(try CSVDecision(whole, side.source.options, keptTexts: [], input: side.source.input))
            }
            let types = decisions.map { $0.schema.types[0].columns }
            guard types[0].count == types[1].count, zip(types[0], types[1]).allSatisfy({ $0.isReadLike($1) }) else { return nil }
            for cell in keys {
                guard types[0][cell].hasOneText, decisions[0].schema.types[0].scalarCompanions[cell] == nil else { return nil }
                // Null has a text for each word.
                let hasNulls = opened.contains { $0.found.columns[cell].hasNulls }
                if hasNulls, sides[0].source.options.nullWords(of: header.names[cell]).count > 1 { return nil }
            }
            var readers: [CSVReader] = []
            for (i, side) in sides.enumerated() {
                var options = side.source.options
                options.progress = nil
                let text = try CSVText(Input(bytes: side.others.bytes, name: side.source.input.name), encoding: .utf8)
                readers.append(try CSVReader(text, header, decisions[i], rows: side.found.rows, options: options))
            }
            return (readers[0], readers[1])
        }

        /// Returns what a reading of the whole text would have found; nil if another reading would follow.
        private func whole(_ side: Side) -> CSVOpened? {
            var found = common
            for i in found.columns.indices { found.columns[i].merge(side.found.columns[i], after: common.rows) }
            found.rows += side.found.rows
            found.ends.merge(side.found.ends)
            if !side.others.hasLast { found.ends.endsPadded = common.ends.endsPadded }
            return side.opening.opened(found, header, side.form)
        }
    }
}

extension CSVOptions {
    /// Whether nothing is requested that needs each row of both texts.
    fileprivate var allowsPairs: Bool {
        columns == nil && types == nil && !allText && rejects == nil && !isLossless && hasDecimalComma == nil && hasDecimalCommaOf.isEmpty
            && nullWordsOf.isEmpty && datesOf.isEmpty && (encoding == nil || encoding == .utf8)
    }
}

extension CSVGuesses {
    /// Whether every record is regular and the text is UTF-8.
    fileprivate var isRegular: Bool { bad == nil && invalidText == nil }
}

extension ColumnSchema {
    /// Whether equal texts of two columns are equal values.
    fileprivate func isReadLike(_ other: ColumnSchema) -> Bool {
        name == other.name && type.kind == other.type.kind && notation == other.notation
    }

    /// Whether each value has one text, so that different texts are different values.
    fileprivate var hasOneText: Bool {
        switch type.kind {
        case .int, .string, .bool, .uuid, .date: true
        default: false
        }
    }
}

extension CSVOpening {
    /// Returns the form and the header of a text that the fast scan reads, as far as its first bytes show.
    fileprivate func plainHeader() throws(FirnError) -> (form: CSVGuessedForm, header: CSVHeader)? {
        guard text.encoding == .utf8, startsInUTF8 else { return nil }
        let guess = try sniff()
        guard guess.form.isPlain else { return nil }
        try text.rewind()
        return (guess, try readPlainHeader(guess.form))
    }

    /// Returns what was found in a text if no other reading of it would follow; otherwise nil.
    fileprivate func opened(_ found: CSVGuesses, _ header: CSVHeader, _ guess: CSVGuessedForm) -> CSVOpened? {
        guard !found.columns.contains(where: \.mayHaveMarks) else { return nil }
        var opened = CSVOpened(
            source: text, header: header, cells: Array(0..<header.width), found: found, dialect: header.dialect, remarks: header.remarks)
        guard !isDoubtful(opened), found.rows > 0, options.hasHeader != nil || !header.isDataRow(found, opened.cells, options) else {
            return nil
        }
        finish(&opened, guess, nil)
        return opened
    }
}
