/// `FirnError` is a part of this module's interface: programs that catch it need no other import. It is the only public symbol of FirnBytes.
@_exported import FirnBytes
import Foundation

extension FirnError: LocalizedError {
    /// The location and the message; never nil. It is also the `localizedDescription`.
    public var errorDescription: String? { description }
    /// The advice, if there is one.
    public var recoverySuggestion: String? { advice }
}
