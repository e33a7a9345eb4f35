import FirnBytes
import FirnCommandLine
import FirnDisk
import FirnExchange

/// The files that an operand stands for. A folder stands for all files of known formats in it and below; a pattern such as `data/*.csv`, in
/// quotes so that the shell leaves it, for the files that match. Both are sorted by the bytes of the paths.
struct InputPaths {
    let operand: String
    private(set) var paths: [String]
    /// Whether the operand is a folder or a pattern, so that it is one table even if it stands for one file.
    let isSeveral: Bool
    /// The files of a folder without the type that the operand names, and this type; nil for other operands.
    private(set) var folder: (files: [String], type: String?)?
    private(set) var remarks: [String] = []

    /// `target`: the file that is written, which a folder or pattern does not stand for.
    init(_ operand: String, except target: String? = nil) throws(FirnError) {
        self.operand = operand
        let kind = operand == "-" ? nil : Paths.kind(Address(operand).path)
        if kind == .directory {
            isSeveral = true
            var walk = FolderWalk()
            let address = Address(operand), root = address.path, type = address.type.map { ":" + $0 } ?? ""
            try walk.enter(root.hasSuffix("/") && root.count > 1 ? String(root.dropLast()) : root)
            paths = walk.found.map { $0 + type }
            folder = (walk.found, address.type)
            if let first = walk.lost {
                remarks.append(
                    "\(operand): \(Quantity.count(walk.lostCount, "name")) skipped, as no file opens by it (first: \(first)): it is not UTF-8, or a broken link"
                )
            }
            if let first = walk.skipped {
                remarks.append("\(operand): \(Quantity.count(walk.skippedCount, "file")) of other formats skipped (first: \(first))")
            }
        } else if kind == nil, operand != "-", FilePattern.isPattern(operand) {
            isSeveral = true
            paths = try FilePattern.files(operand)
            // A type can follow, as after the name of a file.
            if paths.isEmpty, let colon = operand.utf8.lastIndex(of: UInt8(ascii: ":")) {
                let type = operand[colon...]
                if !type.utf8.contains(UInt8(ascii: "/")) { paths = try FilePattern.files(String(operand[..<colon])).map { $0 + type } }
            }
        } else {
            isSeveral = false
            paths = [operand]
            return
        }
        if let target, target != "-", Paths.exists(target) {
            let others = paths.filter { !Paths.isSame($0, target) }
            if others.count < paths.count { remarks.append("\(operand): \"\(target)\" is OUT and is not read") }
            paths = others
            folder?.files.removeAll { Paths.isSame($0, target) }
        }
        guard paths.isEmpty else { return }
        throw FirnError(
            .notFound, kind == .directory ? "the folder contains no file of a known format" : "no file matches", at: .init(file: operand),
            advice: kind == .directory
                ? "files with these extensions are read: \(FolderWalk.endings.joined(separator: ", "))"
                : "* stands for any text in a name, ** for any folders, ? for one character, [ab] and {a,b} for alternatives")
    }

    /// Returns the files of all operands. The second result is what to report.
    static func all(_ operands: [String], except target: String? = nil) throws(FirnError) -> (inputs: [InputPaths], remarks: [String]) {
        let inputs = try operands.map { (operand) throws(FirnError) in try InputPaths(operand, except: target) }
        var remarks = inputs.flatMap(\.remarks), seen: Set<[UInt8]> = [], hasReported = false
        for path in inputs.flatMap(\.paths) where !seen.insert(Array(path.utf8)).inserted && !hasReported {
            hasReported = true
            remarks.append("\"\(path)\" is named twice and is read twice")
        }
        return (inputs, remarks)
    }

    /// The default name of the type of the rows: the folder, or for files the name of the first one.
    var typeName: String {
        guard isSeveral else { return Address(operand).type ?? Address.stem(of: Address(operand).path) }
        let fixed = (folder == nil ? operand : Address(operand).path).fields(at: UInt8(ascii: "/")).filter { !$0.isEmpty }.prefix {
            !FilePattern.isPattern($0)
        }
        if let last = fixed.last, last != ".", last != ".." { return last }
        return Address.stem(of: paths.first ?? operand)
    }
}

/// Collects the files of known formats in a folder and below. Hidden files and folders, and links to folders, are left out.
private struct FolderWalk {
    static let endings = [
        "csv", "tsv", "tab", "json", "geojson", "ndjson", "jsonl", "firn", "realm", "parquet", "parq", "db", "sqlite", "sqlite3", "db3",
        "arrow", "arrows", "feather", "ipc",
    ]
    private(set) var found: [String] = []
    /// The first file of another format.
    private(set) var skipped: String?
    private(set) var skippedCount = 0
    /// The first name of the folder that leads to no file.
    private(set) var lost: String?
    private(set) var lostCount = 0

    mutating func enter(_ folder: String) throws(FirnError) {
        try visit(folder)
        found.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private mutating func visit(_ folder: String) throws(FirnError) {
        for name in try Paths.list(folder) where !name.hasPrefix(".") {
            let path = folder == "/" ? "/" + name : folder + "/" + name
            switch Paths.kind(path) {
            case .directory: if !Paths.isLink(path) { try visit(path) }
            case .file:
                let plain = Compression.strip(name)
                let isKnown = FolderWalk.endings.contains { plain.lowercased().hasSuffix("." + $0) }
                if isKnown {
                    found.append(path)
                } else {
                    skippedCount += 1
                    if skipped == nil { skipped = path }
                }
            case nil:
                lostCount += 1
                if lost == nil { lost = path }
            case .other: break
            }
        }
    }
}
