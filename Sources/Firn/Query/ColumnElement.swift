import FirnTable
import Foundation

/// A type of values that can be read as a column.
public protocol _ColumnElement: _Element {
    /// The type without its optional.
    associatedtype _Plain
    static func _plain(_ vector: _ColumnVector) -> [_Plain]
    static func _append(_ batch: ColumnBatch<Self>, to values: inout [Self])
}

/// A decoded run of values.
public struct _ColumnVector {
    let column: Column
    init(_ column: Column) { self.column = column }

    /// Returns integers, converted from their stored width.
    func words<T: FixedWidthInteger>(as type: T.Type) -> [T] {
        let words = column.words
        return [T](unsafeUninitializedCapacity: words.count) { buffer, count in
            for i in 0..<words.count { buffer[i] = T(truncatingIfNeeded: words[i]) }
            count = words.count
        }
    }

    func values<T: _Element>(as type: T.Type) -> [T] { (0..<column.count).map { T._element(_Stored(column.value(at: $0))) ?? T._zero() } }
}

extension _ColumnElement where _Plain == Self {
    /// Appends the values of a batch; an element without a value is appended as the zero of the type. Used by `ResultsColumn`; not for
    /// direct use.
    ///
    /// - Complexity: O(*n*) for *n* elements of the batch.
    public static func _append(_ batch: ColumnBatch<Self>, to values: inout [Self]) {
        guard let present = batch.present else { return values.append(contentsOf: batch.values) }
        for (i, value) in batch.values.enumerated() { values.append(present[i] ? value : _zero()) }
    }
}

