import FirnBytes
import FirnCommandLine
import FirnModel

/// A column that a type does not have.
func unknownColumn(_ name: String, of type: TypeSchema) -> FirnError {
    let names = type.columns.map(\.name)
    let near = Suggestion.nearest(to: name, among: names)
    let some = names.prefix(12).joined(separator: ", ") + (names.count > 12 ? ", …" : "")
    return FirnError(.usage, "\(type.name) has no column \"\(name)\"", advice: near.map { "did you mean \"\($0)\"?" } ?? "its columns are \(some)")
}

extension FirnError {
    /// Where a version is meant that is not there: with where to find those that are.
    func pointing(toLogOf path: String) -> FirnError {
        guard code == .notFound, advice == nil else { return self }
        var told = self
        told.advice = "'firn log \(path)' lists the versions that there are"
        return told
    }
}

/// A type that a file does not have.
func unknownType(_ name: String, in schema: Schema, of path: String) -> FirnError {
    let names = schema.roots.map(\.name)
    let near = Suggestion.nearest(to: name, among: names)
    return FirnError(.usage, "there is no type \"\(name)\"", at: .init(file: path),
                     advice: near.map { "did you mean \"\($0)\"?" } ?? "its types are \(names.joined(separator: ", "))")
}
