import FirnBytes

/// A table whose rows can be read one by one in stored form: embedded objects are links to rows of their own.
package protocol RowTable: Table {
    /// Returns the segment and position of a live row, or nil if there is none with this id.
    func place(of rowID: Int64) throws(Damage) -> (segment: Int, position: Int)?
    /// Returns one value of a row, embedded objects as links.
    /// - Throws: `.notFound` if the row does not exist.
    func storedValue(_ rowID: Int64, _ column: Int) throws(FirnError) -> Value
    /// Returns a bool, int or link (also of an embedded object) at a position, or nil for null. Nothing is boxed.
    func word(_ segment: Int, _ position: Int, _ column: Int) throws(Damage) -> Int64?
    /// Returns a float or double at a position, or nil for null. Nothing is boxed.
    func real(_ segment: Int, _ position: Int, _ column: Int) throws(Damage) -> Double?
}

extension RowTable {
    /// Returns whether there is a live row with this id.
    package func isLive(_ rowID: Int64) throws(Damage) -> Bool { try place(of: rowID) != nil }
}
