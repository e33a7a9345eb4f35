/// A fault in stored bytes, with its offset. It is the only error that modules below `Firn` throw about the contents of a file.
@usableFromInline
package struct Damage: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault, as a clause that follows "damaged: ", such as "vector offset outside the chunk".
    @usableFromInline package var what: String
    /// The offset in bytes within the structure that was read, or within the file if `isPlaced` is set.
    @usableFromInline package var offset: UInt64
    /// Whether the bytes could not be read or unpacked, and so are not known to be damaged. A later attempt can succeed.
    @usableFromInline package var isUnread: Bool
    /// Whether the memory budget refused the memory that the bytes need (`MemoryBudget`). Then `isUnread` is set too, and `what` already
    /// names the column.
    @usableFromInline package var isBeyondMemory = false
    /// Whether the bytes have an id (of an encoding or a stream) that this program does not know. If the file has the feature bit of a newer
    /// encoding, it needs a newer version of Firn; otherwise it is damaged.
    @usableFromInline package var isUnknownID = false
    /// Whether the offset is relative to the file. Then enclosing structures do not shift it again.
    @usableFromInline package var isPlaced = false

    @inlinable
    package init(_ what: String, at offset: Int = 0, isUnread: Bool = false) {
        self.what = what
        self.offset = UInt64(clamping: offset)
        self.isUnread = isUnread
    }

    package init(_ what: String, beyondMemory: Bool) {
        self.init(what, isUnread: beyondMemory)
        isBeyondMemory = beyondMemory
    }

    /// Makes a fault about an id that this program does not know.
    package init(unknown what: String, at offset: Int = 0) {
        self.init("unknown " + what, at: offset)
        isUnknownID = true
    }

    /// Makes a fault at an offset within the file.
    package init(_ what: String, inFileAt offset: UInt64) {
        self.init(what, at: Int(clamping: offset))
        isPlaced = true
    }

    /// Returns the same fault; an unknown id is damage unless the file has feature bits that this program does not know.
    package func judged(hasUnknownEncodings: Bool) -> Damage {
        guard isUnknownID, !hasUnknownEncodings else { return self }
        var damage = self
        damage.isUnknownID = false
        return damage
    }

    /// Returns the same fault for a structure that begins at byte `base` of the file. An offset that is already relative to the file is
    /// kept.
    package func shifted(by base: UInt64) -> Damage {
        guard !isPlaced else { return self }
        var moved = self
        moved.offset &+= base
        moved.isPlaced = true
        return moved
    }

    /// Returns the same fault, preceded by the name of the structure that contains it: "the schema: …".
    package func naming(_ part: String) -> Damage {
        if isBeyondMemory { return self }
        var named = self
        named.what = "\(part): \(what)"
        return named
    }

    /// Returns the same fault, followed by an explanation in brackets.
    package func explained(_ how: String) -> Damage {
        if isBeyondMemory { return self }
        var longer = self
        longer.what += " (\(how))"
        return longer
    }

    @usableFromInline package var description: String {
        isBeyondMemory ? what : "\(isUnread ? "unread" : "damaged"): \(what) (byte \(offset))"
    }
}

/// Runs `body`. A `Damage` that it throws gets the name of the structure.
package func naming<R>(_ part: @autoclosure () -> String, _ body: () throws(Damage) -> R) throws(Damage) -> R {
    do throws(Damage) { return try body() } catch { throw error.naming(part()) }
}
