import Foundation

/// The resident bytes of mapped files, as the system counts them.
package enum MappedBytes {
    /// Whether the system reports them.
    package static var areKnown: Bool { FileManager.default.fileExists(atPath: "/proc/self/smaps") }

    /// Returns the resident bytes of this process's mappings of a file.
    package static func resident(_ path: String) -> Int {
        // The system reports no size of this file.
        let report = FileHandle(forReadingAtPath: "/proc/self/smaps")?.readDataToEndOfFile() ?? Data()
        let name = Data((URL(filePath: path).resolvingSymlinksInPath().path + "\n").utf8), label = Data("Rss:".utf8)
        var total = 0, rest = report[...]
        while let header = rest.range(of: name) {
            rest = rest[header.upperBound...]
            guard let value = rest.range(of: label) else { break }
            let digits = rest[value.upperBound...].drop { $0 == 32 }.prefix { $0 != 32 }
            total += (Int(String(decoding: digits, as: UTF8.self)) ?? 0) * 1024
        }
        return total
    }
}
