import FirnBytes

/// Where rejected rows go, as they stood in the input. Used by one reader at a time.
package final class Rejects: @unchecked Sendable {
    /// Rows so far.
    package private(set) var count = 0
    private let sink: (_ row: UnsafeRawBufferPointer, _ reason: FirnError?) throws(FirnError) -> Void

    /// `reason`: what is wrong with the row and where, if its reader knows both without another reading of the input.
    package init(_ sink: @escaping (_ row: UnsafeRawBufferPointer, _ reason: FirnError?) throws(FirnError) -> Void) { self.sink = sink }

    package func add(_ row: UnsafeRawBufferPointer, because reason: FirnError? = nil) throws(FirnError) {
        count += 1
        try sink(row, reason)
    }

    package func add(_ row: [UInt8], because reason: FirnError? = nil) throws(FirnError) {
        var failure: FirnError?
        row.withUnsafeBytes { do throws(FirnError) { try add($0, because: reason) } catch { failure = error } }
        if let failure { throw failure }
    }
}
