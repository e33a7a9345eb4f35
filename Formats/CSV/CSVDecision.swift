import FirnBytes
import FirnExchange
import FirnTable

/// What the first reading decides: the columns with their types, the dialect, and how the second reading reads each cell.
struct CSVDecision {
    private let options: CSVOptions
    private let header: CSVHeader
    private let found: CSVGuesses
    /// The positions of the cells that are read.
    private let cells: [Int]
    /// The columns with requested types; nil for those whose types are inferred.
    private let forced: [ColumnSchema?]
    private let choices: [CSVChoice]
    /// Whether the original texts of a column are kept.
    private let originals: [Bool]
    /// The columns of the cells, without companions.
    private let columns: [ColumnSchema]
    let schema: Schema
    let dialect: CSVDialect
    let remarks: [String]
    let guesses: [String]
    let textReasons: [(column: String, reason: String)]
    let losses: [String]
    let facts: [ColumnFacts]

    /// `keptTexts`: the columns with requested types whose original texts are kept.
    init(_ opened: CSVOpened, _ options: CSVOptions, keptTexts: Set<String>, input: Input) throws(FirnError) {
        self.options = options
        (header, found, cells) = (opened.header, opened.found, opened.cells)
        let names = cells.map { opened.header.names[$0] }
        let forced = try CSVDecision.forced(names, options, input.name)
        let choices = zip(found.columns, names).map { guess, name in guess.choice(dates: options.dates(of: name)) }
        let columns = names.indices.map { i in
            CSVDecision.column(names[i], forced: forced[i], options.allText ? nil : choices[i], opened.found.columns[i], by: options)
        }
        (self.forced, self.choices, self.columns) = (forced, choices, columns)
        for (column, guess) in zip(forced, found.columns) {
            guard options.readsOtherNotations, let column, guess.allowsTwoReadings(as: column, by: options) else { continue }
            throw FirnError(
                .rejected, "column \"\(column.name)\": numbers can be read in two ways, with a point or a comma before fractions",
                at: .init(file: input.name),
                advice: "choose the mark before fractions: --decimal , or --decimal .")
        }
        let foundColumns = found.columns
        originals = names.indices.map {
            let guess = foundColumns[$0], choice = choices[$0]
            return forced[$0].map { keptTexts.contains($0.name) && (!options.readsOtherNotations || guess.fits($0.type.kind, choice)) }
                ?? (!options.allText && choice.exceptions != nil)
        }
        facts = columns.indices.map { i in
            CSVDecision.facts(columns[i], opened.found.columns[i], choices[i], isGiven: forced[i] != nil || options.allText)
        }
        let words = CSVNullTexts(opened.found.columns, options, names: names)
        dialect = CSVDecision.dialect(opened, words)
        losses = CSVReader.losses(opened.found, opened.header, opened.cells, options) + opened.losses
        let idle = options.withoutEffect(columns.indices.map { (columns[$0], opened.found.columns[$0]) })
        guesses = opened.remarks.filter { !opened.header.remarks.contains($0) } + idle
        var remarks = opened.remarks + idle + words.remarks(names)
        var reasons: [(column: String, reason: String)] = []
        if !options.allText {
            var found: [String] = []
            for i in names.indices where forced[i] == nil {
                let own = choices[i].remarks(names[i], opened.found.columns[i])
                found += own
                let hasTexts = opened.found.columns[i].odd?.texts.count ?? 0 > 0
                if choices[i].kind == .string || hasTexts, let reason = own.first { reasons.append((names[i], reason)) }
            }
            remarks += RemarkGroups.condensed(found)
        }
        textReasons = reasons
        let blank = opened.found.ends.blankLines
        if blank > 0 { remarks.append(blank == 1 ? "1 blank line was skipped" : "\(blank) blank lines were skipped") }
        self.remarks = remarks
        schema = CSVDecision.schema(columns, originals: originals, dialect, options, path: input.path)
    }

    /// How the second reading reads the cells.
    var setting: CSVSetting { CSVSetting(marks: header.marks, width: header.width, plans: cells.indices.map(plan), checksText: false) }

    private func plan(_ i: Int) -> CSVPlan {
        let column = columns[i], choice = choices[i]
        // An inferred type round-trips every text; a requested one may not.
        let isFound =
            forced[i] == nil || originals[i] || column.type.kind == .string
            || (choice.kind, choice.notation) == (column.type.kind, column.notation) && choice.exceptions == nil
        return CSVPlan(
            cell: cells[i], type: column.type, notation: column.notation, hasOriginals: originals[i], isForced: forced[i] != nil,
            spelling: isFound ? nil : column, rowLimit: Int64(found.rows), nulls: CSVNulls(options.nullWords(of: header.names[cells[i]])))
    }

    // MARK: Steps

    /// Returns the requested columns.
    private static func forced(_ names: [String], _ options: CSVOptions, _ input: String) throws(FirnError) -> [ColumnSchema?] {
        let forced = names.map { name in options.types.flatMap { types in types.index(of: name).map { types.columns[$0] } } }
        for case let column? in forced {
            guard column.type.isReadFromCells else {
                throw FirnError(
                    .unsupported, "column \"\(column.name)\": \(column.type.name) cannot be read from CSV cells", at: .init(file: input))
            }
            if column.type.kind == .link { try CSVReader.checkLink(column, options, input) }
        }
        return forced
    }

