/// Features that a reader must know, beyond version 1 of the format: bits of the root (`docs/format/store.md`, "Feature bits"). They are
/// written to files; the numbers never change.
package enum ReaderFeature: UInt64, CaseIterable, Sendable {
    /// The validity of a column is shared with another one, or stored relative to it.
    case sharedPresence = 0
    /// Extents and roots are encrypted.
    case encryption = 1
    /// Columns of the schema have attributes.
    case columnAttributes = 2
    /// Types or the schema have attributes.
    case fileAttributes = 3

    var bit: UInt64 { 1 << rawValue }
}

/// Features that a writer must know to keep the file consistent, and that a reader may ignore: bits of the root.
package enum WriterFeature: UInt64, CaseIterable, Sendable {
    /// Sealed rows are entered into indexes.
    case indexes = 0
    /// Tagged versions are kept, and commit records refer to a history.
    case history = 1
    /// Indexes of text have entries of kinds 3 and 4.
    case shortIndexEntries = 2

    var bit: UInt64 { 1 << rawValue }
}
