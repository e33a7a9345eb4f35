import FirnBytes
import FirnModel
import Foundation

/// What the fast path of property reads looks at: one for each type of an open realm, at a fixed address while the realm lives.
@usableFromInline
struct AccessState {
    /// The one thread that may take the fast path; 0: none (frozen realms, and those of queues and actors, whose thread changes).
    @usableFromInline var thread: UInt
    /// Grows whenever rows may stand elsewhere than they did.
    @usableFromInline var generation: UInt32 = 1
    /// One for each column.
    @usableFromInline var windows: UnsafeMutablePointer<ColumnWindow>
    /// It keeps the state, or is retired and stands for the one that did.
    var access: Unmanaged<TypeAccess>
}

/// The vector of a column that was decoded last.
@usableFromInline
struct ColumnWindow {
    /// Segment in the high half, vector in the low half; -1: none.
    @usableFromInline var key = -1
    /// The vector that was asked for last without being decoded: asked for twice, it is.
    var missed = -1
    /// The values of columns of ints, bools and links, and of reals; 1,024 each. Zero where there is none.
    @usableFromInline var words: UnsafeMutablePointer<Int64>?
    @usableFromInline var reals: UnsafeMutablePointer<Double>?
    /// A bit a row; nil: all are there.
    @usableFromInline var present: UnsafeMutablePointer<UInt64>?
    /// The second halves of dates, decimals and identifiers, whose first are `words`.
    var extra: UnsafeMutablePointer<Int64>?
    /// Of text: the bytes one after the other, and where each begins; one more for the last one's end.
    var bytes: UnsafeMutablePointer<UInt8>?
    var starts: UnsafeMutablePointer<Int>?

    @inlinable @inline(__always)
    func isPresent(_ row: Int) -> Bool {
        guard let present else { return true }
        return present[row >> 6] >> UInt64(row & 63) & 1 != 0
    }

    /// The bytes of a row of a column of text.
    func text(_ row: Int) -> UnsafeBufferPointer<UInt8> {
        let start = starts.unsafelyUnwrapped[row]
        return UnsafeBufferPointer(start: bytes.map { $0 + start }, count: starts.unsafelyUnwrapped[row &+ 1] &- start)
    }
}

extension ObjectBase {
    /// Where the value in a column of a managed object was decoded to; nil: ask the slow way.
    @inlinable @inline(__always)
    final func _window(_ column: Int) -> UnsafeMutablePointer<ColumnWindow>? {
        guard let state = _state, state.pointee.thread == currentThread(), state.pointee.generation == _generation else { return nil }
        let window = state.pointee.windows + column
        return window.pointee.key == Int(_segment) << 32 | Int(_position) >> 10 ? window : nil
    }

    /// The number, bool or row id in a column of a managed object; 0 where there is none.
    @inlinable @inline(__always)
    public final func _word(_ column: Int) -> Int64 {
        if let window = _window(column) { return window.pointee.words.unsafelyUnwrapped[Int(_position) & 1023] }
        return _slowWord(column) ?? 0
    }

    @inlinable
    public final func _optionalWord(_ column: Int) -> Int64? {
        guard let window = _window(column) else { return _slowWord(column) }
        let row = Int(_position) & 1023
        return window.pointee.isPresent(row) ? window.pointee.words.unsafelyUnwrapped[row] : nil
    }

    @inlinable @inline(__always)
    public final func _real(_ column: Int) -> Double {
        if let window = _window(column) { return window.pointee.reals.unsafelyUnwrapped[Int(_position) & 1023] }
        return _slowReal(column) ?? 0
    }

    @inlinable
    public final func _optionalReal(_ column: Int) -> Double? {
        guard let window = _window(column) else { return _slowReal(column) }
        let row = Int(_position) & 1023
        return window.pointee.isPresent(row) ? window.pointee.reals.unsafelyUnwrapped[row] : nil
    }

    /// The text in a column of strings; nil where there is none.
    final func _text(_ column: Int) -> String? {
        guard let window = _window(column) else {
            if case .string(let text) = _value(column) { return text }
            return nil
        }
        let row = Int(_position) & 1023
        return window.pointee.isPresent(row) ? String(decoding: window.pointee.text(row), as: UTF8.self) : nil
    }

    /// The bytes in a column of data; nil where there are none.
    final func _bytes(_ column: Int) -> Data? {
        guard let window = _window(column) else {
            if case .data(let bytes) = _value(column) { return Data(bytes) }
            return nil
        }
        let row = Int(_position) & 1023
        return window.pointee.isPresent(row) ? Data(buffer: window.pointee.text(row)) : nil
    }

    /// Both halves of a date, decimal or identifier, as its column has them; nil where it has to be asked for as a value, or there is none.
    @inline(__always)
    final func _pair(_ column: Int) -> (Int64, Int64)? {
        guard let window = _window(column), let words = window.pointee.words, let extra = window.pointee.extra else { return nil }
        let row = Int(_position) & 1023
        return window.pointee.isPresent(row) ? (words[row], extra[row]) : nil
    }

    @usableFromInline
    final func _slowWord(_ column: Int) -> Int64? {
        _settled { access in access.reading(nil) { () throws(Damage) in try access.word(_segment, _position, column) } }
    }

    @usableFromInline
    final func _slowReal(_ column: Int) -> Double? {
        _settled { access in access.reading(nil) { () throws(Damage) in try access.real(_segment, _position, column) } }
    }

    /// Any value; embedded objects as links, collections whole.
    final func _value(_ column: Int) -> Value {
        _settled { access in access.reading(.null) { () throws(Damage) in try access.value(_segment, _position, column) } }
    }

    /// Checks that the object may be used here and now, and finds its row at the realm's version.
    @discardableResult
    final func _settled() -> TypeAccess { _settled { $0 } }

    /// As above, and lets `body` use the columns, whose realm the object keeps: counting more references than that costs more than a read.
    @inline(__always)
    private final func _settled<R>(_ body: (TypeAccess) -> R) -> R {
        guard let state = _state else { preconditionFailure("this object is not managed by a realm") }
        return state.pointee.access._withUnsafeGuaranteedRef { access in
            if state.pointee.thread != currentThread() { access.check() }
            if state.pointee.generation != _generation { findRow(access) }
            return body(access)
        }
    }

    private final func findRow(_ access: TypeAccess) {
        let found = access.isRetired ? nil : access.place(of: _rowID)
        guard found != nil || access.holds(_rowID) else { preconditionFailure("Object has been deleted or invalidated.") }
        // Of a damaged file: it stands nowhere.
        let place = found ?? (-1, 0)
        _segment = Int32(truncatingIfNeeded: place.segment)
        _position = Int32(truncatingIfNeeded: place.position)
        _generation = access.state.pointee.generation
    }

    // MARK: Writing

    @usableFromInline
    final func _setWord(_ column: Int, _ value: Int64) {
        _settled { access in access.write(column) { (rows) throws(FirnError) in try rows.setWord(_rowID, column, value) } }
    }

    @usableFromInline
    final func _setReal(_ column: Int, _ value: Double) {
        _settled { access in access.write(column) { (rows) throws(FirnError) in try rows.setReal(_rowID, column, value) } }
    }

    final func _setText(_ column: Int, _ value: String) {
        _settled { access in access.write(column) { (rows) throws(FirnError) in try rows.setText(_rowID, column, value) } }
    }

    final func _set(_ column: Int, _ value: Value) {
        _settled { access in access.write(column) { (rows) throws(FirnError) in try rows.set(_rowID, column, value) } }
    }
}