extension Int: _ColumnElement {
    /// Returns the integers of a decoded run of values. Used by `ResultsColumn`; not for direct use.
    ///
    /// - Complexity: O(*n*) for *n* values.
    public static func _plain(_ vector: _ColumnVector) -> [Int] {
        vector.column.words.withUnsafeBytes { bytes in
            [Int](unsafeUninitializedCapacity: vector.column.words.count) { buffer, count in
                count = vector.column.words.count
                UnsafeMutableRawBufferPointer(buffer).copyMemory(from: bytes)
            }
        }
    }
}
extension Int64: _ColumnElement {
    /// Returns the integers of a decoded run of values, without copying them. Used by `ResultsColumn`; not for direct use.
    public static func _plain(_ vector: _ColumnVector) -> [Int64] { vector.column.words }
}
extension Int32: _ColumnElement {
    /// Returns the low 32 bits of the integers of a decoded run of values. Used by `ResultsColumn`; not for direct use.
    ///
    /// - Complexity: O(*n*) for *n* values.
    public static func _plain(_ vector: _ColumnVector) -> [Int32] { vector.words(as: Int32.self) }
}
extension Int16: _ColumnElement {
    /// Returns the low 16 bits of the integers of a decoded run of values. Used by `ResultsColumn`; not for direct use.
    ///
    /// - Complexity: O(*n*) for *n* values.
    public static func _plain(_ vector: _ColumnVector) -> [Int16] { vector.words(as: Int16.self) }
}
extension Int8: _ColumnElement {
    /// Returns the low 8 bits of the integers of a decoded run of values. Used by `ResultsColumn`; not for direct use.
    ///
    /// - Complexity: O(*n*) for *n* values.
    public static func _plain(_ vector: _ColumnVector) -> [Int8] { vector.words(as: Int8.self) }
}
extension Bool: _ColumnElement {
    /// Returns the booleans of a decoded run of values. Used by `ResultsColumn`; not for direct use.
    ///
    /// - Complexity: O(*n*) for *n* values.
    public static func _plain(_ vector: _ColumnVector) -> [Bool] { vector.column.words.map { $0 != 0 } }
}
extension Double: _ColumnElement {
    /// Returns the doubles of a decoded run of values, without copying them. Used by `ResultsColumn`; not for direct use.
    public static func _plain(_ vector: _ColumnVector) -> [Double] { vector.column.reals }
}
extension Float: _ColumnElement {
    /// Returns the floats of a decoded run of values. Used by `ResultsColumn`; not for direct use.
    ///
    /// - Complexity: O(*n*) for *n* values.
    public static func _plain(_ vector: _ColumnVector) -> [Float] { vector.column.reals.map { Float($0) } }
}
extension Date: _ColumnElement {
    /// Returns the dates of a decoded run of values. The date of an element without a value is 1970-01-01 00:00 UTC. Used by
    /// `ResultsColumn`; not for direct use.
    ///
    /// - Complexity: O(*n*) for *n* values.
    public static func _plain(_ vector: _ColumnVector) -> [Date] { vector.values(as: Date.self) }
}
extension String: _ColumnElement {
    /// Returns the strings of a decoded run of values. The string of an element without a value is empty. Used by `ResultsColumn`; not for
    /// direct use.
    ///
    /// - Complexity: O(*n*) for *n* values.
    public static func _plain(_ vector: _ColumnVector) -> [String] { vector.values(as: String.self) }
}
extension Data: _ColumnElement {
    /// Returns the binary data of a decoded run of values. The data of an element without a value is empty. Used by `ResultsColumn`; not
    /// for direct use.
    ///
    /// - Complexity: O(*n*) for *n* values.
    public static func _plain(_ vector: _ColumnVector) -> [Data] { vector.values(as: Data.self) }
}
extension UUID: _ColumnElement {
    /// Returns the UUIDs of a decoded run of values. The UUID of an element without a value has 16 bytes of 0. Used by `ResultsColumn`; not
    /// for direct use.
    ///
    /// - Complexity: O(*n*) for *n* values.
    public static func _plain(_ vector: _ColumnVector) -> [UUID] { vector.values(as: UUID.self) }
}
extension ObjectId: _ColumnElement {
    /// Returns the object ids of a decoded run of values. The object id of an element without a value has 12 bytes of 0. Used by
    /// `ResultsColumn`; not for direct use.
    ///
    /// - Complexity: O(*n*) for *n* values.
    public static func _plain(_ vector: _ColumnVector) -> [ObjectId] { vector.values(as: ObjectId.self) }
}
extension Decimal128: _ColumnElement {
    /// Returns the decimals of a decoded run of values. The decimal of an element without a value is 0. Used by `ResultsColumn`; not for
    /// direct use.
    ///
    /// - Complexity: O(*n*) for *n* values.
    public static func _plain(_ vector: _ColumnVector) -> [Decimal128] { vector.values(as: Decimal128.self) }
}

extension Optional: _ColumnElement where Wrapped: _ColumnElement {
    /// The type of the values without the optional: that of the wrapped type. Used by `ResultsColumn`; not for direct use.
    public typealias _Plain = Wrapped._Plain
    /// Returns the values of a decoded run as the wrapped type. Used by `ResultsColumn`; not for direct use.
    ///
    /// - Complexity: As for the wrapped type, at most O(*n*) for *n* values.
    public static func _plain(_ vector: _ColumnVector) -> [Wrapped._Plain] { Wrapped._plain(vector) }
    /// Appends the values of a batch; an element without a value is appended as nil. Used by `ResultsColumn`; not for direct use.
    ///
    /// - Complexity: O(*n*) for *n* elements of the batch.
    public static func _append(_ batch: ColumnBatch<Wrapped?>, to values: inout [Wrapped?]) {
        var plain: [Wrapped] = []
        Wrapped._append(ColumnBatch<Wrapped>(values: batch.values), to: &plain)
        guard let present = batch.present else { return values.append(contentsOf: plain) }
        for (i, value) in plain.enumerated() { values.append(present[i] ? .some(value) : nil) }
    }
}

extension ColumnBatch {
    /// Creates a batch in which all elements count as present.
    init(values: [Value._Plain]) {
        self.values = values
        present = nil
    }
}
