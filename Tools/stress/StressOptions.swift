import FirnBytes
import FirnDisk

/// The parsed flags: `--name number` in any order, and `--key-file PATH`.
struct StressOptions {
    private var numbers: [String: Int] = [:]
    private var keyFile: String?

    init(_ words: ArraySlice<String>) throws(FirnError) {
        var words = words
        while let name = words.popFirst() {
            if name == "--key-file", let path = words.popFirst() {
                keyFile = path
                continue
            }
            guard name.hasPrefix("--"), let number = words.popFirst().flatMap({ Int($0) }) else {
                throw FirnError(.usage, "expected --name number or --key-file PATH, found \"\(name)\"")
            }
            numbers[String(name.dropFirst(2))] = number
        }
    }

    subscript(name: String, standard: Int) -> Int { numbers[name] ?? standard }

    func key() throws(FirnError) -> EncryptionKey? {
        guard let keyFile else { return nil }
        guard let key = EncryptionKey(written: try File(path: keyFile, .read).readAll()) else {
            throw FirnError(.usage, "the file has no key", at: .init(file: keyFile))
        }
        return key
    }

    /// The flags that are passed on to child processes: how files are read, and the key.
    var shared: [String] { ["--copied", String(self["copied", 0])] + (keyFile.map { ["--key-file", $0] } ?? []) }
}
