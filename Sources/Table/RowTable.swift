import FirnBytes

/// A table whose rows can be read one by one in stored form: embedded objects are links to rows of their own.
package protocol RowTable: Table {
    /// Returns the location of a live row, or nil if there is none with this id.
    func location(of rowID: Int64) throws(Damage) -> RowLocation?
    /// Returns one value of a row, embedded objects as links.
    /// - Throws: `.notFound` if the row does not exist.
    func storedValue(_ rowID: Int64, _ column: Int) throws(FirnError) -> Value
    /// Returns a bool, int or link (also of an embedded object) at a location, or nil for null. Nothing is boxed.
    func word(at location: RowLocation, _ column: Int) throws(Damage) -> Int64?
    /// Returns a float or double at a location, or nil for null. Nothing is boxed.
    func real(at location: RowLocation, _ column: Int) throws(Damage) -> Double?
}

extension RowTable {
    /// Returns whether there is a live row with this id.
    package func isLive(_ rowID: Int64) throws(Damage) -> Bool { try location(of: rowID) != nil }
}
