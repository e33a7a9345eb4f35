import FirnBytes
import FirnExchange
import FirnRealmFile
import FirnTable

/// Reads a `.realm` file: both of its versions, with all tables. The result must be rows or an error with its offset.
enum RealmAttack {
    private static let limit = 256 << 20

    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= 1 << 20 else { return }
        let copy = Array(bytes)
        for previous in [false, true] { read(copy, previous: previous, key: nil) }
        // The bytes as an encrypted file: no code fits, so that only the pages that were never written are read.
        if copy.count % 4096 == 0, copy.count >= 8192 {
            var hidden = copy
            for i in 16..<20 { hidden[i] = 0 }
            read(hidden, previous: false, key: EncryptionKey([UInt8](repeating: 1, count: EncryptionKey.count)))
        }
    }

    private static func read(_ bytes: [UInt8], previous: Bool, key: EncryptionKey?) {
        var options = RealmFileOptions()
        options.readsPrevious = previous
        options.readsInternal = true
        options.keepsSchemaVersion = true
        options.key = key
        options.budget = MemoryBudget(limit: limit)
        do throws(FirnError) {
            let reader = try RealmFileReader(Input(bytes: bytes, name: "in.realm"), options: options)
            while let (type, batch) = try reader.next() {
                trap(unless: reader.schema[type]?.columns.count == batch.columns.count, "a batch has not the columns of its type")
                for column in batch.columns {
                    trap(unless: column.isWhole(batch.count), "the length of a column differs from that of its batch")
                }
                for row in stride(from: 0, to: batch.count, by: 97) { for column in batch.columns { _ = column.value(at: row) } }
            }
            _ = reader.remarks
        } catch {
            trap(unless: !error.message.isEmpty, "an error has no message")
            trap(unless: error.code != .damaged || error.location?.byte != nil, "damage is reported without an offset: \(error.message)")
        }
    }
}
