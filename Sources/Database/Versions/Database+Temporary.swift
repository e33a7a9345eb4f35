import FirnBytes
import FirnDisk

extension Database {
    /// A temporary file for rows, and its only transaction.
    package struct Temporary {
        package let database: Database
        package let transaction: DatabaseTransaction
    }

    /// The folder of temporary files: `TMPDIR`, or `/tmp`.
    package static var temporaryFolder: String { Machine.environment("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp" }

    /// Creates a file in the temporary folder (`TMPDIR`), removes its name, and begins its only transaction. The space is free again
    /// when the database, its snapshots and their tables are released, however the process ends.
    /// - Parameter isEncrypted: Whether the file is encrypted with a random key, which only this process has.
    package static func temporary(isEncrypted: Bool, threads: Int) throws(FirnError) -> Temporary {
        let path = "\(temporaryFolder)/firn-rows-\(Machine.processID)-\(String(Machine.random, radix: 16)).firn"
        let key = isEncrypted ? EncryptionKey((0..<EncryptionKey.count).map { _ in UInt8(truncatingIfNeeded: Machine.random) }) : nil
        let database = try create(path: path, key: key, sources: .ownerOnly)
        do throws(FirnError) {
            // Only the beginning of a transaction looks for the name.
            let transaction = try database.begin(threads: threads)
            transaction.profile = .fast
            try Paths.remove(path)
            return Temporary(database: database, transaction: transaction)
        } catch {
            try? Paths.remove(path)
            throw error
        }
    }
}
