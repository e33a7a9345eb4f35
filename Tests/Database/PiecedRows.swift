import FirnCodecs
import FirnKit

@testable import FirnDatabase
@testable import FirnStore
@testable import FirnTable

/// Rows with text that has pieces of other columns, and the rows of the golden file of such text.
enum PiecedRows {
    static let account = TypeSchema(
        "Account",
        columns: [
            ColumnSchema("id", ColumnType(.uuid)), ColumnSchema("number", ColumnType(.int)), ColumnSchema("first", ColumnType(.string)),
            ColumnSchema("last", ColumnType(.string, optional: true)), ColumnSchema("key", ColumnType(.string)),
            ColumnSchema("mail", ColumnType(.string, optional: true)), ColumnSchema("page", ColumnType(.string)),
            ColumnSchema("title", ColumnType(.string)), ColumnSchema("slug", ColumnType(.string)),
            ColumnSchema("noise", ColumnType(.string, optional: true)),
        ])

    /// A word that is not like others.
    static func word(_ x: UInt64) -> String {
        let parts = ["ba", "ke", "lin", "mo", "ra", "tu", "ves", "zy", "ö", "dor", "gim", "hal", "ny", "pes", "qua", "sti"]
        var word = ""
        for i in 0..<3 + x >> 60 % 3 {
            let part: String = parts[Int(truncatingIfNeeded: x >> (i * 7)) & 15]
            word += i == 0 ? part.prefix(1).uppercased() + part.dropFirst() : part
        }
        return word
    }

    /// Returns row `i`. In one row of `exceptions`, texts are not made of the other columns.
    static func row(_ i: Int, exceptions: Int) -> [Value] {
        func mix(_ salt: UInt64) -> UInt64 {
            var x = (UInt64(i) &+ 1) &* 0x9E37_79B9_7F4A_7C15 &+ salt &* 0xD134_2543_DE82_EF95
            x = (x ^ x >> 31) &* 0xBF58_476D_1CE4_E5B9
            return x ^ x >> 29
        }
        let id = Identifier(high: mix(1), low: mix(2)), number = Int64(mix(3) >> 30), first = word(mix(4)), last = word(mix(5))
        let isException = exceptions > 0 && mix(6) % UInt64(exceptions) == 0
        let title: String = word(mix(7)) + " " + word(mix(8)) + " " + word(mix(9))
        let lower = title.split(separator: " ").joined(separator: "-")
        let letters = lower.utf8.map { (byte: UInt8) -> UInt8 in byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }
        let slug = String(decoding: letters, as: UTF8.self)
        let key: String = isException ? word(mix(11)) : String(id.uuidText.prefix(8))
        let mail: String = isException ? word(mix(13)) : first + "." + last + (i % 2 == 0 ? "@example.org" : "@example.com")
        let page: String = "https://example.org/accounts/\(number)" + (isException ? "/edit" : "")
        let noise = String(mix(15), radix: 36)
        return [
            .uuid(id), .int(number), .string(first), mix(10) % 20 == 0 ? .null : .string(last), .string(key),
            mix(12) % 15 == 0 ? .null : .string(mail), .string(page), .string(title), .string(isException ? "" : slug),
            mix(14) % 9 == 0 ? .null : .string(noise),
        ]
    }

    static var rows: [[Value]] { (0..<500).map { row($0, exceptions: 60) } }

    @Sendable static func write(_ path: String) throws {
        let database = try Database.create(path: path), transaction = try database.begin()
        try transaction.extendSchema([account])
        try transaction.bulkWriter("Account").append(RandomBatches.batch(rows, of: account))
        try transaction.commit()
    }
}
