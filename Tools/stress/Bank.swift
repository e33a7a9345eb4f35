import FirnBytes
import FirnDatabase
import FirnTable

/// Data of constant size in which every row of every type depends on the others, so that any torn version is detected: accounts with a
/// constant sum, the last entries that changed them, a text of varying length, and one row with the sums and hashes of all others.
enum Bank {
    static let accounts = 200
    static let opening: Int64 = 1000
    static let maximumEntries = 64
    static let maximumText = 400_000

    /// The key of all files; nil if they are not encrypted. Set before any file is opened.
    nonisolated(unsafe) static var key: EncryptionKey?

    private static func column(_ name: String, _ kind: ScalarKind = .int) -> ColumnSchema { ColumnSchema(name, ColumnType(kind)) }
    private static let types = [
        TypeSchema("Account", columns: [column("id"), column("balance"), column("words", .string)], key: [0]),
        TypeSchema("Entry", columns: [column("sequence"), column("from"), column("to"), column("amount")]),
        TypeSchema("Text", columns: [column("bytes", .data)]),
        TypeSchema("Ledger", columns: [column("sequence"), column("sum"), column("check"), column("length"), column("hash")]),
    ]

    static func make(_ path: String, keep: Int = 8) throws(FirnError) -> Database {
        let database = try Database.create(path: path, overwrite: true, keep: keep, key: key), transaction = try database.begin()
        try transaction.extendSchema(types)
        var check: Int64 = 0
        for id in 0..<Int64(accounts) {
            try transaction.insert("Account", [.int(id), .int(opening), .string(words(id, opening))])
            check ^= mark(id, opening)
        }
        try transaction.insert("Text", [.data([])])
        try transaction.insert("Ledger", [.int(0), .int(opening * Int64(accounts)), .int(check), .int(0), .int(hash([]))])
        try transaction.commit()
        return database
    }

    static func open(_ path: String, writable: Bool = false, keep: Int? = nil) throws(FirnError) -> Database {
        try Database.open(path: path, writable: writable, keep: keep, key: key)
    }

    private static func words(_ id: Int64, _ balance: Int64) -> String { "account \(id) holds \(balance)" }
    private static func hash(_ bytes: [UInt8]) -> Int64 { Int64(bitPattern: Hash128(of: bytes).low) }
    private static func mark(_ id: Int64, _ balance: Int64) -> Int64 {
        var x = UInt64(bitPattern: id) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(bitPattern: balance)
        x = (x ^ x >> 29) &* 0xBF58_476D_1CE4_E5B9
        return Int64(bitPattern: x ^ x >> 32)
    }

    /// Moves an amount between two accounts, and sometimes replaces the text. Returns the sequence number of the transaction.
    static func move(_ transaction: DatabaseTransaction, _ random: inout Dice) throws(FirnError) -> Int64 {
        let ledger = transaction.table("Ledger"), accounts = transaction.table("Account")
        let sequence = try integer(ledger.storedValue(0, 0)) + 1
        var check = try integer(ledger.storedValue(0, 2))
        let from = Int64(random.below(Bank.accounts)), to = (from + 1 + Int64(random.below(Bank.accounts - 1))) % Int64(Bank.accounts),
            amount = Int64(random.below(50))
        for (id, change) in [(from, -amount), (to, amount)] {
            let old = try integer(accounts.storedValue(id, 1)), new = old + change
            check ^= mark(id, old) ^ mark(id, new)
            try transaction.update("Account", rowID: id, column: "balance", .int(new))
            try transaction.update("Account", rowID: id, column: "words", .string(words(id, new)))
        }
        // Row ids follow from the sequence: the entry of sequence n is row n - 1.
        let entry = try transaction.insert("Entry", [.int(sequence), .int(from), .int(to), .int(amount)])
        if entry >= Int64(maximumEntries) { try transaction.delete("Entry", rowID: entry - Int64(maximumEntries)) }
        if random.below(12) == 0 {
            // Commits of more than 256 KiB take two syncs.
            let bytes = random.bytes(random.below(3) == 0 ? random.below(maximumText) : random.below(8000))
            try transaction.update("Text", rowID: 0, column: "bytes", .data(bytes))
            try transaction.update("Ledger", rowID: 0, column: "length", .int(Int64(bytes.count)))
            try transaction.update("Ledger", rowID: 0, column: "hash", .int(hash(bytes)))
        }
        try transaction.update("Ledger", rowID: 0, column: "sequence", .int(sequence))
        try transaction.update("Ledger", rowID: 0, column: "check", .int(check))
        return sequence
    }

    /// Checks a version and returns its sequence number. Throws `.damaged` if any part is inconsistent.
    static func check(_ snapshot: DatabaseSnapshot) throws(FirnError) -> Int64 {
        do throws(Damage) { return try examine(snapshot) } catch {
            throw .damaged("version \(snapshot.version)", what: error.what, byte: error.offset)
        }
    }

    private static func examine(_ snapshot: DatabaseSnapshot) throws(Damage) -> Int64 {
        guard let ledger = try snapshot.table(named: "Ledger")?.row(0), case .int(let sequence) = ledger[0] else {
            throw Damage("no ledger")
        }
        var sum: Int64 = 0, check: Int64 = 0, count = 0
        guard let accounts = snapshot.table(named: "Account") else { throw Damage("no accounts") }
        for rowID in try accounts.liveRowIDs() {
            guard let row = try accounts.row(rowID), case .int(let id) = row[0], case .int(let balance) = row[1] else {
                throw Damage("no account \(rowID)")
            }
            guard row[2] == .string(words(id, balance)) else { throw Damage("account \(id): the text is that of another version") }
            sum += balance
            check ^= mark(id, balance)
            count += 1
        }
        guard count == Bank.accounts, .int(sum) == ledger[1], .int(check) == ledger[2] else {
            throw Damage("the accounts do not match the ledger")
        }
        guard let entries = snapshot.table(named: "Entry") else { throw Damage("no entries") }
        let ids = try entries.liveRowIDs()
        guard ids.count == min(maximumEntries, Int(sequence)) else { throw Damage("\(ids.count) entries at sequence \(sequence)") }
        for (index, rowID) in ids.enumerated() {
            guard try entries.value(rowID: rowID, column: 0) == .int(sequence - Int64(ids.count) + 1 + Int64(index)) else {
                throw Damage("the entries have a gap")
            }
        }
        guard case .data(let bytes)? = try snapshot.table(named: "Text")?.value(rowID: 0, column: 0), .int(Int64(bytes.count)) == ledger[3],
            .int(hash(bytes)) == ledger[4]
        else {
            throw Damage("the text is that of another version")
        }
        return sequence
    }

    private static func integer(_ value: Value) -> Int64 {
        guard case .int(let number) = value else { trap("the ledger has a value that is not an integer") }
        return number
    }
}

/// Pseudo-random numbers from a seed (splitmix64).
struct Dice {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }

    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count { withUnsafeBytes(of: next()) { bytes.append(contentsOf: $0) } }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
