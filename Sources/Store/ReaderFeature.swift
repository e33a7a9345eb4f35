/// What a reader must know to understand a file, beyond version 1 of the format: bits of the root (`docs/format/store.md`, "Feature bits"). Written to
/// files; the numbers never change.
package enum ReaderFeature: UInt64, CaseIterable, Sendable {
    /// The presence of a column is that of another one, or lies within it.
    case sharedPresence = 0
    /// Extents and roots are sealed with a key.
    case encryption = 1

    var bit: UInt64 { 1 << rawValue }
}

/// What a writer must know so that what it writes fits what is there; readers need not know it. Likewise bits of the root.
package enum WriterFeature: UInt64, CaseIterable, Sendable {
    /// Rows that are sealed are entered into indexes.
    case indexes = 0
    /// Versions that have names are kept, and commit records say what else is.
    case history = 1
    /// Indexes of text have entries of kinds 3 and 4.
    case shortIndexEntries = 2

    var bit: UInt64 { 1 << rawValue }
}
