import CArrow
import FirnArrow
import FirnBytes
import FirnTable
import FirnThreads

/// What an Arrow stream of this library refers to.
final class StreamState {
    private let process = MakingProcess()
    /// Held by each callback: consumers that share a stream between threads get one batch each.
    private let lock = Lock()
    private let rows: () throws(FirnError) -> ArrowRows
    private let advance: () throws(FirnError) -> ArrowRecord?
    private var failure: (code: Int32, text: CText)?

    private init(_ rows: @escaping () throws(FirnError) -> ArrowRows, _ advance: @escaping () throws(FirnError) -> ArrowRecord?) {
        self.rows = rows
        self.advance = advance
    }

    /// Writes a stream with the schema that `rows` returns, and the records that `advance` returns until it returns nil.
    static func export(
        to out: UnsafeMutablePointer<ArrowArrayStream>, rows: @escaping () throws(FirnError) -> ArrowRows,
        _ advance: @escaping () throws(FirnError) -> ArrowRecord?
    ) {
        var stream = ArrowArrayStream()
        stream.private_data = Unmanaged.passRetained(StreamState(rows, advance)).toOpaque()
        stream.get_schema = { stream, out in
            guard let state = StreamState.at(stream), let out else { return StreamState.invalid }
            return state.run { () throws(FirnError) in try state.rows().export(schema: out) }
        }
        stream.get_next = { stream, out in
            guard let state = StreamState.at(stream), let out else { return StreamState.invalid }
            return state.run { () throws(FirnError) in
                if let record = try state.advance() { record.export(to: out) } else { out.initialize(to: ArrowArray()) }
            }
        }
        stream.get_last_error = { stream in StreamState.at(stream)?.lastFailure.map { UnsafePointer($0.text.pointer) } }
        stream.release = { stream in
            guard let stream, stream.pointee.release != nil, let data = stream.pointee.private_data else { return }
            stream.pointee.release = nil
            let state = Unmanaged<StreamState>.fromOpaque(data)
            // The threads that read ahead do not exist in a forked child, where it would be waited for them.
            if state.takeUnretainedValue().process.isThis { state.release() }
        }
        out.initialize(to: stream)
    }

    private static func at(_ stream: UnsafeMutablePointer<ArrowArrayStream>?) -> StreamState? {
        guard let stream, stream.pointee.release != nil, let data = stream.pointee.private_data else { return nil }
        return Unmanaged<StreamState>.fromOpaque(data).takeUnretainedValue()
    }

    /// Values of `errno`, which are the same on Linux and macOS: EINVAL, EIO, ENOMEM.
    private static let invalid: Int32 = 22, inputOutput: Int32 = 5, outOfMemory: Int32 = 12

    /// Runs the body of a callback. After an error, all further calls return it.
    private func run(_ body: () throws(FirnError) -> Void) -> Int32 {
        // In a forked child, the lock may be held by a thread that does not exist there.
        process.isThis ? lock.withLock { runAlone(body) } : runAlone(body)
    }

    /// The text stays valid as long as the stream.
    private var lastFailure: (code: Int32, text: CText)? { process.isThis ? lock.withLock { failure } : failure }

    private func runAlone(_ body: () throws(FirnError) -> Void) -> Int32 {
        if let failure { return failure.code }
        do throws(FirnError) {
            try process.check()
            try body()
            return 0
        } catch {
            let code =
                switch error.code {
                case .damaged, .inputOutput, .notFound: StreamState.inputOutput
                case .outOfMemory: StreamState.outOfMemory
                default: StreamState.invalid
                }
            if error.code == .interrupted { CInterrupt.repeatKeyboardInterrupt() }
            failure = (code, CText(error.description + (error.advice.map { "; \($0)" } ?? "")))
            return code
        }
    }
}

extension ArrowRows {
    private static let maximumBytes = 256 << 20

    /// Converts a batch in parts of bounded size: texts of a batch have at most 2 GiB.
    func records(_ rows: ScannedRows, threads: Int, name: String) throws(FirnError) -> [ArrowRecord] {
        guard rows.count > 1, rows.footprint > ArrowRows.maximumBytes else {
            return [try record(rows.batch.columns, ready: rows.ready, count: rows.count, threads: threads, name: name)]
        }
        let half = rows.count / 2
        var out: [ArrowRecord] = []
        for part in [0..<half, half..<rows.count] { out += try records(rows[part], threads: threads, name: name) }
        return out
    }
}
