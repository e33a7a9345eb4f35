import FirnBytes
import FirnTable

/// The types of a folder that was written from an input of several types: one file for each type. Each file has the names of all types in its
/// metadata, so that the files are read as these types and not as one table. The text is permanent.
package enum FolderTypes {
    /// The key of the metadata.
    package static let key = SchemaFacts.prefix + "folder"

    /// Returns the text for the names of the types, in their order.
    package static func text(_ names: [String]) -> [UInt8] {
        var out: [UInt8] = []
        ExactJSON.append(.list(names.map { .string($0) }), to: &out)
        return out
    }

    /// Returns the names of a text; none if it is not such a text.
    package static func names(_ text: [UInt8]) -> [String] {
        guard case .list(let values)? = ExactJSON.value(text) else { return [] }
        var names: [String] = []
        for value in values {
            guard case .string(let name) = value else { return [] }
            names.append(name)
        }
        return Set(names).count == names.count ? names : []
    }
}
