import Foundation

struct SourceFile {
    let path: String
    let text: String
    var name: String { path.split(separator: "/").last.map(String.init) ?? path }
}

let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

func contents(_ path: String) throws -> String { try String(contentsOf: root.appending(path: path), encoding: .utf8) }

func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: root.appending(path: path).path) }

/// Returns every file in a folder of the package, at any depth, whose name has one of the endings.
func files(under folder: String, ending: [String]) throws -> [SourceFile] {
    guard let walk = FileManager.default.enumerator(atPath: root.appending(path: folder).path) else { return [] }
    var found: [SourceFile] = []
    for case let path as String in walk where ending.contains(where: path.hasSuffix) && !path.contains("Fixtures/") {
        found.append(SourceFile(path: "\(folder)/\(path)", text: try contents("\(folder)/\(path)")))
    }
    return found.sorted { $0.path < $1.path }
}

func swiftFiles(under folder: String) throws -> [SourceFile] { try files(under: folder, ending: [".swift"]) }

/// Returns the direct subfolders of a folder.
func folders(of folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path).sorted().filter {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: root.appending(path: "\(folder)/\($0)").path, isDirectory: &isFolder)
            && isFolder.boolValue
    }.map { "\(folder)/\($0)" }
}
