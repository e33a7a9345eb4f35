import CFirn
import FirnBytes
import FirnChange
import FirnDatabase
import FirnTable
import FirnThreads
import FirnTool
import Synchronization

/// Where a caller wants a text.
public typealias TextOut = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
public typealias CountOut = UnsafeMutablePointer<Int>?

/// Runs a command, and stores its report.
private func report(
    of command: String, _ operands: [String], _ given: UnsafePointer<firn_run_options>?, also: [String] = [], _ out: TextOut,
    _ length: CountOut
) throws(FirnError) {
    let options = try CRunOptions(given), monitor = options.caller.monitor
    let report = try options.progress.during({ monitor.state }, cancel: monitor.cancel) {
        [names = options.names + also, caller = options.caller] () throws(FirnError) in
        do throws(FirnError) {
            return try Session.report(of: command, options: names, operands: operands, caller: caller)
        } catch { throw error.forCallers }
    }
    let text = report.text
    out?.pointee = CText.copy(text)
    length?.pointee = text.count
}

/// `firn_convert` of `firn.h`.
@_cdecl("firn_convert")
public func firnConvert(
    _ sources: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int, _ target: UnsafePointer<CChar>?,
    _ options: UnsafePointer<firn_run_options>?, _ out: TextOut, _ length: CountOut, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        guard let names = try texts(sources, count, "the source"), !names.isEmpty else { throw FirnError(.usage, "there is no source") }
        try report(of: "convert", names + [try text(target, "the target")], options, out, length)
    }
}

/// `firn_compact` of `firn.h`.
@_cdecl("firn_compact")
public func firnCompact(
    _ path: UnsafePointer<CChar>?, _ target: UnsafePointer<CChar>?, _ options: UnsafePointer<firn_run_options>?, _ out: TextOut,
    _ length: CountOut, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let target = target == nil ? [] : [try text(target, "the target")]
        try report(of: "compact", [try text(path, "the path")] + target, options, out, length)
    }
}

/// `firn_verify` of `firn.h`.
@_cdecl("firn_verify")
public func firnVerify(
    _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<firn_run_options>?, _ out: TextOut, _ length: CountOut, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in try report(of: "verify", [try text(path, "the path")], options, out, length) }
}

/// `firn_hash` of `firn.h`.
@_cdecl("firn_hash")
public func firnHash(
    _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<firn_run_options>?, _ out: TextOut, _ length: CountOut, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in try report(of: "hash", [try text(path, "the path")], options, out, length) }
}

/// `firn_patch` of `firn.h`.
@_cdecl("firn_patch")
public func firnPatch(
    _ path: UnsafePointer<CChar>?, _ changes: UnsafePointer<CChar>?, _ options: UnsafePointer<firn_run_options>?, _ out: TextOut,
    _ length: CountOut, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        try report(of: "patch", [try text(path, "the path"), try text(changes, "the changes")], options, out, length)
    }
}

/// `firn_write_changes` of `firn.h`.
@_cdecl("firn_write_changes")
public func firnWriteChanges(
    _ old: UnsafePointer<CChar>?, _ new: UnsafePointer<CChar>?, _ target: UnsafePointer<CChar>?,
    _ options: UnsafePointer<firn_run_options>?, _ out: TextOut, _ length: CountOut, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let target = try text(target, "the target")
        try report(
            of: "diff", [try text(old, "the old file"), try text(new, "the new file")], options,
            also: ["changes=" + target, "format=summary"], out, length)
    }
}

/// The number of characters of a hash.
private let hashLength = 32

/// Hashes tables, and writes the hash as text with a zero byte at its end.
private func hash(
    _ tables: [any Table], _ key: [String]?, path: String, _ progress: CProgress, _ out: UnsafeMutablePointer<CChar>?
) throws(FirnError) {
    guard let out else { throw FirnError(.usage, "the hash is NULL") }
    let total = tables.reduce(0) { $0 + $1.rowCount }, state = HashState()
    let hashes = try progress.during({ (state.rows.load(ordering: .relaxed), total) }, cancel: state.cancel) { () throws(FirnError) in
        var options = ContentHash.Options(), hashes: [ContentHash] = []
        (options.key, options.name, options.threads) = (key, path, Processors.count)
        options.progress = { rows in
            state.rows.wrappingAdd(rows, ordering: .relaxed)
            return !state.isCancelled.load(ordering: .relaxed)
        }
        for table in tables { hashes.append(try ContentHash(of: table, options: options)) }
        return hashes
    }
    let text = Array("\(ContentHash.ofFile(hashes))".utf8)
    for i in 0..<hashLength { out[i] = CChar(bitPattern: i < text.count ? text[i] : 0) }
    out[hashLength] = 0
}

private final class HashState: Sendable {
    let rows = Atomic(0)
    let isCancelled = Atomic(false)
    func cancel() { isCancelled.store(true, ordering: .relaxed) }
}

/// `firn_table_hash` of `firn.h`.
@_cdecl("firn_table_hash")
public func firnTableHash(
    _ table: OpaquePointer?, _ key: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int, _ progress: firn_progress?,
    _ context: UnsafeMutableRawPointer?, _ out: UnsafeMutablePointer<CChar>?, _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let reader = try CTable.reading(table, "table")
        try hash([reader.table], try texts(key, count, "the key"), path: reader.path, CProgress(progress, context), out)
    }
}

/// `firn_snapshot_hash` of `firn.h`.
@_cdecl("firn_snapshot_hash")
public func firnSnapshotHash(
    _ snapshot: OpaquePointer?, _ progress: firn_progress?, _ context: UnsafeMutableRawPointer?, _ out: UnsafeMutablePointer<CChar>?,
    _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        let snapshot = try CSnapshot.reading(snapshot, "snapshot").snapshot
        let tables: [any Table] = snapshot.schema.roots.compactMap { snapshot.table(named: $0.name) }
        try hash(tables, nil, path: snapshot.path, CProgress(progress, context), out)
    }
}
