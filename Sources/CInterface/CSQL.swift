import CArrow
import CFirn
import FirnArrow
import FirnBytes
import FirnDatabase
import FirnTable
import FirnThreads
import FirnTool

/// `firn_sql` of `firn.h`.
@_cdecl("firn_sql")
public func firnSQL(
    _ statements: UnsafePointer<CChar>?, _ given: UnsafePointer<firn_sql_options>?, _ out: UnsafeMutablePointer<ArrowArrayStream>?,
    _ error: ErrorOut
) -> Int32 {
    attempt(error) { () throws(FirnError) in
        guard let out else { throw FirnError(.usage, "the stream is NULL") }
        // The first header with the structure ends before the flags.
        let given = try options(given, first: MemoryLayout<firn_sql_options>.offset(of: \.flags) ?? 0, firn_sql_options())
        guard given.flags & ~Int64(FIRN_SQL_GIVEN_ONLY.rawValue) == 0 else {
            throw FirnError(.usage, "the options have the unknown flags \(given.flags)")
        }
        let run = try CRunOptions(given.run), snapshots = try list(given.snapshots, given.snapshot_count)
        let source: SQLStream
        do throws(FirnError) {
            source = try SQLStream(
                try SQLRun(
                    try text(statements, "the statement"), parameters: try parameters(given), snapshots: snapshots.map(\.snapshot),
                    files: try texts(given.files, given.file_count, "the file") ?? [], opensNamed: given.flags == 0, options: run.names,
                    caller: run.caller),
                run, snapshots)
        } catch { throw error.forCallers }
        StreamState.export(to: out, rows: { source.rows }) { () throws(FirnError) in try source.next() }
    }
}

private func list(_ pointers: UnsafePointer<OpaquePointer?>?, _ count: Int) throws(FirnError) -> [CSnapshot] {
    guard let pointers else { return [] }
    guard count >= 0, count <= 1 << 16 else { throw FirnError(.usage, "the number of snapshots is \(count)") }
    return try (0..<count).map { (i) throws(FirnError) in try CSnapshot.reading(pointers[i], "snapshot") }
}

private func parameters(_ given: firn_sql_options) throws(FirnError) -> [(name: String, value: Value)] {
    let names = try texts(given.parameter_names, given.parameter_count, "the parameter") ?? []
    guard let values = given.parameters else { return [] }
    return try names.enumerated().map { (i, name) throws(FirnError) in
        let value = values[i], bytes = UnsafeRawBufferPointer(start: value.bytes, count: value.bytes == nil ? 0 : value.length)
        switch UInt32(bitPattern: value.kind) {
        case FIRN_NULL.rawValue: return (name, .null)
        case FIRN_BOOL.rawValue, FIRN_INT.rawValue: return (name, .int(value.integer))
        case FIRN_DOUBLE.rawValue: return (name, .double(value.real))
        case FIRN_TEXT.rawValue:
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw FirnError(.usage, "the value of the parameter \"\(name)\" is not UTF-8")
            }
            return (name, .string(text))
        case FIRN_BINARY.rawValue: return (name, .data(Array(bytes)))
        default: throw FirnError(.usage, "the parameter \"\(name)\" has the kind \(value.kind)")
        }
    }
}

/// The result of SQL statements. They run on a thread of their own, a few batches ahead of the consumer.
private final class SQLStream {
    let rows: ArrowRows
    private let pipe: BatchPipe<SQLRun.Part>
    private let threads = Processors.count
    private var ready: ArraySlice<ArrowRecord> = []
    /// Keeps the snapshots that the statements read.
    private let snapshots: [CSnapshot]

    /// Returns when the columns of the result are known.
    init(_ run: SQLRun, _ options: CRunOptions, _ snapshots: [CSnapshot]) throws(FirnError) {
        self.snapshots = snapshots
        let monitor = options.caller.monitor, progress = options.progress
        pipe = BatchPipe({ (give) throws(FirnError) in try run.forEach(give) }, stop: run.cancel)
        let first: SQLRun.Part? = try pipe.next { () throws(FirnError) in
            do throws(FirnError) {
                try progress.report(monitor.state.done, monitor.state.total)
                try CInterrupt.check()
            } catch {
                run.cancel()
                throw error
            }
        }
        guard case .columns(let type) = first else { throw FirnError(.usage, "no statement returns rows") }
        rows = ArrowRows(type.columns, in: Schema([type]), sample: nil)
    }

    func next() throws(FirnError) -> ArrowRecord? {
        while ready.isEmpty {
            guard case .rows(let batch) = try pipe.next() else { return nil }
            ready = try rows.records(ScannedRows(batch: batch), threads: threads, name: "SQL")[...]
        }
        return ready.popFirst()
    }
}
