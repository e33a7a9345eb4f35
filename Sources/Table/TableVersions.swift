import FirnBytes

/// The tables of all types at one version: immutable, usable from any thread.
package protocol TableVersion: AnyObject, Sendable {
    var schema: Schema { get }
    /// Returns the rows of a type, or nil if there is no such type.
    func rows(of type: String) -> (any RowTable)?
    /// Reads every byte of the version and compares it with its hash. Returns the first damage with the part that it concerns, or nil.
    func firstDefect() -> (part: String, damage: Damage)?
}

/// A transaction on tables. Its changes become visible to other readers together, when it is committed. For one thread.
package protocol TableTransaction: AnyObject {
    /// The types with the changes so far.
    var schema: Schema { get }
    /// Returns the version that the transaction began from.
    func versionBefore() throws(FirnError) -> any TableVersion
    /// Returns the rows of a type, which must exist, with the changes so far.
    func currentRows(of type: String) -> any RowTable

    /// Adds types, and columns to existing types.
    func extendSchema(_ types: [TypeSchema]) throws(FirnError)
    /// Replaces the columns of an existing type by those of `wanted`. Columns of the same name and type keep their values.
    func revise(_ wanted: TypeSchema) throws(FirnError)
    /// Replaces the key of a type: positions of columns, or none.
    func rekey(_ type: String, _ key: [Int]) throws(FirnError)
    /// Inserts a row and returns its row id.
    /// - Throws: `.duplicateKey`; nothing is changed.
    func insert(_ type: String, _ values: [Value]) throws(FirnError) -> Int64
    /// Replaces one value of a row.
    func update(_ type: String, rowID: Int64, column: String, _ value: Value) throws(FirnError)
    /// Deletes a row and its embedded objects.
    func delete(_ type: String, rowID: Int64) throws(FirnError)
    /// Removes all links to rows of a type: links become null, and elements of collections are removed.
    func deleteLinks(to type: String, rows: [Int64]) throws(FirnError)
}
