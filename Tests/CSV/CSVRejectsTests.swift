import FirnBytes
import FirnCSV
import FirnExchange
import FirnKit
import FirnTable
import Testing

/// `rejects` sets rows aside and changes nothing else.
@Suite struct CSVRejectsTests {
    private func read(_ text: String, rejects: Bool, allText: Bool = false) throws
        -> (rows: [[Value]], rejected: String, remarks: [String])
    {
        var options = CSVOptions()
        options.allText = allText
        nonisolated(unsafe) var rejected: [UInt8] = []
        if rejects { options.rejects = Rejects { row, _ in rejected += Array(row) } }
        let table = try Table(text, options)
        return (table.rows, String(decoding: rejected, as: UTF8.self), table.reader.remarks)
    }

    @Test(arguments: [
        "a,b\n1,\"x \\\"y\\\" z\"\n2,\"p, \\\"q\\\"\"\n3,w\n", "a,b\n2,\"x\"y\"\n3,w\n", "a,b\n1,\"abc\n2,def\n3,x\n", "a,b,\n1,2,\n3,4,\n",
        "a,b\r1,2\r3,4\n5,6\n", "a,b\n1, \"x\" \n2,y\n", "a,b\n1,he said \"hi\"\n2,y\n", "a,b\n1,2\n\n3,4\n\nTotal: of 2\n",
        "a;b\n1;\"2\n\"\n3;4\n",
    ]) func `a text without ragged rows is the same with and without rejects`(text: String) throws {
        let plain = try read(text, rejects: false), other = try read(text, rejects: true)
        #expect(other.rows == plain.rows && other.rejected.isEmpty && other.remarks == plain.remarks, "\(text.debugDescription): \(other)")
    }

    @Test(arguments: Seed.first(400)) func `rows with the right number of cells are the same with and without rejects`(seed: Seed) throws {
        var random = Random(seed)
        let cells = [
            "x", "7", "\"p\"", "\"p, q\"", "\"p \"\"q\"\"\"", "it is \"so\"", "\"r\"s\"", "\"a\\\"b\"", "'t'", "\"two\nlines\"", "u\"", "v",
        ]
        var text = "one,two,three\n"
        for _ in 0..<random.number(3...12) {
            let width = random.chance(80) ? 3 : random.number(2...4)
            text += (0..<width).map { _ in cells[random.below(random.chance(70) ? 5 : cells.count)] }.joined(separator: ",") + "\n"
        }
        guard let plain = try? read(text, rejects: false, allText: true) else { return }
        let other = try read(text, rejects: true, allText: true)
        let wanted = plain.rows.filter { row in row.prefix(3).allSatisfy { !$0.isNull } && row.dropFirst(3).allSatisfy(\.isNull) }
        let found = other.rows.map { Array($0[..<3]) }, expected = wanted.map { Array($0[..<3]) }
        #expect(found == expected, "\(text)")
        #expect(other.rejected.isEmpty == (wanted.count == plain.rows.count), "\(text)")
    }

    @Test func `a quote that is never closed and the rows after it are set aside together, if they do not fit`() throws {
        let text = "a,b\n1,\"abc\"\n2,\"def,9\n3,x,4\n4,y\n"
        #expect(throws: FirnError.self) { try read(text, rejects: false) }
        let other = try read(text, rejects: true)
        #expect(other.rows == [[.int(1), .string("abc")]] && other.rejected == "2,\"def,9\n3,x,4\n4,y\n", "\(other)")
    }

