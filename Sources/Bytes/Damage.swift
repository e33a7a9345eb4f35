/// What is wrong with stored bytes, and where. The only error that rooms below `Firn` throw about a file's contents.
@usableFromInline
package struct Damage: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault, as a clause that follows "damaged: ", such as "vector offset outside the chunk".
    @usableFromInline package var what: String
    /// Offset in bytes within the structure that was read (within the file once the store has placed it).
    @usableFromInline package var offset: UInt64
    /// Nothing is known against the bytes: it was the machine that could not read or unpack them, and may be able to later.
    @usableFromInline package var isUnread: Bool
    /// The memory budget refused what the bytes need (`MemoryBudget`): `isUnread` holds too, and `what` names the column already.
    @usableFromInline package var isBeyondMemory = false
    /// The offset is one of the file: no structure around it moves it once more.
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

    /// A fault at an offset of the file.
    package init(_ what: String, inFileAt offset: UInt64) {
        self.init(what, at: Int(clamping: offset))
        isPlaced = true
    }

    /// The same fault, where the structure that was read begins at byte `base` of the file. A fault that has an offset of the file keeps it.
    package func shifted(by base: UInt64) -> Damage {
        guard !isPlaced else { return self }
        var moved = self
        moved.offset &+= base
        moved.isPlaced = true
        return moved
    }

    /// The same fault, with the name of the structure that it is in: "the schema: …".
    package func naming(_ part: String) -> Damage {
        if isBeyondMemory { return self }
        var named = self
        named.what = "\(part): \(what)"
        return named
    }

    /// The same fault, with an explanation in brackets.
    package func explained(_ how: String) -> Damage {
        if isBeyondMemory { return self }
        var longer = self
        longer.what += " (\(how))"
        return longer
    }

    @usableFromInline package var description: String { isBeyondMemory ? what : "\(isUnread ? "unread" : "damaged"): \(what) (byte \(offset))" }
}

/// Runs `body`; what it finds damaged is told with the name of the structure.
package func naming<R>(_ part: @autoclosure () -> String, _ body: () throws(Damage) -> R) throws(Damage) -> R {
    do throws(Damage) { return try body() } catch { throw error.naming(part()) }
}
