import FirnBytes
import FirnExchange

/// What is wrong with Arrow data, and where.
typealias ArrowFault = FormatFault

/// Numbers and names that Arrow's format defines (Columnar.rst, Schema.fbs, Message.fbs and File.fbs of the Arrow project).
enum ArrowFormat {
    /// The first and last bytes of a file.
    static let magic = Array("ARROW1".utf8)
    /// The number of bytes before the first message of a file.
    static let fileStart = 8
    /// The first bytes of a Feather file of version 1, which is another format.
    static let formerMagic = Array("FEA1".utf8)
    /// Precedes the length of a message; older writers have only the length.
    static let continuation: UInt32 = 0xFFFF_FFFF
    /// The version of the metadata from which unions have no validity of their own.
    static let version5 = 4
    static let minimumVersion = 3

    enum Header: UInt8 {
        case none, schema, dictionaryBatch, recordBatch, tensor, sparseTensor
    }

    enum Codec: Int8 {
        case lz4, zstd
    }

    /// The members of the union `Type`.
    enum TypeCode: UInt8 {
        case none, null, int, floatingPoint, binary, utf8, bool, decimal, date, time, timestamp, interval, list, structure, union
        case fixedSizeBinary, fixedSizeList, map, duration, largeBinary, largeUtf8, largeList, runEndEncoded, binaryView, utf8View
        case listView, largeListView
    }

    enum IntervalUnit: Int16 {
        case months, days, nanoseconds

        var width: Int {
            switch self {
            case .months: 4
            case .days: 8
            case .nanoseconds: 16
            }
        }
    }

    static let extensionName = "ARROW:extension:name"
    static let extensionMetadata = "ARROW:extension:metadata"
    /// The key under which Firn's own schema is kept: base64 of `ArrowSchemaRecord`. Permanent.
    static let firnSchema = "firn.schema"
    /// Begins the keys of metadata whose value is not UTF-8: the rest is the key, and the value is base64. Permanent.
    static let binaryPrefix = "firn.binary:"
    /// Keys that begin with this are no metadata of applications.
    static let firnPrefix = "firn."
}
