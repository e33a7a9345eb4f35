import FirnBytes
import FirnDisk
import FirnExchange
import FirnTable

/// Reads a version of a `.realm` file: all types one after the other, without changing the file. For one thread.
package final class RealmFileReader: BatchReader {
    package let schema: Schema
    private let name: String
    private let options: RealmFileOptions
    private let version: RealmVersion
    private let isEncrypted: Bool
    private let progress: Progress
    private let opening: [String]
    /// The tables that are still to be read, by slot, and the next object of the first of them.
    private var waiting: [Int]
    private var position = 0
    private var writesVersion: Bool
    private var readsAll = true
    /// The number of rows of the next batch: fewer if rows are large.
    private var rows = 1024

    /// A batch has about so many bytes.
    private static let batchBytes = 16 << 20

    /// Opens the file of an input. An input that is compressed, or a pipe, is read completely into memory.
    /// - Throws: `.notThisFormat`, `.unsupported` (an unknown format version), `.encrypted`, `.wrongKey`, `.notEncrypted` or `.damaged`,
    ///   with the offset.
    package init(_ input: Input, options: RealmFileOptions, progress: Progress = Progress()) throws(FirnError) {
        name = input.name
        self.options = options
        self.progress = progress
        var bytes: RealmBytes, file: File?
        if input.compression == .none, input.path != "-", Paths.kind(input.path) == .file {
            let opened = try File(path: input.path, .read, shownAs: input.name)
            file = opened
            bytes = try RealmBytes(opened, options.reading, options.budget)
        } else {
            bytes = try RealmFileReader.placed(input.name, false) { () throws(Damage) in
                try RealmBytes(try RealmFileReader.all(of: input, options.budget), options.budget)
            }
        }
        (bytes, isEncrypted) = try RealmFileReader.decrypted(bytes, file, name, options)
        (version, schema, opening) = try RealmFileReader.open(bytes, name, isEncrypted, options)
        writesVersion = options.keepsSchemaVersion && schema.types.contains { $0.name == RealmVersion.versionType.name }
        let opened = version
        waiting = opened.tables.indices.filter { slot in opened.tables[slot].map { $0.kind != .embedded } ?? false }
        progress.fixTotal(bytes: nil)
    }

    // MARK: Opening

    private static func all(of input: Input, _ budget: MemoryBudget) throws(Damage) -> [UInt8] {
        do throws(FirnError) { return try input.readToEnd() } catch {
            throw Damage(error.message, at: Int(clamping: error.location?.byte ?? 0), isUnread: error.code != .damaged)
        }
    }

    private static func decrypted(_ bytes: RealmBytes, _ file: File?, _ name: String, _ options: RealmFileOptions)
        throws(FirnError) -> (RealmBytes, isEncrypted: Bool)
    {
        let isPlain = try placed(name, false) { () throws(Damage) in try bytes.isPlain() }
        guard !isPlain else {
            if options.key != nil {
                throw FirnError(.notEncrypted, "the file is not encrypted, and a key was given", at: .init(file: name))
            }
            return (bytes, false)
        }
        guard bytes.count >= 2 * RealmPages.pageBytes, bytes.count % RealmPages.pageBytes == 0 else {
            throw FirnError(
                .notThisFormat,
                "this is not a Realm file: the mark \"T-DB\" is missing at byte 16, and \(bytes.count) bytes are no encrypted pages",
                at: .init(file: name, byte: 16))
        }
        guard let key = options.key else {
            throw FirnError(
                .encrypted, "the file is encrypted, or is not a Realm file: the mark \"T-DB\" is missing at byte 16",
                at: .init(file: name, byte: 16))
        }
        let cipher = try RealmCipher(bytes, key)
        do throws(Damage) {
            var page = [UInt8](repeating: 0, count: RealmPages.pageBytes)
            try page.withMutableBytes { (out) throws(Damage) in try cipher.open(0, into: out) }
        } catch {
            if error.isUnread { throw FirnError(error, in: name) }
            throw FirnError(
                .wrongKey, "the key does not open the file: the first page does not match its authentication code",
                at: .init(file: name, byte: RealmCipher.fileOffset(of: 0)), advice: "use the key that the app opens the file with")
        }
        let plain: RealmBytes
        if let file {
            plain = try RealmBytes(cipher, file, options.budget)
        } else {
            plain = try placed(name, true) { () throws(Damage) in try RealmBytes(cipher, options.budget) }
        }
        return try placed(name, true) { () throws(Damage) in
            guard plain.count >= RealmFileFormat.headerBytes, try plain.isPlain() else {
                throw Damage("the decrypted file lacks the mark \"T-DB\"", at: 16)
            }
            return (plain, true)
        }
    }

    private static func open(_ bytes: RealmBytes, _ name: String, _ isEncrypted: Bool, _ options: RealmFileOptions)
        throws(FirnError) -> (RealmVersion, Schema, [String])
    {
        var header = try placed(name, isEncrypted) { () throws(Damage) in try RealmHeader(bytes) }
        let live = header
        if options.readsPrevious {
            guard let previous = header.previous else {
                throw FirnError(
                    .usage, "the file has no previous version: its inactive top reference leads to none", at: .init(file: name))
            }
            header = previous
        }
        // A file without any commit may have no format yet.
        guard RealmFileFormat.isKnown(header.format) || header.top == nil && header.format == 0 else {
            throw FirnError(
                .unsupported, "the file has version \(header.format) of Realm's format, which is not known",
                at: .init(file: name, byte: UInt64(header.formatOffset)), advice: "versions 5 to 11 and 20 to 24 can be read")
        }
        let chosen = header
        return try placed(name, isEncrypted) { () throws(Damage) in
            let version = try RealmVersion(bytes, chosen, options.budget) { options.readsInternal || $0 == options.wanted }
            if options.readsPrevious, let top = live.top {
                let newest = try RealmTop(top, bytes).version
                guard version.number < newest else {
                    throw Damage(
                        "the inactive top reference leads to an unfinished commit, not to the previous version", at: chosen.top ?? 0)
                }
            }
            var (schema, remarks) = try version.makeSchema()
            if header.top == nil { remarks.append("the file has no data: nothing was ever committed to it") }
            let others = version.leftOut
            if !others.isEmpty {
                remarks.append(
                    "left out \(others.count == 1 ? "a table that is" : "\(others.count) tables that are") not a class: \(others.map { "\"\($0)\"" }.listed()); use --internal to read \(others.count == 1 ? "it" : "them")"
                )
            }
            if options.keepsSchemaVersion, version.schemaVersion != nil, schema[RealmVersion.versionType.name] == nil {
                schema.types.append(RealmVersion.versionType)
            }
            return (version, schema, remarks)
        }
    }

    /// Runs `body`; damage gets the name of the file and the offset in it.
    private static func placed<R>(_ name: String, _ isEncrypted: Bool, _ body: () throws(Damage) -> R) throws(FirnError) -> R {
        do throws(Damage) { return try body() } catch {
            if error.isBeyondMemory { throw FirnError(error, in: name) }
            let offset = isEncrypted ? RealmCipher.fileOffset(of: error.offset) : error.offset
            throw FirnError(
                error.isUnread ? .inputOutput : .damaged, error.what, at: .init(file: name, byte: offset),
                advice: error.isUnread ? nil : "open a backup of the file; Firn changes no .realm file and repairs none")
        }
    }

    // MARK: Reading

    /// What was left out or changed. Complete after the last batch.
    package var remarks: [String] {
        opening + version.findings.remarks + (readsAll && waiting.isEmpty && !writesVersion ? version.orphans() : [])
    }

    package var key: EncryptionKey? { isEncrypted ? options.key : nil }
    package func facts(ofColumn position: Int) -> ColumnFacts? { nil }

    package func choose(_ type: String) {
        waiting.removeAll { version.names[$0] != type }
        writesVersion = false
        readsAll = false
    }

    package func next() throws(FirnError) -> (type: String, batch: Batch)? {
        while let slot = waiting.first {
            let count = version.tables[slot]!.objects.count
            guard position < count else {
                waiting.removeFirst()
                position = 0
                continue
            }
            let end = min(count, position + rows)
            let batch = try RealmFileReader.placed(name, isEncrypted) { () throws(Damage) in
                try version.bytes.release()
                let columns = try version.columns(of: slot, Array(position..<end), schema)
                try version.bytes.checkWhole()
                return Batch(count: end - position, columns: columns)
            }
            position = end
            let bytes = batch.columns.reduce(1) { $0 + $1.footprint }
            rows = max(64, min(segmentSize, RealmFileReader.batchBytes / max(1, bytes / batch.count)))
            progress.add(rows: batch.count)
            return (version.names[slot]!, batch)
        }
        guard writesVersion, let number = version.schemaVersion else { return nil }
        writesVersion = false
        var column = Column(ColumnType(.int))
        column.append(.int(number))
        return (RealmVersion.versionType.name, Batch(count: 1, columns: [column]))
    }
}

extension RealmBytes {
    /// Whether the bytes begin as a file that is not encrypted does. Short files count as such.
    func isPlain() throws(Damage) -> Bool {
        guard count >= RealmFileFormat.headerBytes else { return true }
        return UnsafeRawBufferPointer(start: try pointer(16, 4), count: 4).elementsEqual("T-DB".utf8)
    }
}
