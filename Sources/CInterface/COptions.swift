import CFirn
import FirnBytes
import FirnTool

/// Returns the options of a caller, whose structure can be that of an older header and then ends sooner; zeros in place of what it lacks.
/// - Parameter first: The size of the structure in the first header that has it.
func options<T>(_ given: UnsafePointer<T>?, first: Int, _ zero: T) throws(FirnError) -> T {
    var out = zero
    guard let given else { return out }
    let size = UnsafeRawPointer(given).loadUnaligned(as: Int.self)
    guard size >= first else {
        throw FirnError(.usage, "the size of the options is \(size)", advice: "set it to sizeof the structure")
    }
    withUnsafeMutableBytes(of: &out) {
        $0.copyMemory(from: UnsafeRawBufferPointer(start: given, count: min(size, MemoryLayout<T>.size)))
    }
    return out
}

/// The options of a function that runs a command.
struct CRunOptions {
    let names: [String]
    let caller: Session.Caller
    let progress: CProgress

    init(_ given: UnsafePointer<firn_run_options>?) throws(FirnError) {
        let given = try options(given, first: MemoryLayout<firn_run_options>.size, firn_run_options())
        names = try texts(given.options, given.option_count, "the option") ?? []
        var caller = Session.Caller()
        caller.key = CRunOptions.bytes(given.key, given.key_bytes)
        caller.newKey = CRunOptions.bytes(given.new_key, given.new_key_bytes)
        self.caller = caller
        progress = CProgress(given.progress, given.context)
    }

    /// More bytes than a key has are refused later.
    private static func bytes(_ start: UnsafeRawPointer?, _ count: Int) -> [UInt8]? {
        start.map { Array(UnsafeRawBufferPointer(start: $0, count: max(0, min(count, 1 << 16)))) }
    }
}
