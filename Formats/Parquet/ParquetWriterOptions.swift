import FirnBytes

/// Options for writing Parquet.
package struct ParquetWriterOptions: Sendable {
    package var compression = ParquetCompression.standard
    /// The maximum number of rows of a row group.
    package var groupRows = ParquetWriterOptions.standardRows
    /// A row group ends when its compressed pages have this many bytes.
    package var groupBytes = 32 << 20
    package var threads = 1
    /// Whether facts that only Firn knows are kept in the metadata: keys, sets, links, original texts.
    package var keepsFacts = true

    /// The number of rows of a row group if no other is given: enough for dictionaries to pay, and few enough for several threads to share
    /// a file of ordinary size.
    package static let standardRows = 1 << 20

    /// The names of all types, if the file is one of a folder of a file for each type.
    package var folderTypes: [String] = []

    package init() {}
}

/// How pages are compressed: `zstd`, `zstd:LEVEL`, `snappy`, `gzip`, `gzip:LEVEL`, `brotli`, `brotli:LEVEL`, `lz4` or `none`.
package struct ParquetCompression: Hashable, Sendable {
    let codec: ParquetFormat.Codec
    let level: Int32

    package static let standard = ParquetCompression(codec: .zstd, level: 3)

    private init(codec: ParquetFormat.Codec, level: Int32) {
        self.codec = codec
        self.level = level
    }

    /// - Throws: `.usage` if the text names no codec, or a level that the codec does not have.
    package init(_ text: String) throws(FirnError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let (codec, standard, levels) = ParquetCompression.codecs[parts[0]] else {
            throw FirnError(
                .usage, "the compression \"\(parts[0])\" of Parquet is not known",
                advice: "use zstd, zstd:LEVEL, snappy, gzip, brotli, lz4 or none")
        }
        self.codec = codec
        guard parts.count > 1 else {
            level = standard
            return
        }
        guard let levels else { throw FirnError(.usage, "\(parts[0]) has no levels", advice: "use --compression \(parts[0])") }
        guard let level = Int32(parts[1]), levels.contains(level) else {
            throw FirnError(
                .usage, "\"\(parts[1])\" is not a level of \(parts[0])",
                advice: "use a number from \(levels.lowerBound) to \(levels.upperBound)")
        }
        self.level = level
    }

    private static let codecs: [String: (ParquetFormat.Codec, Int32, ClosedRange<Int32>?)] = [
        "zstd": (.zstd, 3, 1...22), "snappy": (.snappy, 0, nil), "gzip": (.gzip, 6, 1...9), "brotli": (.brotli, 6, 0...11),
        "lz4": (.lz4Raw, 0, nil), "none": (.none, 0, nil),
    ]
}
