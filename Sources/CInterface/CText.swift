import FirnBytes

/// A text with a zero byte at its end, at an address that does not change. Zero bytes within the text become spaces.
final class CText: @unchecked Sendable {
    let pointer: UnsafePointer<CChar>
    let count: Int

    init(_ text: String) {
        let memory = CText.copy(Array(text.utf8))
        for i in 0..<text.utf8.count where memory[i] == 0 { memory[i] = 0x20 }
        pointer = UnsafePointer(memory)
        count = text.utf8.count
    }

    deinit { pointer.deallocate() }

    /// Returns a copy with a zero byte at its end, which `firn_free` deallocates.
    static func copy(_ bytes: [UInt8]) -> UnsafeMutablePointer<CChar> {
        let memory = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
        bytes.withUnsafeBytes {
            UnsafeMutableRawPointer(memory).copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(memory), byteCount: $0.count)
        }
        memory[bytes.count] = 0
        return memory
    }
}

/// Returns a text that a caller passed.
/// - Throws: `.usage` if it is NULL or not UTF-8.
func text(_ pointer: UnsafePointer<CChar>?, _ what: String) throws(FirnError) -> String {
    guard let pointer else { throw FirnError(.usage, "\(what) is NULL") }
    guard let text = String(validatingCString: pointer) else { throw FirnError(.usage, "\(what) is not UTF-8") }
    return text
}

/// Returns the texts of a list that a caller passed; nil if the list is NULL.
func texts(_ list: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int, _ what: String) throws(FirnError) -> [String]? {
    guard let list else { return nil }
    guard count >= 0, count <= 1 << 24 else { throw FirnError(.usage, "\(what): the number of names is \(count)") }
    var out: [String] = []
    for i in 0..<count { out.append(try text(list[i], "\(what) \(i)")) }
    return out
}

/// `firn_free` of `firn.h`.
@_cdecl("firn_free")
public func firnFree(_ text: UnsafeMutablePointer<CChar>?) { text?.deallocate() }

private let version = CText(libraryVersion)
private let libraryVersion = "0.1.0"

/// `firn_version` of `firn.h`.
@_cdecl("firn_version")
public func firnVersion() -> UnsafePointer<CChar> { version.pointer }

/// `firn_abi_version` of `firn.h`.
@_cdecl("firn_abi_version")
public func firnABIVersion() -> Int32 { 2 }
