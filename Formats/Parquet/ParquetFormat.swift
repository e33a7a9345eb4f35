import FirnExchange
import FirnTable

/// What is wrong with a Parquet file, and where.
typealias ParquetFault = FormatFault

/// The numbers that Parquet files contain.
enum ParquetFormat {
    /// The first and the last four bytes of a file.
    static let magic: [UInt8] = Array("PAR1".utf8)
    /// The same of a file whose footer is encrypted.
    static let encryptedMagic: [UInt8] = Array("PARE".utf8)

    enum Physical: Int {
        case boolean = 0, int32 = 1, int64 = 2, int96 = 3, float = 4, double = 5, byteArray = 6, fixed = 7

        var name: String {
            switch self {
            case .boolean: "BOOLEAN"
            case .int32: "INT32"
            case .int64: "INT64"
            case .int96: "INT96"
            case .float: "FLOAT"
            case .double: "DOUBLE"
            case .byteArray: "BYTE_ARRAY"
            case .fixed: "FIXED_LEN_BYTE_ARRAY"
            }
        }
    }

    enum Repetition: Int { case required = 0, optional = 1, repeated = 2 }

    enum Encoding: Int {
        case plain = 0, plainDictionary = 2, runs = 3, bitPacked = 4, delta = 5, deltaLength = 6, deltaBytes = 7, dictionary = 8,
            byteStreamSplit = 9, alp = 10
    }

    enum Codec: Int {
        case none = 0, snappy = 1, gzip = 2, lzo = 3, brotli = 4, lz4 = 5, zstd = 6, lz4Raw = 7
    }

    enum Page: Int { case data = 0, index = 1, dictionary = 2, dataV2 = 3 }

    /// The former annotations of columns.
    enum Converted: Int {
        case utf8 = 0, map = 1, mapKeyValue = 2, list = 3, enumeration = 4, decimal = 5, date = 6, timeMillis = 7, timeMicros = 8,
            timestampMillis = 9, timestampMicros = 10, uint8 = 11, uint16 = 12, uint32 = 13, uint64 = 14, int8 = 15, int16 = 16, int32 = 17,
            int64 = 18, json = 19, bson = 20, interval = 21
    }

    enum Unit: Int {
        case millis = 1, micros = 2, nanos = 3

        /// The number of units in a second.
        var perSecond: Int64 { self == .millis ? 1000 : self == .micros ? 1_000_000 : 1_000_000_000 }
        var timeUnit: TimeUnit { self == .millis ? .millisecond : self == .micros ? .microsecond : .nanosecond }
    }

    /// The annotations of columns.
    enum Logical: Equatable {
        case string, map, list, enumeration, decimal(precision: Int, scale: Int), date, time(Unit, utc: Bool), timestamp(Unit, utc: Bool),
            int(Int), uint(Int), null, json, bson, uuid, float16, variant,
            /// A shape, and the name of its reference system.
            geometry(String?), geography(String?), interval
    }
}