    /// A row is read, which makes doubled quotes single, before a cell that does not fit its type is found.
    @Test(arguments: [false, true]) func `rejected rows have the bytes of the input, also after their quotes were read`(
        hasTypes: Bool
    ) throws {
        var options = CSVOptions()
        if hasTypes {
            options.types = TypeSchema("t", columns: [ColumnSchema("a", ColumnType(.int)), ColumnSchema("b", ColumnType(.string))])
        }
        nonisolated(unsafe) var rejected: [UInt8] = []
        options.rejects = Rejects { row, _ in rejected += Array(row) }
        let table = try Table("a,b\n1,\"x \"\"q\"\" y\"\n2,\"z \"\"q\"\"\",3\n\"4 \"\"w\"\"\",\"t \"\"\"\"\"\n5,u\n", options)
        let wide = "2,\"z \"\"q\"\"\",3\n", unfit = "\"4 \"\"w\"\"\",\"t \"\"\"\"\"\n"
        #expect(table.rows.count == (hasTypes ? 2 : 3) && table.rows[0][1] == .string("x \"q\" y"), "\(table.rows)")
        #expect(String(decoding: rejected, as: UTF8.self) == (hasTypes ? wide + unfit : wide))
    }

    @Test func `cells that are cut are reported and not mistaken for trailing delimiters`() throws {
        var options = CSVOptions()
        options.ragged = .cut
        let cut = try Table("a,b\n1,2,3\n4,5,6\n7,8\n", options)
        #expect(cut.reader.remarks.contains("2 rows (first: line 2) with more than 2 cells, which were cut"), "\(cut.reader.remarks)")
        let mixed = try Table("a,b\n1,2,\n4,5,\n7,8,9\n", options)
        #expect(mixed.reader.remarks.contains("1 row (line 4) with more than 2 cells, which were cut"), "\(mixed.reader.remarks)")
        let strict = try read("a,b\n1,2,\n4,5,\n7,8,9\n", rejects: true)
        #expect(strict.rejected == "7,8,9\n" && strict.rows.count == 2, "\(strict)")
    }

    @Test(arguments: [
        "id,a,b\n1,v1,w\n#c\n0,x,y,z\n3,v3,w\n4,v4,w\n5,v,5\n", "id,a,b\n0,x,\"ab\"c,z\n1,v1,w\n2,v2,w\n3,v3,w\n",
        "id,a,b\n1,v1,w\n#c\n0,x\n4,,\n3,v3,w\n5,v,5\n6,v,5\n7,v,5\n", "id,a,b\n1,v1,w\n#c\n0,x,y,z,zz\n3,v3,w\n#d\n4,v4,w\n5,v,5\n",
        "id,a,b\n#a\n0,x\n0,y\n#b\n1,v1,w\n0,x,y,z\n#c\n2,v2,w\n3,v3,w\n4,v4,w\n5,v,5\n",
    ]) func `without the rows that are set aside, all other lines are written as they were`(text: String) throws {
        var options = CSVOptions()
        options.rejects = Rejects { _, _ in }
        let kept = text.split(separator: "\n").filter { !$0.hasPrefix("0,") }.map { "\($0)\n" }.joined()
        #expect(try String(decoding: Table(text, options).written(), as: UTF8.self) == kept)
    }

    @Test(arguments: [
        ("a,b\nq,oops,LOST\nz,3\n", "q,oops,LOST\n", CSVRagged.cut), ("# c\r\na,b\r\ny,bad\r\nz,3\r\n", "y,bad\r\n", .widen),
        ("a,b,c\nz,x\n1,2,3\n", "z,x\n", .widen), ("a::b\nz::oops\nz::3\n", "z::oops\n", .widen),
        ("a,b\n\"x\\\"y\",oops\n\"p\\\"\",4\n5,6\n", "\"x\\\"y\",oops\n", .widen),
    ])
    func `a row whose value does not fit the schema is set aside as it was written`(text: String, row: String, ragged: CSVRagged) throws {
        var options = CSVOptions()
        options.ragged = ragged
        options.types = TypeSchema("t", columns: [ColumnSchema("b", ColumnType(.int, optional: true))])
        nonisolated(unsafe) var rejected: [UInt8] = []
        options.rejects = Rejects { row, _ in rejected += Array(row) }
        for blockSize in [1, 1 << 20] {
            rejected = []
            options.blockSize = blockSize
            _ = try Table(text, options)
            #expect(String(decoding: rejected, as: UTF8.self) == row)
        }
    }
}
