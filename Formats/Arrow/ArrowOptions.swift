/// Options for reading Arrow.
package struct ArrowOptions: Sendable {
    /// The name of the type of the rows.
    package var typeName: String
    /// Whether the rows get the name of the type that they were written from, if the file has it.
    package var keepsTypeName = false
    /// Whether the file is read together with the others of its folder: links to their types are links then.
    package var readsFolder = false
    /// The columns that are needed, or paths of fields within them; nil for all. If the file lacks one of them, all are read.
    package var columns: [String]?
    package var threads = 1
    /// Whether input from a pipe must not be written to disk.
    package var staysOffDisk = false
    /// The maximum number of rows of a batch.
    package var batchRows = 65_536

    package init(typeName: String) { self.typeName = typeName }
}
