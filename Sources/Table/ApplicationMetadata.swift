/// Something that can carry application metadata: named values that Firn keeps and does not interpret (`docs/format/model.md`, "Attributes").
package protocol MetadataCarrier {
    var otherAttributes: [SchemaAttribute] { get set }
}

extension ColumnSchema: MetadataCarrier {}
extension TypeSchema: MetadataCarrier {}
extension Schema: MetadataCarrier {}

/// One entry of application metadata. The value is any bytes, often UTF-8 text.
package struct MetadataEntry: Hashable, Sendable {
    package var key: String
    package var value: [UInt8]

    package init(_ key: String, _ value: [UInt8]) {
        self.key = key
        self.value = value
    }
}

extension MetadataCarrier {
    /// The metadata of applications, in the order in which it was added. Keys are distinct.
    package var metadata: [MetadataEntry] {
        get {
            otherAttributes.compactMap {
                $0.name.hasPrefix(metadataPrefix) ? MetadataEntry(String($0.name.dropFirst(metadataPrefix.count)), $0.value) : nil
            }
        }
        set {
            otherAttributes.removeAll { $0.name.hasPrefix(metadataPrefix) }
            for entry in newValue { otherAttributes.append(SchemaAttribute(metadataPrefix + entry.key, entry.value)) }
        }
    }

    /// Sets the value of a key; nil removes the entry.
    package mutating func setMetadata(_ key: String, _ value: [UInt8]?) {
        var entries = metadata
        if let at = entries.firstIndex(where: { $0.key == key }) {
            if let value { entries[at].value = value } else { entries.remove(at: at) }
        } else if let value {
            entries.append(MetadataEntry(key, value))
        }
        metadata = entries
    }
}

extension MetadataCarrier {
    /// Does what `setMetadata` does for each of many entries, in order.
    package mutating func setMetadata(_ changes: [(key: String, value: [UInt8]?)]) {
        var entries: [MetadataEntry?] = metadata
        var positions = Dictionary(entries.indices.map { (entries[$0]?.key ?? "", $0) }, uniquingKeysWith: { first, _ in first })
        for (key, value) in changes {
            if let position = positions[key] {
                entries[position] = value.map { MetadataEntry(key, $0) }
                if value == nil { positions[key] = nil }
            } else if let value {
                positions[key] = entries.count
                entries.append(MetadataEntry(key, value))
            }
        }
        metadata = entries.compactMap { $0 }
    }
}

private let metadataPrefix = "meta:"
