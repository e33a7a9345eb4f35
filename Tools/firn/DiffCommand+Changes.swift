import FirnBytes
import FirnChange
import FirnCommandLine
import FirnDatabase
import FirnDisk
import FirnTable

/// `firn diff --changes FILE`: writes the differences for `firn patch`.
extension DiffCommand {
    /// Returns the path of the changes file, or nil. Throws `.usage` if a flag would make the changes incomplete, or if the path is an
    /// input.
    func checkChanges() throws(FirnError) -> String? {
        guard let path = session.arguments.text("changes") else {
            if session.arguments.has("force"), !session.arguments.has("output") {
                throw FirnError(.usage, "--force applies to --changes and --output only", advice: "omit it")
            }
            return nil
        }
        let flags = ["columns", "ignore", "where", "only", "tolerance", "rename", "duplicates", "rejects"]
        if let flag = flags.first(where: session.arguments.has) {
            throw FirnError(.usage, "--changes contains all changes of all rows and columns", advice: "omit --\(flag)")
        }
        try DiffOutput.check(path, "changes", session.arguments)
        try Replacement.check(path, overwrite: session.arguments.has("force"))
        return path
    }

    /// Writes the changes file, encrypted with `key` if there is one.
    func write(_ types: [ChangedType], _ compared: DifferenceOptions, to path: String, key: EncryptionKey?) throws(FirnError) {
        var options = WritingOptions(threads: try session.threads())
        options.overwrites = session.arguments.has("force")
        options.key = key
        options.sources = SourceModes(session.arguments.operands.map { Address($0).path })
        let writer = try FirnWriter(path: path, options, source: session.arguments.operands.joined(separator: ", "))
        try Changeset.write(types, options: compared) { schema throws(FirnError) in
            try writer.begin(schema)
        } write: { type, batch throws(FirnError) in
            try writer.write(batch, type: type)
        }
        try writer.finish()
    }
}
