import Foundation

/// The larger test data, which may stand beside the package or where `FIRN_SHARED` says.
public enum SharedData {
    /// nil: it is not there.
    public static let folder: URL? = {
        let beside = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../../shared/data").standardized
        let folder = ProcessInfo.processInfo.environment["FIRN_SHARED"].map { URL(fileURLWithPath: $0) } ?? beside
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }()

    /// A file or folder of it; nil, with a word, where it is not.
    public static func file(_ path: String) -> URL? {
        if let file = folder?.appending(path: path), FileManager.default.fileExists(atPath: file.path) { return file }
        print("skipped: no \(path) in the shared data")
        return nil
    }
}
