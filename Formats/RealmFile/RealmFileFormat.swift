import FirnBytes

/// Facts about the format of `.realm` files (`Formats/RealmFile/README.md`).
package enum RealmFileFormat {
    /// The number of bytes of the header.
    static let headerBytes = 24
    /// Precedes every node.
    static let nodeHeaderBytes = 8
    /// The last eight bytes of a file in streaming form.
    static let footerCookie: UInt64 = 0x3034_1252_37E5_26C8
    /// The maximum number of elements of a leaf, and of children of an inner node, of a B+tree.
    static let maximumTreeNode = 1000
    /// The maximum number of objects of a cluster, and of children of an inner node of a cluster tree.
    static let maximumCluster = 256
    /// The maximum depth of trees. Five levels of 256 hold more objects than a file can.
    static let maximumDepth = 100
    /// The prefix of the tables that hold the objects of classes.
    static let classPrefix = "class_"
    /// The version that the inactive top reference leads to, as in `app.realm@previous`.
    package static let previous = "previous"

    /// Returns whether files of this format version can be read. 12 to 19 were never used.
    static func isKnown(_ version: UInt8) -> Bool { 5...11 ~= version || 20...24 ~= version }
}
