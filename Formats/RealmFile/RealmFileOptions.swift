import FirnBytes
import FirnDisk

/// How a `.realm` file is read.
package struct RealmFileOptions {
    /// The key of an encrypted file; nil if the file is not encrypted.
    package var key: EncryptionKey?
    /// Whether the version is read that the inactive top reference leads to.
    package var readsPrevious = false
    /// Whether tables that are not classes, such as those of synchronisation, are read too.
    package var readsInternal = false
    /// The name of a table that is not a class and is read nevertheless.
    package var wanted: String?
    /// Whether the schema version is kept as the object layer of Firn keeps it (`docs/format/model.md`).
    package var keepsSchemaVersion = false
    /// Whether the file is mapped into memory, or read by calls.
    package var reading = FileReading.standard
    package var budget = MemoryBudget.process

    package init() {}
}
