import FirnBytes

/// The encodings of a stream that need a reader feature bit (`docs/format/ids.md`). The raw values are the bits of the root and never
/// change.
///
/// Encoders report nothing. The features of a chunk follow from the ids in its bytes when it is written, so they are exact whatever an
/// encoder tried before.
package struct EncodingFeatures: OptionSet, Sendable, Hashable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The chunk refers to another column.
    package static let relations = EncodingFeatures(rawValue: 1 << 32)
    /// An encoding of integers, floats, booleans or list offsets after those of version 1.
    package static let numbers = EncodingFeatures(rawValue: 1 << 33)
    /// A text encoding after those of version 1.
    package static let text = EncodingFeatures(rawValue: 1 << 34)
    /// Streams that are coded with the predictions of a model.
    package static let models = EncodingFeatures(rawValue: 1 << 35)
    /// A dictionary of doubles, or a form of mixed doubles after those of bit 33.
    package static let doubles = EncodingFeatures(rawValue: 1 << 36)
    /// Numbers that are stored as differences from a prediction by other columns or earlier rows.
    package static let predictions = EncodingFeatures(rawValue: 1 << 37)
    /// Text that has pieces of other columns.
    package static let pieces = EncodingFeatures(rawValue: 1 << 38)
    /// Numbers that are stored as differences from products and quotients of other columns.
    package static let products = EncodingFeatures(rawValue: 1 << 39)
    /// Text as symbols that are coded in contexts.
    package static let contexts = EncodingFeatures(rawValue: 1 << 40)
    /// Doubles that are near decimals, multiples or quotients.
    package static let corrections = EncodingFeatures(rawValue: 1 << 41)
}

extension IntegersEncoding {
    /// The feature that a file with this encoding needs.
    var features: EncodingFeatures {
        self == .modelled ? .models : rawValue > IntegersEncoding.entropy.rawValue ? .numbers : []
    }
}

extension FloatsEncoding {
    /// The feature that a file with this encoding needs.
    var features: EncodingFeatures {
        switch self {
        case .empty, .raw, .decimals, .single, .singleDecimals, .split: []
        case .mixed: .numbers
        case .dictionary: .doubles
        case .corrected: .corrections
        }
    }
}

extension TextEncoding {
    /// The feature that a file with this encoding needs.
    var features: EncodingFeatures {
        switch self {
        case .constant, .dictionary, .pages, .symbols, .raw: []
        case .modelled: .models
        case .contexts: .contexts
        }
    }
}

extension IntegersReader {
    /// The features that the stream and those nested in it need.
    package var features: EncodingFeatures { body.features }
}

extension FloatsReader {
    /// The features that the stream and those nested in it need.
    package var features: EncodingFeatures { body.features }
}

extension BooleansReader {
    /// The features that the stream and those nested in it need.
    package var features: EncodingFeatures { body.features }
}

extension TextReader {
    /// Returns the features that a stream of `count` strings and those nested in it need. Shared blobs are not read.
    package static func features(of bytes: UnsafeRawBufferPointer, count: Int) throws(Damage) -> EncodingFeatures {
        guard let first = bytes.first, let encoding = TextEncoding(rawValue: first) else { throw Damage("not a text stream") }
        return encoding.features.union(try TextReader(bytes, count: count, shared: unread).nestedFeatures)
    }

    /// Stand for the shared blobs of any group, as long as none of them is read.
    static let unread: [SharedText] = {
        let byte = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
        byte[0] = 0
        guard let blob = try? SharedText(kind: .values, bytes: UnsafeRawBufferPointer(byte)) else { return [] }
        return Array(repeating: blob, count: 256)
    }()
}

extension IntegersEncoder {
    /// Encodes values with the encodings of version 1 only, for streams that are not part of a column: every program must read them.
    package static func encodeBasic(_ values: UnsafeBufferPointer<Int64>, profile: Profile) -> [UInt8] {
        let bytes = encode(values, present: nil, profile: profile)
        let isBasic = bytes.withUnsafeBytes { (try? IntegersReader($0, count: values.count))?.features.isEmpty ?? false }
        return isBasic ? bytes : encode(values, present: nil, profile: .fast)
    }
}

extension BooleansEncoder {
    /// Encodes bits with the encodings of version 1 only.
    package static func encodeBasic(_ bits: Bits, profile: Profile) -> [UInt8] {
        let bytes = encode(bits, profile: profile)
        let isBasic = bytes.withUnsafeBytes { (try? BooleansReader($0, count: bits.count))?.features.isEmpty ?? false }
        return isBasic ? bytes : encode(bits, profile: .fast)
    }
}
