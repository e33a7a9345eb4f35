import CArrow
import CFirn
import FirnBytes
import FirnDatabase
import FirnDisk
import FirnExchange
import FirnTable
import FirnTool

/// `firn_open_writable` of `firn.h`.
@_cdecl("firn_open_writable")
public func firnOpenWritable(
    _ path: UnsafePointer<CChar>?, _ key: UnsafeRawPointer?, _ keyBytes: Int, _ creates: Int32,
    _ out: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let path = try text(path, "the path"), keys = try keyRing(key, keyBytes)
        let database: Database
        if creates != 0, !Paths.exists(path) {
            database = try Database.create(path: path, atFirstCommit: true, key: keys.given)
        } else {
            do throws(FirnError) { database = try keys.open(path: path, writable: true) } catch { throw error.forCallers }
        }
        out?.pointee = CDatabase(database).retained
    }
}

/// `firn_begin` of `firn.h`.
@_cdecl("firn_begin")
public func firnBegin(
    _ database: OpaquePointer?, _ patience: Double, _ out: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let database = try CDatabase.reading(database, "database").database
        out?.pointee = try CTransaction(database, patience: patience.isNaN ? 0 : patience).retained
    }
}

/// Runs a change by a stream, which is released in any case.
private func write(
    _ transaction: OpaquePointer?, _ type: UnsafePointer<CChar>?, _ stream: UnsafeMutablePointer<ArrowArrayStream>?,
    _ rows: UnsafeMutablePointer<Int64>?,
    _ body: (CTransaction, String, UnsafeMutablePointer<ArrowArrayStream>) throws(FirnError) -> Int
) throws(FirnError) {
    guard let stream else { throw FirnError(.usage, "the stream is NULL") }
    defer { stream.pointee.release?(stream) }
    guard stream.pointee.release != nil else { throw FirnError(.usage, "the stream was released before") }
    let transaction = try CTransaction.reading(transaction, "transaction"), name = try text(type, "the type")
    let count = try transaction.change { () throws(FirnError) in try body(transaction, name, stream) }
    rows?.pointee = Int64(count)
}

/// `firn_append` of `firn.h`.
@_cdecl("firn_append")
public func firnAppend(
    _ transaction: OpaquePointer?, _ type: UnsafePointer<CChar>?, _ stream: UnsafeMutablePointer<ArrowArrayStream>?,
    _ key: UnsafePointer<UnsafePointer<CChar>?>?, _ keyCount: Int, _ rows: UnsafeMutablePointer<Int64>?, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        try write(transaction, type, stream, rows) { (transaction, name, stream) throws(FirnError) in
            try transaction.append(stream, to: name, key: try texts(key, keyCount, "the key"))
        }
    }
}

/// `firn_upsert` of `firn.h`.
@_cdecl("firn_upsert")
public func firnUpsert(
    _ transaction: OpaquePointer?, _ type: UnsafePointer<CChar>?, _ stream: UnsafeMutablePointer<ArrowArrayStream>?,
    _ rows: UnsafeMutablePointer<Int64>?, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        try write(transaction, type, stream, rows) { (transaction, name, stream) throws(FirnError) in
            try transaction.upsert(stream, to: name)
        }
    }
}

/// `firn_delete_keys` of `firn.h`.
@_cdecl("firn_delete_keys")
public func firnDeleteKeys(
    _ transaction: OpaquePointer?, _ type: UnsafePointer<CChar>?, _ stream: UnsafeMutablePointer<ArrowArrayStream>?,
    _ rows: UnsafeMutablePointer<Int64>?, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        try write(transaction, type, stream, rows) { (transaction, name, stream) throws(FirnError) in
            try transaction.delete(keys: stream, from: name)
        }
    }
}

/// `firn_replace` of `firn.h`.
@_cdecl("firn_replace")
public func firnReplace(
    _ transaction: OpaquePointer?, _ type: UnsafePointer<CChar>?, _ stream: UnsafeMutablePointer<ArrowArrayStream>?,
    _ key: UnsafePointer<UnsafePointer<CChar>?>?, _ keyCount: Int, _ rows: UnsafeMutablePointer<Int64>?, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        try write(transaction, type, stream, rows) { (transaction, name, stream) throws(FirnError) in
            try transaction.replace(stream, in: name, key: try texts(key, keyCount, "the key"))
        }
    }
}

/// `firn_transaction_watch` of `firn.h`.
@_cdecl("firn_transaction_watch")
public func firnTransactionWatch(_ transaction: OpaquePointer?, _ progress: firn_progress?, _ context: UnsafeMutableRawPointer?) {
    CTransaction.at(transaction)?.progress = CProgress(progress, context)
}

