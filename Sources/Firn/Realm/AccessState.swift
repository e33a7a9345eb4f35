import FirnBytes
import FirnTable
import Foundation

/// The state that the fast path of property reads uses. Each type of an open realm has one, at a fixed address while the realm lives.
@usableFromInline
struct AccessState {
    /// The only thread that may take the fast path; 0 if none may: in frozen realms, and in realms of queues and actors, whose thread
    /// changes.
    @usableFromInline var thread: UInt
    /// Increases whenever the positions of rows may have changed.
    @usableFromInline var generation: UInt32 = 1
    /// One window for each column.
    @usableFromInline var windows: UnsafeMutablePointer<ColumnWindow>
    /// The access that owns the state, or a retired access in place of the one that owned it.
    var access: Unmanaged<TypeAccess>
}

/// The vector of a column that was decoded last.
@usableFromInline
struct ColumnWindow {
    /// The segment in the high half and the vector in the low half; -1 if no vector is decoded.
    @usableFromInline var key = -1
    /// The vector that was requested last without being decoded. The second request in a row decodes it.
    var missed = -1
    /// 1,024 values each: `words` of columns of integers, booleans and links, `reals` of columns of floats. Null is stored as zero.
    @usableFromInline var words: UnsafeMutablePointer<Int64>?
    @usableFromInline var reals: UnsafeMutablePointer<Double>?
    /// One bit for each row; nil if every row has a value.
    @usableFromInline var present: UnsafeMutablePointer<UInt64>?
    /// The second halves of dates, decimals and identifiers. The first halves are in `words`.
    var extra: UnsafeMutablePointer<Int64>?
    /// The bytes of text or data of all rows, and the offset at which each row begins, followed by the end of the last row.
    var bytes: UnsafeMutablePointer<UInt8>?
    var starts: UnsafeMutablePointer<Int>?

    @inlinable @inline(__always)
    func isPresent(_ row: Int) -> Bool {
        guard let present else { return true }
        return present[row >> 6] >> UInt64(row & 63) & 1 != 0
    }

    /// Returns the bytes of a row of a text or data column.
    func text(_ row: Int) -> UnsafeBufferPointer<UInt8> {
        let start = starts.unsafelyUnwrapped[row]
        return UnsafeBufferPointer(start: bytes.map { $0 + start }, count: starts.unsafelyUnwrapped[row &+ 1] &- start)
    }
}

extension ObjectBase {
    /// Returns the window with the decoded value of a column of a managed object, or nil if the slow path must read the value.
    @inlinable @inline(__always)
    final func _window(_ column: Int) -> UnsafeMutablePointer<ColumnWindow>? {
        guard let state = _state, state.pointee.thread == currentThread(), state.pointee.generation == _generation else { return nil }
        let window = state.pointee.windows + column
        return window.pointee.key == Int(_segment) << 32 | Int(_position) >> 10 ? window : nil
    }

    /// Returns the number, boolean or row id in a column of a managed object, or 0 if it is null.
    @inlinable @inline(__always)
    public final func _word(_ column: Int) -> Int64 {
        if let window = _window(column) { return window.pointee.words.unsafelyUnwrapped[Int(_position) & 1023] }
        return _slowWord(column) ?? 0
    }

    /// Returns the number, boolean or row id in a column of a managed object, or nil if it is null.
    @inlinable
    public final func _optionalWord(_ column: Int) -> Int64? {
        guard let window = _window(column) else { return _slowWord(column) }
        let row = Int(_position) & 1023
        return window.pointee.isPresent(row) ? window.pointee.words.unsafelyUnwrapped[row] : nil
    }

    /// Returns the float in a column of a managed object, or 0 if it is null.
    @inlinable @inline(__always)
    public final func _real(_ column: Int) -> Double {
        if let window = _window(column) { return window.pointee.reals.unsafelyUnwrapped[Int(_position) & 1023] }
        return _slowReal(column) ?? 0
    }

    /// Returns the float in a column of a managed object, or nil if it is null.
    @inlinable
    public final func _optionalReal(_ column: Int) -> Double? {
        guard let window = _window(column) else { return _slowReal(column) }
        let row = Int(_position) & 1023
        return window.pointee.isPresent(row) ? window.pointee.reals.unsafelyUnwrapped[row] : nil
    }

    /// Returns the text in a column of strings, or nil if it is null.
    final func _text(_ column: Int) -> String? {
        guard let window = _window(column) else {
            if case .string(let text) = _value(column) { return text }
            return nil
        }
        let row = Int(_position) & 1023
        return window.pointee.isPresent(row) ? String(decoding: window.pointee.text(row), as: UTF8.self) : nil
    }

    /// Returns the bytes in a column of data, or nil if it is null.
    final func _bytes(_ column: Int) -> Data? {
        guard let window = _window(column) else {
            if case .data(let bytes) = _value(column) { return Data(bytes) }
            return nil
        }
        let row = Int(_position) & 1023
        return window.pointee.isPresent(row) ? Data(buffer: window.pointee.text(row)) : nil
    }

    /// Returns both halves of a date, decimal or identifier as its column stores them. Returns nil if it is null or must be read with
    /// `_value`.
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

    /// Returns any value: an embedded object as a link, a collection with all its elements.
    final func _value(_ column: Int) -> Value {
        _settled { access in access.reading(.null) { () throws(Damage) in try access.value(_segment, _position, column) } }
    }

    /// Traps unless the object may be used on this thread, and finds its row at the realm's version.
    @discardableResult
    final func _settled() -> TypeAccess { _settled { $0 } }

    /// As above, and calls `body` with the access. The object keeps the realm alive: counting more references would cost more than a read.
    @inline(__always)
    private final func _settled<R>(_ body: (TypeAccess) -> R) -> R {
        guard let state = _state else { trap("this object is not managed by a realm") }
        return state.pointee.access._withUnsafeGuaranteedRef { access in
            if state.pointee.thread != currentThread() { access.check() }
            if state.pointee.generation != _generation { findRow(access) }
            return body(access)
        }
    }

    private final func findRow(_ access: TypeAccess) {
        let found = access.isRetired ? nil : access.position(of: _rowID)
        guard found != nil || access.holds(_rowID) else { trap("Object has been deleted or invalidated.") }
        // In a damaged file the row may not be found. Then it has no position.
        let row = found ?? (-1, 0)
        _segment = Int32(truncatingIfNeeded: row.segment)
        _position = Int32(truncatingIfNeeded: row.position)
        _generation = access.state.pointee.generation
    }

    // MARK: Writing

    @usableFromInline
    final func _setWord(_ column: Int, _ value: Int64) {
        _settled { access in access.write(column) { (rows) throws(FirnError) in try rows.setWord(ofRow: _rowID, column, to: value) } }
    }

    @usableFromInline
    final func _setReal(_ column: Int, _ value: Double) {
        _settled { access in access.write(column) { (rows) throws(FirnError) in try rows.setReal(ofRow: _rowID, column, to: value) } }
    }

    final func _setText(_ column: Int, _ value: String) {
        _settled { access in access.write(column) { (rows) throws(FirnError) in try rows.setText(_rowID, column, value) } }
    }

    final func _set(_ column: Int, _ value: Value) {
        _settled { access in access.write(column) { (rows) throws(FirnError) in try rows.set(_rowID, column, value) } }
    }
}
