import FirnBytes
import FirnDisk

/// An object that a caller owns through an opaque pointer.
protocol COwned: AnyObject {}

extension COwned {
    /// The pointer, which owns a reference to this object.
    var retained: OpaquePointer { OpaquePointer(Unmanaged.passRetained(self).toOpaque()) }

    /// Returns the object of a pointer that a caller passed; nil for NULL.
    static func at(_ pointer: OpaquePointer?) -> Self? {
        pointer.map { Unmanaged<Self>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
    }

    static func release(_ pointer: OpaquePointer?) { if let pointer { Unmanaged<Self>.fromOpaque(UnsafeRawPointer(pointer)).release() } }
}

/// Which process made an object. A forked child has copies of the memory, but neither the threads nor locks of its own.
struct MakingProcess: Sendable {
    private let forks = Forks.count

    var isThis: Bool { forks == Forks.count }

    /// Throws in a child that was forked later.
    func check() throws(FirnError) {
        guard isThis else {
            throw FirnError(.usage, "the file was opened before this process was forked", advice: "open it again in this process")
        }
    }
}

/// An object that reads a file.
protocol CReader: COwned {
    var process: MakingProcess { get }
}

extension CReader {
    /// Returns the object of a pointer for reading.
    /// - Throws: `.usage` for NULL, and in a process that was forked later.
    static func reading(_ pointer: OpaquePointer?, _ what: String) throws(FirnError) -> Self {
        guard let object = at(pointer) else { throw FirnError(.usage, "the \(what) is NULL") }
        try object.process.check()
        return object
    }

    /// Releases the object. In a forked child, the memory is left as it is.
    static func releaseHere(_ pointer: OpaquePointer?) { if at(pointer)?.process.isThis == true { release(pointer) } }
}
