import FirnBytes
import FirnCSV
import FirnExchange
import FirnKit
import FirnTable
import Testing

/// Numbers with a decimal comma or with separators between groups of digits.
@Suite struct CSVNumberMarkTests {
    private func text(_ cells: [String], delimiter: String = ";") -> String {
        "x\(delimiter)n\n"
            + cells.map { ($0.contains(delimiter) ? "\"\($0)\"" : $0) + "\(delimiter)a b\n" }.joined()
    }

    /// Returns the type of a column with these cells and the example of its layout. Checks that it is written with the same bytes, and that
    /// the size of blocks does not matter.
    private func type(
        _ cells: [String], delimiter: String = ";", decimal: Bool? = nil, values: [Value] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
        var options = CSVOptions()
        options.hasDecimalComma = decimal
        let text = text(cells, delimiter: delimiter), table = try Table(text, options)
        for (row, value) in values.enumerated() { #expect(table.rows[row][0] == value, "row \(row)", sourceLocation: sourceLocation) }
        #expect(String(decoding: try table.written(), as: UTF8.self) == text, sourceLocation: sourceLocation)
        options.blockSize = 40
        let small = try Table(text, options)
        #expect(small.rows == table.rows && small.schema == table.schema, sourceLocation: sourceLocation)
        return table.types[0] + (NumberLayout(table.notations[0]).map { " \($0.example)" } ?? "")
            + (table.schema.types[0].hasCompanions ? " with texts" : "")
    }

    @Test func `numbers with a decimal comma or groups are recognised where the cells allow one reading only`() throws {
        #expect(try type(["1,5", "2,75", "3,0"], values: [.double(1.5), .double(2.75), .double(3)]) == "double 1234,0")
        #expect(try type(["1,50", "2,75", "-3,00"], values: [.double(1.5), .double(2.75), .double(-3)]) == "double 1234,00")
        #expect(try type(["1.234,56", "7,00"], values: [.double(1234.56)]) == "double 1.234,00")
        #expect(try type(["1.234,5", "7,25", "12.345.678"], values: [.double(1234.5)]) == "double 1.234,5")
        #expect(try type(["1,234.56", "7.00"], values: [.double(1234.56)]) == "double 1,234.00")
        #expect(try type(["1,234", "1,234,567", "12"], values: [.int(1234), .int(1_234_567)]) == "int 1,234.5")
        #expect(try type(["1.234", "1.234.567", "12"], values: [.int(1234), .int(1_234_567)]) == "int 1.234,5")
        #expect(try type(["1 234", "12 345", "12"], values: [.int(1234), .int(12345)]) == "int 1 234.5")
        #expect(try type(["1\u{A0}234,5", "-12,5"], values: [.double(1234.5)]) == "double 1\u{A0}234,5")
        #expect(try type(["1\u{202F}234,5", "12,5"], values: [.double(1234.5)]) == "double 1\u{202F}234,5")
        #expect(try type(["1\u{2019}234.5", "12.5"], values: [.double(1234.5)]) == "double 1\u{2019}234.5")
        #expect(try type(["1'234.50", "12.25"], values: [.double(1234.5)]) == "double 1'234.00")
        #expect(try type(["0,123", "0,500"], values: [.double(0.123)]) == "double 1234,000")
        #expect(try type(["1.234.567.890.123.456,78", "1,00"]) == "decimal128 1.234,5")
        #expect(try type(["", "1,5"], values: [.null, .double(1.5)]) == "double? 1234,5")
        // In quotes, where commas separate the cells.
        #expect(try type(["1,234.50", "7.25"], delimiter: ",", values: [.double(1234.5)]) == "double 1,234.00")
        #expect(try type(["1.234,50", "7,25"], delimiter: ",", values: [.double(1234.5)]) == "double 1.234,00")
    }

    @Test func `cells that allow two readings, or none, make a column text, and a remark names the reason`() throws {
        func remark(_ cells: [String], delimiter: String = ";") throws -> String {
            #expect(try type(cells, delimiter: delimiter) == "string", "\(cells)")
            return try Table(text(cells, delimiter: delimiter)).reader.remarks.joined(separator: "\n")
        }
        #expect(
            try remark(["1,234", "12,345"]).contains(
                "column \"x\" is text: its numbers can be read in two ways (first: row 1 \"1,234\"); --decimal x=, reads a comma as the decimal mark, --decimal x=. a point"
            ))
        #expect(
            try remark(["1,5", "1.5"]).contains(
                "its numbers have different marks before fractions: a comma in row 1 (\"1,5\"), a point in row 2 (\"1.5\")"))
        #expect(try remark(["1.234,5", "1,234.5"]).contains("different marks"))
        #expect(try remark(["1,5", "2,5"], delimiter: ",").contains("--decimal x=, reads them as decimal commas"))
        #expect(try remark(["612 345 678", "612 345 679"]).contains("telephone numbers"))
        #expect(try remark(["192.168.100.101", "192.168.100.102"]).contains("telephone numbers"))
        for cells in [
            ["12,5%", "3,5%"], ["€ 1,50", "€ 2,50"], ["1,50 €"], ["1,2,3", "4,5,6"], ["007,5", "1,5"], ["1,23,456", "7,00"],
            ["192.168.1.1"],
            ["1.5.2020 a"], ["1,5", "x"], ["1,5-"], ["1 2 3"],
        ] {
            #expect(try type(cells) == "string", "\(cells)")
        }
        // Ordinary numbers and dates stay what they are.
        #expect(try type(["1.234", "12.345"]) == "double")
        #expect(try type(["1.5.2020", "2.5.2020"]) == "date")
    }

    @Test func `a contradicted mark is given up for all rows, and a few other texts are exceptions`() throws {
        let numbers = (0..<3000).map { "\($0),25" }
        #expect(try type(numbers + ["see note"], values: [.double(0.25)]) == "double? 1234,5 with texts")
        #expect(try type(numbers + ["1.5"]) == "string")
        #expect(try type(numbers + ["NA", "+1,5", " 7,5", "1,5E+03", "1.234,25"]) == "double? 1234,5 with texts")
        #expect(try type(["1.234,5", "12345,5", "12.345,5"]) == "double 1.234,5 with texts")
        #expect(try type((0..<3000).map { "\($0).25" } + ["1,234.50"]) == "double 1234.00 with texts")
        #expect(try type([" 1,234", "90", "950"]) == "string")
        #expect(try type([" 1,234", "90", "950"], decimal: false, values: [.int(1234)]) == "int 1234.5 with texts")
        #expect(try type(["612 345 ", "7"], decimal: false, values: [.int(612_345)]) == "int 1234.5 with texts")
        #expect(try type((0..<9).map { "\(1000 + $0)" } + ["1.234", " 5"], decimal: true) == "int 1234,5 with texts")
        // Whole numbers without groups that are longer than an ordinary number keep their text.
        #expect(try type(["1.234.567", "12.345", "1234567890123456"]) == "int 1.234,5 with texts")
    }

    @Test func `a decimal mark that is given decides the reading`() throws {
        #expect(try type(["1,234", "12,345"], decimal: true, values: [.double(1.234)]) == "double 1234,5")
        #expect(try type(["1,234", "12,345"], decimal: false, values: [.int(1234)]) == "int 1,234.5")
        #expect(try type(["1.234", "12.345"], decimal: true, values: [.int(1234)]) == "int 1.234,5")
        #expect(try type(["1.5", "2.5"], decimal: false) == "double")
        #expect(try type(["1.5", "2.5"], decimal: true) == "string")
        #expect(try type(["1", "2"], decimal: true) == "int")
        #expect(try type(["1.5.2020", "12.5.2020"], decimal: true) == "date")
        #expect(try type(["true", "false"], decimal: true) == "bool")
        #expect(try type(["1,5", "2,5"], delimiter: ",", decimal: true, values: [.double(1.5)]) == "double 1234,5")
        #expect(try type(["612 345 678"], decimal: false) == "int 1 234.5")
        var options = CSVOptions()
        options.hasDecimalComma = false
        options.hasDecimalCommaOf = ["a": true]
        let table = try Table("a;b\n1,234;1,234\n", options)
        #expect(table.types == ["double", "int"] && table.rows == [[.double(1.234), .int(1234)]])
        options.hasDecimalCommaOf = ["z": true]
        #expect(throws: FirnError.self) { _ = try Table("a;b\n1,234;1,234\n", options) }
    }

    @Test func `a first record with numbers of the layout of those below is data`() throws {
        let table = try Table("1,5;2,5\n3,5;4,25\n")
        #expect(table.names == ["column1", "column2"] && table.types == ["double", "double"] && table.rows.count == 2)
    }

    @Test func `requested types are read in the layout of the cells, and cells that do not fit are bad`() throws {
        var options = CSVOptions()
        options.types = TypeSchema("T", columns: [ColumnSchema("a", ColumnType(.float)), ColumnSchema("b", ColumnType(.int))])
        let text = "a;b\n1,5;1.234.567\n2,25;12\n", table = try Table(text, options)
        #expect(table.types == ["float", "int"] && table.rows == [[.float(1.5), .int(1_234_567)], [.float(2.25), .int(12)]])
        #expect(String(decoding: try table.written(), as: UTF8.self) == text)
        let notation = NumberLayout(hasComma: true, group: .point, digits: .fixed(2)).notation
        options.types = TypeSchema("T", columns: [ColumnSchema("a", ColumnType(.double), notation: notation)])
        #expect(try Table("a;b\n1.234,50;x\n", options).rows == [[.double(1234.5), .string("x")]])
        let error = #expect(throws: FirnError.self) { _ = try Table("a;b\n1.234,50;x\n1,2,3;x\n", options) }
        #expect(error?.description.contains("\"1,2,3\"") == true, "\(String(describing: error))")
    }

    private func double(_ text: String, hasComma: Bool) -> Double? {
        Array(text.utf8).withUnsafeBytes { bytes -> Double? in
            OriginalText.withPlain(bytes, hasComma: hasComma) { (plain) -> Double? in NumberText.parseDouble(plain) } ?? nil
        }
    }

    @Test func `every layout is named, stored and written, and reads back as the same value`() throws {
        var random = Random(seed: 16)
        for hasComma in [false, true] {
            for group in NumberLayout.Group.allCases where group != (hasComma ? .comma : .point) {
                for digits in [Notation.plain, .pointZero, .fixed(2), .fixed(22)] {
                    let layout = NumberLayout(hasComma: hasComma, group: group, digits: digits)
                    #expect(NumberLayout(layout.notation) == layout && NumberLayout(example: layout.example) == layout)
                    for _ in 0..<200 {
                        let sizes: [Double] = [1, 1e3, 1e6, 1e12, 1e-9, 1e25], size: Double = sizes.randomElement(using: &random) ?? 1
                        let whole = Bool.random(using: &random)
                        let raw = Double.random(in: -1...1, using: &random) * size, value: Double = whole ? raw.rounded() : raw
                        var column = Column(ColumnType(.double))
                        _ = column.append(.double(value))
                        let text = NumberText.text(column, row: 0, layout)
                        let read = double(text, hasComma: hasComma)
                        #expect(read == value, "\(value) as \(text) in \(layout.example)")
                    }
                }
            }
        }
        for code in UInt8(96)...255 {
            for parameter in [0, 2, 23, 255] as [UInt8] {
                let notation = Notation(code: code, parameter: parameter)
                if let layout = NumberLayout(notation) { #expect(layout.notation == notation) }
            }
        }
    }

    @Test func `random columns are written back with the same bytes, and have the values of another reader`() throws {
        for seed in UInt64(0)..<300 {
            var random = Random(seed: seed)
            let hasComma = Bool.random(using: &random), group = ["", ",", ".", " ", "'", "\u{A0}"].randomElement(using: &random) ?? ""
            let mark = hasComma ? "," : ".", separator = group == mark ? "" : group
            let odd = ["NA", "", "x", "1,5", "1.5", "007", "1e3", "+5", " 1,5", "1.1.2020", "1,23,4", ".5", "-"]
            var cells: [String] = [], values: [Double?] = []
            for _ in 0..<Int.random(in: 1...60, using: &random) {
                if Int.random(in: 0..<20, using: &random) == 0 {
                    cells.append(odd.randomElement(using: &random) ?? "")
                    values.append(nil)
                    continue
                }
                let whole = Int.random(in: 0...[9, 999, 99_999, 99_999_999].randomElement(using: &random)!, using: &random)
                let fraction = Int.random(in: 0...99, using: &random), sign = Bool.random(using: &random) ? "-" : ""
                var digits = ""
                for (i, digit) in String(whole).enumerated() {
                    if i > 0, (String(whole).count - i) % 3 == 0 { digits += separator }
                    digits.append(digit)
                }
                let hasFraction = Int.random(in: 0..<4, using: &random) > 0
                cells.append(sign + digits + (hasFraction ? "\(mark)\(fraction)" : ""))
                values.append(Double("\(sign)\(whole)" + (hasFraction ? ".\(fraction)" : "")))
            }
            let text = text(cells)
            var options = CSVOptions()
            options.hasDecimalComma = Bool.random(using: &random) ? hasComma : nil
            let table = try Table(text, options)
            #expect(String(decoding: try table.written(), as: UTF8.self) == text, "seed \(seed): \(table.types[0]) \(cells)")
            guard NumberLayout(table.notations[0]) != nil else { continue }
            for (row, value) in values.enumerated() {
                guard let value else { continue }
                let read: Double? =
                    switch table.rows[row][0] {
                    case .int(let x): Double(x)
                    case .double(let x): x
                    case .decimal(let x): Double(x.description)
                    default: nil
                    }
                #expect(read == value, "seed \(seed), row \(row): \(cells[row])")
            }
        }
    }

    @Test func `hostile texts of numbers never trap`() throws {
        for seed in UInt64(0)..<3000 {
            var random = Random(seed: seed)
            let alphabet = Array("0123456789,.'-+eE \u{A0}\u{202F}\u{2019}".utf8)
            let bytes = (0..<Int.random(in: 0...110, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? 0 }
            for hasComma in [false, true] {
                _ = bytes.withUnsafeBytes { OriginalText.withPlain($0, hasComma: hasComma) { $0.count } }
                let notation = NumberLayout(hasComma: hasComma, group: .space).notation
                _ = bytes.withUnsafeBytes {
                    (OriginalText.int($0, notation), OriginalText.double($0, notation), OriginalText.decimal($0, notation))
                }
            }
        }
    }
}

/// Cells that fit both marks, in texts in which other columns show the mark.
@Suite struct CSVSharedMarkTests {
    private func table(_ text: String) throws -> Table { try Table(text) }

    private func check(
        _ text: String, _ types: [String], _ first: [Value], says: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let table = try Table(text), remarks = table.reader.remarks.joined(separator: "\n")
        #expect(table.types == types, "\(remarks)", sourceLocation: sourceLocation)
        #expect(table.rows.first == first, sourceLocation: sourceLocation)
        #expect(String(decoding: try table.written(), as: UTF8.self) == text, sourceLocation: sourceLocation)
        if let says { #expect(remarks.contains(says), "\(remarks)", sourceLocation: sourceLocation) }
    }

    @Test func `points separate groups of digits if other columns have decimal commas`() throws {
        try check("p;n\n1,25;26.112\n7,50;950\n", ["double", "int"], [.double(1.25), .int(26112)], says: "\"n\": numbers have \".\"")
        try check("n;p\n26.112;1.234,5\n7.500;2,5\n", ["int", "double"], [.int(26112), .double(1234.5)])
        // The mark is known from groups alone.
        try check("p;n\n1.234.567;26.112\n7.500;950\n", ["int", "int"], [.int(1_234_567), .int(26112)])
        // Not all cells have groups of three digits.
        try check("p;n\n1,25;26.1125\n7,50;9.5000\n", ["double", "double"], [.double(1.25), .double(26.1125)])
        try check("p;n\n1,25;0.500\n7,50;9.500\n", ["double", "double"], [.double(1.25), .double(0.5)], says: "read as decimal points")
        // A third column has decimal points.
        try check(
            "p;n;q\n1,25;26.112;0.5\n7,50;9.500;1.5\n", ["double", "double", "double"], [.double(1.25), .double(26.112), .double(0.5)])
    }

    @Test func `commas separate groups of digits if other columns have decimal points`() throws {
        try check("p;n\n1.25;26,112\n7.50;9,500\n", ["double", "int"], [.double(1.25), .int(26112)], says: "\"n\": numbers have \",\"")
        try check("p;n\n1,234.5;26,112\n7.5;9,500\n", ["double", "int"], [.double(1234.5), .int(26112)])
        try check("p;n\n1,25;26,112\n7,5;9,500\n", ["double", "double"], [.double(1.25), .double(26.112)])
        // Nothing shows the mark, or two columns contradict each other.
        try check("p;n\na;26,112\nb;9,500\n", ["string", "string"], [.string("a"), .string("26,112")])
        try check(
            "p;q;n\n1,25;2.25;26,112\n7,5;7.5;9,500\n", ["double", "double", "string"], [.double(1.25), .double(2.25), .string("26,112")])
    }
}
