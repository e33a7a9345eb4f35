import FirnBytes

/// The codes of a dictionary-coded stream, opened without its values. Other chunks of a segment find their entries by them
/// (`docs/format/model.md`, "Relations").
package enum DictionaryCodes {
    /// Returns the codes of an integer stream, or nil if it is not dictionary-coded.
    package static func ofIntegers(_ bytes: UnsafeRawBufferPointer, count: Int) throws(Damage) -> IntegersReader? {
        try ofIntegers(bytes, count: count, depth: 0)
    }

    private static func ofIntegers(_ bytes: UnsafeRawBufferPointer, count: Int, depth: Int) throws(Damage) -> IntegersReader? {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == IntegersEncoding.dictionary.rawValue else { return nil }
        _ = try reader.readCount(limit: min(count, 65_536))
        _ = try reader.readLengthPrefixed()
        return IntegersReader(try openIntegers(reader.readRest(), count: count, depth: depth &+ 1))
    }

    /// Returns the codes of a float stream, or nil if its integers are not dictionary-coded or it has exceptions.
    package static func ofFloats(_ bytes: UnsafeRawBufferPointer, count: Int) throws(Damage) -> IntegersReader? {
        var reader = ByteReader(bytes)
        switch FloatsEncoding(rawValue: try reader.read(UInt8.self)) {
        case .raw, .single: break
        case .decimals, .singleDecimals:
            _ = try reader.read(UInt8.self)
            guard try reader.readCount(limit: count) == 0 else { return nil }
        default: return nil
        }
        return try ofIntegers(reader.readRest(), count: count, depth: 1)
    }

    /// Returns the codes of a text stream, or nil if it is not dictionary-coded.
    package static func ofText(_ bytes: UnsafeRawBufferPointer, count: Int) throws(Damage) -> IntegersReader? {
        guard bytes.first == TextEncoding.dictionary.rawValue else { return nil }
        return try TextReader(bytes, count: count, shared: TextReader.unread).codes
    }
}
