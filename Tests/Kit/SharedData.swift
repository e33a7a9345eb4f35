import Foundation

/// The larger test data, in a folder next to the package or in the folder `FIRN_SHARED`.
public enum SharedData {
    /// Nil if the folder does not exist.
    public static let folder: URL? = {
        let beside = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../../shared/data").standardized
        let folder = ProcessInfo.processInfo.environment["FIRN_SHARED"].map { URL(fileURLWithPath: $0) } ?? beside
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }()

    /// Returns a file or folder of the data. Prints a notice and returns nil if it does not exist.
    public static func file(_ path: String) -> URL? {
        if let file = folder?.appending(path: path), FileManager.default.fileExists(atPath: file.path) { return file }
        print("skipped: no \(path) in the shared data")
        return nil
    }
}