/// `firn_set_metadata` of `firn.h`.
@_cdecl("firn_set_metadata")
public func firnSetMetadata(
    _ transaction: OpaquePointer?, _ owner: UnsafePointer<CChar>?, _ key: UnsafePointer<CChar>?, _ value: UnsafeRawPointer?, _ length: Int,
    _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let transaction = try CTransaction.reading(transaction, "transaction"), key = try text(key, "the key")
        let owner = owner == nil ? nil : try text(owner, "the type or column")
        let bytes = value.map { Array(UnsafeRawBufferPointer(start: $0, count: max(0, length))) }
        guard !key.isEmpty else { throw FirnError(.usage, "the key of metadata is empty") }
        try transaction.change { () throws(FirnError) in try transaction.setMetadata(of: owner, key, bytes) }
    }
}

/// `firn_metadata_text` of `firn.h`.
@_cdecl("firn_metadata_text")
public func firnMetadataText(
    _ snapshot: OpaquePointer?, _ owner: UnsafePointer<CChar>?, _ out: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
    _ length: UnsafeMutablePointer<Int>?, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let snapshot = try CSnapshot.reading(snapshot, "snapshot").snapshot,
            owner = owner == nil ? nil : try text(owner, "the type or column")
        let entries = try MetadataOwner(owner, in: snapshot.schema, of: snapshot.path).metadata(in: snapshot.schema)
        var text: [UInt8] = []
        let values = entries.map { entry in
            Value.list([.string(entry.key), String(validating: entry.value, as: UTF8.self).map { .string($0) } ?? .data(entry.value)])
        }
        ExactJSON.append(.list(values), to: &text)
        out?.pointee = CText.copy(text)
        length?.pointee = text.count
    }
}

/// `firn_delete_where` of `firn.h`.
@_cdecl("firn_delete_where")
public func firnDeleteWhere(
    _ transaction: OpaquePointer?, _ type: UnsafePointer<CChar>?, _ predicate: UnsafePointer<CChar>?,
    _ rows: UnsafeMutablePointer<Int64>?, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let transaction = try CTransaction.reading(transaction, "transaction")
        let name = try text(type, "the type"), predicate = try text(predicate, "the predicate")
        rows?.pointee = Int64(
            try transaction.change { () throws(FirnError) in try transaction.delete(where: predicate, from: name) })
    }
}

/// `firn_commit` of `firn.h`.
@_cdecl("firn_commit")
public func firnCommit(_ transaction: OpaquePointer?, _ version: UnsafeMutablePointer<UInt64>?, _ error: ErrorOut) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let committed = try CTransaction.reading(transaction, "transaction").commit()
        version?.pointee = committed
    }
}

/// `firn_transaction_free` of `firn.h`.
@_cdecl("firn_transaction_free")
public func firnTransactionFree(_ transaction: OpaquePointer?) { CTransaction.releaseHere(transaction) }

/// `firn_tag` of `firn.h`.
@_cdecl("firn_tag")
public func firnTag(
    _ database: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let database = try CDatabase.reading(database, "database").database, name = try text(name, "the tag")
        let snapshot = version == nil ? try database.snapshot() : try database.snapshot(at: try text(version, "the version"))
        try database.tag(name, snapshot)
    }
}

/// `firn_untag` of `firn.h`.
@_cdecl("firn_untag")
public func firnUntag(_ database: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ error: ErrorOut) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let database = try CDatabase.reading(database, "database").database, name = try text(name, "the tag")
        guard try database.untag(name) else { throw FirnError(.notFound, "there is no tag \"\(name)\"", at: .init(file: database.path)) }
    }
}

/// `firn_log_text` of `firn.h`.
@_cdecl("firn_log_text")
public func firnLogText(
    _ database: OpaquePointer?, _ out: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ length: UnsafeMutablePointer<Int>?,
    _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let database = try CDatabase.reading(database, "database").database
        let tags = try database.tags(), recent = try database.versions()
        var versions = recent.map { (version: $0.version, time: $0.time) }
        for tag in tags where !versions.contains(where: { $0.version == tag.version }) {
            versions.append((tag.version, try database.snapshot(tag: tag.name).time))
        }
        versions.sort { $0.version > $1.version }
        let list = Value.list(
            versions.map { version in
                let names = tags.filter { $0.version == version.version }.map { Value.string($0.name) }
                return .map([
                    Value.Entry("version", .int(Int64(clamping: version.version))), Value.Entry("time", .int(version.time)),
                    Value.Entry("tags", .list(names)),
                ])
            })
        var text: [UInt8] = []
        ExactJSON.append(list, to: &text)
        out?.pointee = CText.copy(text)
        length?.pointee = text.count
    }
}