    /// Returns the column of a cell: the requested one, or one of the chosen type; without a choice one of text.
    private static func column(
        _ name: String, forced: ColumnSchema?, _ choice: CSVChoice?, _ guess: CSVGuess, by options: CSVOptions
    ) -> ColumnSchema {
        if let forced { return requested(forced, choice, guess, by: options) }
        guard let choice else { return ColumnSchema(name, ColumnType(.string, optional: guess.hasNulls)) }
        let hasGaps = guess.hasNulls || guess.filled == 0 || choice.exceptions?.nullCount ?? 0 > 0
        return ColumnSchema(name, ColumnType(choice.kind, optional: hasGaps), notation: choice.notation)
    }

    /// Returns a requested column with the notation that its cells have, which the schema need not have.
    private static func requested(_ forced: ColumnSchema, _ choice: CSVChoice?, _ guess: CSVGuess, by options: CSVOptions) -> ColumnSchema {
        var column = forced
        column.id = 0
        let layout = NumberLayout(column.notation)
        if column.type.kind.isNumber {
            if let marks = guess.marks, layout == nil || layout?.hasComma != marks.hasComma {
                column.notation = marks.notation(layout == nil ? column.notation : .plain, column.type.kind, hasUnusual: true)
            } else if layout != nil, options.hasDecimalComma(column.name) == false {
                column.notation = .plain
            } else if layout?.hasComma == true, guess.marks == nil, guess.contradictsComma, let choice, choice.kind != .string {
                column.notation = choice.notation
            }
        }
        if column.type.kind == .date { column.notation = dates(of: column, choice, by: options) }
        return column
    }

    /// Returns the notation of the dates of a requested column. Dates that begin with the year are read in any case.
    private static func dates(of column: ColumnSchema, _ choice: CSVChoice?, by options: CSVOptions) -> Notation {
        let wanted = options.dates(of: column.name)
        guard let choice, choice.kind == .date else { return wanted.first ?? column.notation }
        let hasOwn = DateLayout(choice.notation) != nil || DateLayout(column.notation) != nil
        return hasOwn || options.readsOtherNotations || wanted.contains { CSVOptions.fits($0, choice.notation) }
            ? choice.notation : column.notation
    }

    private static func facts(_ column: ColumnSchema, _ guess: CSVGuess, _ choice: CSVChoice, isGiven: Bool) -> ColumnFacts {
        let own = ColumnFacts.Reading(column.type.kind, column.notation)
        var facts = ColumnFacts(hasValues: guess.cells > guess.nulls, readings: isGiven ? [own] : guess.readings(choice))
        facts.hasNumbersInTexts = choice.exceptions.map { $0.unusualCount > 0 } ?? false || guess.odd?.formatted.count ?? 0 > 0
        return facts
    }

    /// Returns the dialect of the cells that are read.
    private static func dialect(_ opened: CSVOpened, _ words: CSVNullTexts) -> CSVDialect {
        var dialect = opened.dialect
        dialect.quotedColumns += opened.found.columns.indices.filter { opened.found.columns[$0].isAlwaysQuoted }
        if let text = words.common { dialect.nullText = text }
        dialect.ownNullTexts = words.own
        if opened.found.ends.endsOpen { dialect.endsWithNewline = false }
        dialect.headerNames = Dictionary(
            uniqueKeysWithValues: opened.cells.enumerated().compactMap { i, cell in dialect.headerNames[cell].map { (i, $0) } })
        if opened.cells != Array(0..<opened.header.width) {
            (dialect.trailing, dialect.headerCells, dialect.namesRows, dialect.surroundings.cells) = (0, nil, false, [:])
        }
        return dialect
    }

    /// Returns the schema: the columns, then the companions of those whose original texts are kept.
    private static func schema(
        _ columns: [ColumnSchema], originals: [Bool], _ dialect: CSVDialect, _ options: CSVOptions, path: String
    ) -> Schema {
        var type = TypeSchema(options.typeName ?? CSVReader.typeName(path), columns: columns, envelope: dialect.envelope)
        type.columns += columns.indices.filter { originals[$0] }.map { type.makeCompanion(of: columns[$0]) }
        for i in type.columns.indices { type.columns[i].id = UInt32(i + 1) }
        if let forced = options.types {
            type.otherAttributes = forced.otherAttributes
            type.key = forced.key.compactMap { position in type.index(of: forced.columns[position].name) }
            if type.key.count != forced.key.count { type.key = [] }
        }
        var schema = Schema([type])
        schema.otherAttributes = options.fileAttributes
        return schema
    }
}

extension CSVGuess {
    /// Whether the cells of a column are values of a kind, apart from exceptions that a column of an inferred type may have. Others must not
    /// become null without an error.
    fileprivate func fits(_ kind: ScalarKind, _ choice: CSVChoice) -> Bool {
        guard choice.kind != .string else {
            let odd = odd ?? CSVOddCells()
            let others = odd.texts.count + odd.numbers.count + odd.longDecimals.count + odd.signed.count + odd.dateCount
            return filled == odd.nulls.count && others == 0
        }
        return choice.kind == kind || [.double, .decimal].contains(kind) && choice.kind.isNumber
    }

    /// Whether it is not known which mark fractions follow in a column of numbers to which rows are added: the column has groups of digits or
    /// a decimal comma, and no number shows that the text has the same marks, or others.
    fileprivate func allowsTwoReadings(as column: ColumnSchema, by options: CSVOptions) -> Bool {
        guard column.type.kind.isNumber, let layout = NumberLayout(column.notation), marks == nil,
            options.hasDecimalComma(column.name) == nil
        else { return false }
        if case .ambiguous = doubt { return true }
        return layout.hasComma && maximumDigits > 0 && !contradictsComma
    }

    /// Whether numbers have a point before fractions, as they are no groups of three digits. `1.234` can be 1234 where fractions follow a comma.
    fileprivate var contradictsComma: Bool { maximumDigits > 0 && !(maximumDigits == 3 && (fewestDigits == 0 || fewestDigits == 3)) }
}
