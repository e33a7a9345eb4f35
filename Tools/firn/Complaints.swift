import FirnBytes
import FirnCommandLine
import FirnTable

/// The error for a column that a type does not have, with the nearest name as advice.
func unknownColumn(_ name: String, of type: TypeSchema, in file: String? = nil) -> FirnError {
    let names = type.visible.columns.map(\.name)
    return FirnError(
        .usage, "type \"\(type.name)\" has no column \"\(name)\"", at: file.map { .init(file: $0) },
        advice: Suggestion.question(for: name, among: names) ?? "its columns are \(names.listed())")
}

extension FirnError {
    /// Returns the error for a version or tag that a file does not have: the command line names it, so the error is `.usage`, as for types
    /// and columns. Adds advice to list the versions. Other errors are returned unchanged.
    func pointing(toLogOf path: String) -> FirnError {
        guard code == .notFound else { return self }
        var advised = self
        advised.code = .usage
        advised.advice = advice ?? "'firn log \(path)' lists the versions"
        return advised
    }
}

/// The error for a type that a file does not have, with the nearest name as advice.
func unknownType(_ name: String, in schema: Schema, of path: String) -> FirnError {
    let names = schema.roots.map(\.name)
    let near = Suggestion.nearest(to: name, among: names)
    return FirnError(
        .usage, "there is no type \"\(name)\"", at: .init(file: path),
        advice: near.map { "did you mean \"\($0)\"?" }
            ?? "its \(names.count == 1 ? "type is" : "types are") \(names.listed())")
}
