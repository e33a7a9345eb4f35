/// Features that a reader must know, beyond version 1 of the format: bits of the root (`docs/format/ids.md`). They are written to files; the
/// numbers never change.
///
/// A program refuses a file with an unknown bit of *structure* (0 … 31). It opens a file with an unknown bit of *encodings* (32 … 63) for
/// reading, and refuses the columns that use what it does not know.
package enum ReaderFeature: UInt64, CaseIterable, Sendable {
    /// The validity of a column is shared with another one, or stored relative to it.
    case sharedPresence = 0
    /// Extents and roots are encrypted.
    case encryption = 1
    /// Columns of the schema have attributes.
    case columnAttributes = 2
    /// Types or the schema have attributes.
    case fileAttributes = 3
    /// Delta records have splices of collections.
    case splices = 4
    /// Chunks refer to other columns.
    case relations = 32
    /// Encodings of numbers after those of version 1.
    case numberEncodings = 33
    /// Encodings of text after those of version 1.
    case textEncodings = 34
    /// Streams that are coded with the predictions of a model.
    case modelledStreams = 35
    /// Dictionaries of doubles, and Floats that were rounded to some digits.
    case doubleEncodings = 36
    /// Chunks store differences from a prediction by other columns or earlier rows.
    case predictions = 37
    /// Texts have pieces of other columns.
    case pieces = 38
    /// Chunks store differences from products and quotients of other columns.
    case products = 39
    /// Text as symbols that are coded in contexts.
    case contextCodedText = 40
    /// Doubles that are near decimals, multiples or quotients.
    case correctedDoubles = 41

    var bit: UInt64 { 1 << rawValue }

    /// The bits of encodings: a program that does not know one can still read the columns that do not use it.
    static let encodings: UInt64 = 0xFFFF_FFFF_0000_0000
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

extension Root {
    /// The bits of encodings that this program does not know.
    var unknownEncodings: UInt64 { readerFeatures & ~Store.knownReaderFeatures & ReaderFeature.encodings }
    /// Whether this program knows everything that a writer must know. Chunks in unknown encodings may refer to others, so replacing any
    /// chunk could damage them.
    var isWritable: Bool { writerFeatures & ~Store.knownWriterFeatures == 0 && unknownEncodings == 0 }
}
