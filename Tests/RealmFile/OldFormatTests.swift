import FirnBytes
import FirnExchange
import FirnTable
import Testing

@testable import FirnRealmFile

/// Formats that no released engine writes any more, in files of `RealmFileBuilder`.
@Suite struct OldFormatTests {
    private typealias Word = RealmFileBuilder.Word

    private func rows(_ bytes: [UInt8]) throws -> (schema: Schema, rows: [String: [[Value]]], remarks: [String]) {
        let reader = try RealmFileReader(Input(bytes: bytes, name: "old.realm"), options: RealmFileOptions())
        var rows: [String: [[Value]]] = [:]
        while let (type, batch) = try reader.next() {
            for column in batch.columns { #expect(column.isWhole(batch.count)) }
            for row in 0..<batch.count { rows[type, default: []].append(batch.columns.map { $0.value(at: row) }) }
        }
        return (reader.schema, rows, reader.remarks)
    }

    /// A file of the formats 5 to 9: a tree for each column.
    private func old(_ format: UInt8) -> [UInt8] {
        var file = RealmFileBuilder(format: format)
        // int (indexed, so that an extra slot follows), string?, enumerated string, bool?, date?, link, list of links, list of string?
        let types: [Int64] = [0, 2, 3, 1, 8, 12, 13, 5, 9, 4], attributes: [Int64] = [1, 16, 0, 16, 16, 0, 0, 0, 16, 16]
        let inner = file.refs([.ref(file.integers([2])), .ref(file.strings([""])), .ref(file.integers([16]))])
        let parts = file.refs([.tag(0), .tag(0), .ref(inner)]), kinds = file.refs([.ref(file.strings(["red", "green"]))])
        let spec = file.refs([
            .ref(file.integers(types)),
            .ref(file.strings(["id", "name", "colour", "flag", "born", "friend", "friends", "tags", "height", "raw"])),
            .ref(file.integers(attributes)), .ref(parts), .ref(kinds),
        ])
        let ids = file.tree([file.integers([7, 8]), file.integers([-9])], each: 2, count: 3)
        let names = file.medium(["a name that is longer than fifteen bytes", nil, ""], isOld: true)
        let born = file.refs([.ref(file.integers([5, 5, -3, 10])), .ref(file.integers([0, -500_000_000, 7]))])
        let friends = file.refs([.ref(file.integers([2, 0, 2])), .null, .null])
        let list = file.refs([.ref(file.strings(["x", nil]))]), tags = file.refs([.ref(list), .null, .null])
        func little(_ bits: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) } }
        let heights = file.blocks([Float(1.5).bitPattern, 0x7FC0_00AA, Float.nan.bitPattern].flatMap(little), width: 4)
        let raw = file.refs([.ref(file.integers([2, 2, 2])), .ref(file.blob([1, 2])), .ref(file.integers([0, 1, 0]))])
        let columns = file.refs([
            .ref(ids), .ref(file.integers([0])), .ref(names), .ref(file.integers([1, 0, 1])), .ref(file.integers([2, 1, 2, 0])), .ref(born),
            .ref(file.integers([3, 0, 1])), .ref(friends), .ref(tags), .ref(heights), .ref(raw),
        ])
        let table = file.refs([.ref(spec), .ref(columns)])
        let keySpec = file.refs([
            .ref(file.integers([2, 2])), .ref(file.strings(["pk_table", "pk_property"])), .ref(file.integers([0, 0])),
        ])
        let keys = file.refs([.ref(keySpec), .ref(file.refs([.ref(file.strings(["Dog"])), .ref(file.strings(["id"]))]))])
        file.finish(names: ["class_Dog", "pk"], tables: [.ref(table), .ref(keys)])
        return file.bytes
    }

    @Test(arguments: [5, 6, 7, 8, 9] as [UInt8]) func `formats 5 to 9 are read column by column`(_ format: UInt8) throws {
        let (schema, rows, remarks) = try rows(old(format)), type = try #require(schema["Dog"])
        #expect(
            type.columns.map(\.type.name) == [
                "int", "string?", "string", "bool?", "date?", "link<Dog>?", "list<link<Dog>>", "list<string?>", "float?", "data?",
            ])
        #expect(type.key == [0])
        let dogs = try #require(rows["Dog"])
        #expect(dogs.count == 3)
        #expect(dogs.map { $0[0] } == [.int(7), .int(8), .int(-9)])
        #expect(dogs.map { $0[1] } == [.string("a name that is longer than fifteen bytes"), .null, .string("")])
        #expect(dogs.map { $0[2] } == [.string("green"), .string("red"), .string("green")])
        #expect(dogs.map { $0[3] } == [.bool(true), .null, .bool(false)])
        #expect(
            dogs.map { $0[4] } == [
                .null, .date(Timestamp(seconds: -4, nanoseconds: 500_000_000)), .date(Timestamp(seconds: 10, nanoseconds: 7)),
            ])
        #expect(dogs.map { $0[5] } == [.link(2), .null, .link(0)])
        #expect(dogs.map { $0[6] } == [.list([.link(2), .link(0), .link(2)]), .list([]), .list([])])
        #expect(dogs.map { $0[7] } == [.list([.string("x"), .null]), .list([]), .list([])])
        guard case .float(let nan) = dogs[2][8] else { throw FirnError(.usage, "a NaN is a value") }
        #expect(dogs[0][8] == .float(1.5) && dogs[1][8] == .null && nan.isNaN)
        #expect(dogs.map { $0[9] } == [.data([1, 2]), .null, .data([])])
        #expect(remarks.count == 1 && remarks[0].contains("\"pk\""))
    }

    /// A file of the formats from 10 on, with a table of one class.
    private func clusters(_ format: UInt8) -> [UInt8] {
        var file = RealmFileBuilder(format: format)
        func key(_ leaf: Int64, _ type: Int64, _ marks: Int64) -> Int64 { leaf | type << 16 | marks << 22 }
        let listType: Int64 = format < 24 ? 13 : 12
        let spec = file.refs([
            .ref(file.integers([0, listType, format < 21 ? 11 : 6])), .ref(file.strings(["id", "next", "any"])),
            .ref(file.integers([0, 32, format < 21 ? 16 : 16 + 64])), .null, .null,
            .ref(file.integers([key(2, 0, 0), key(0, listType, 32), key(1, 6, 80)])),
        ])
        var third: [Word] = [.null, .null, .null]
        let mixed = file.refs([.ref(file.integers([41 << 8 | 1, 0])), .null, .null, .null])
        let texts = file.strings(["b", "a"])
        if format >= 23 {
            third[1] = .ref(file.refs([.ref(file.strings(["a", "b"])), .ref(mixed)]))
        } else if format >= 21 {
            // A tree of clusters, in the order of the hashes of the keys.
            third[1] = .ref(file.refs([.ref(file.integers([100, 9000])), .ref(texts), .ref(mixed)]))
        }
        let thirdRef =
            format < 21
            ? file.blocks(
                [0x0F, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0x30] + [0xAA] + [UInt8](repeating: 0, count: 14) + [0x7C]
                    + [UInt8](repeating: 0, count: 14) + [0x40, 0xB0], width: 16) : file.refs(third)
        let leaf = file.refs([
            .ref(file.integers([1, 5, 100])), .ref(file.refs([.ref(file.integers([100, 5, 77])), .null, .ref(file.integers([1]))])),
            .ref(thirdRef),
            .ref(file.integers([10, 20, 30])),
        ])
        let table = file.refs([
            .ref(spec), .null, .ref(leaf), .tag(0), .null, .tag(0), .tag(0), .ref(file.integers([0, 0x7FFF_FFFF, 0x7FFF_FFFF])), .null,
            .tag(0),
            .null, .tag(key(2, 0, 0)),
        ])
        file.finish(names: ["class_Node"], tables: [.ref(table)])
        return file.bytes
    }

    @Test(arguments: [10, 11, 20, 21, 22, 23, 24] as [UInt8]) func `formats 10 to 24 are read cluster by cluster`(_ format: UInt8) throws {
        let (schema, rows, remarks) = try rows(clusters(format)), type = try #require(schema["Node"])
        #expect(type.columns.map(\.type.name) == ["int", "list<link<Node>>", format < 21 ? "decimal128?" : "map<string, any>"])
        #expect(type.key == [0])
        let nodes = try #require(rows["Node"])
        #expect(nodes.map { $0[0] } == [.int(10), .int(20), .int(30)])
        // The object 77 does not exist.
        #expect(nodes.map { $0[1] } == [.list([.link(2), .link(1)]), .list([]), .list([.link(0)])])
        #expect(remarks == ["1 link in column \"Node.next\" leads to an object that does not exist: null, or left out of collections"])
        if format < 21 {
            #expect(nodes.map { $0[2] } == [.decimal(Decimal("15")!), .null, .decimal(Decimal("-0")!)])
        } else {
            let first = Value.Entry("a", format < 23 ? .null : .int(41)), second = Value.Entry("b", format < 23 ? .int(41) : .null)
            #expect(nodes.map { $0[2] } == [.map([]), .map([first, second]), .map([])])
        }
    }

    @Test(arguments: [4, 12, 19, 25, 30] as [UInt8]) func `unknown formats are named, with their offset`(_ format: UInt8) throws {
        var bytes = clusters(24)
        bytes[20] = format
        let error = #expect(throws: FirnError.self) { try rows(bytes) }
        #expect(error?.code == .unsupported && error?.location?.byte == 20 && error?.message.contains("version \(format)") == true)
    }

    @Test func `small decimals have the values of their bits`() throws {
        var file = RealmFileBuilder(format: 24)
        func little(_ bits: UInt64, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) } }
        let small = file.blocks([0x32_80_00_0F, 0xB2_00_00_07, 0x7C00_00AA, 0x7800_0000, 0x6CB8_967F].flatMap { little($0, 4) }, width: 4)
        let medium = file.blocks([0x31C0_0000_0000_000F, 0x7C00_0000_0000_00AA, 0x6C73_86F2_6FC0_FFFF].flatMap { little($0, 8) }, width: 8)
        file.finish(names: [], tables: [])
        let bytes = try RealmBytes(file.bytes, .unlimited)
        func decimals(_ ref: Int, _ count: Int) throws -> [String?] {
            let array = try bytes.array(ref)
            return try (0..<count).map { try RealmDecimal.read(array, $0)?.description }
        }
        #expect(
            try decimals(small, 5) == [
                Decimal("15")!.description, Decimal("-0.7")!.description, nil, Decimal("inf")!.description, Decimal("9999999")!.description,
            ])
        #expect(try decimals(medium, 3) == [Decimal("15")!.description, nil, Decimal("9999999999999999")!.description])
    }
}
