import FirnBytes

/// Receives rejected rows, with the bytes of the input. Only one reader at a time may use it.
package final class Rejects: @unchecked Sendable {
    /// The number of rows so far.
    package private(set) var count = 0
    private let sink: (_ row: UnsafeRawBufferPointer, _ reason: FirnError?) throws(FirnError) -> Void

    /// `reason` is what is wrong with the row and where, if the reader knows both without reading the input again.
    package init(_ sink: @escaping (_ row: UnsafeRawBufferPointer, _ reason: FirnError?) throws(FirnError) -> Void) { self.sink = sink }

    package func add(_ row: UnsafeRawBufferPointer, because reason: FirnError? = nil) throws(FirnError) {
        count += 1
        try sink(row, reason)
    }

    package func add(_ row: [UInt8], because reason: FirnError? = nil) throws(FirnError) {
        try row.withBytes { (row) throws(FirnError) in try add(row, because: reason) }
    }
}
