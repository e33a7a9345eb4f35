import FirnTable

extension Schema {
    /// Returns the schema of one type and of the embedded types of its columns; with `throughLinks`, also of the types that it links to.
    func reachable(from name: String, throughLinks: Bool = false) -> Schema {
        var wanted: Set<String> = [name], waiting = [name]
        while let next = waiting.popLast() {
            for column in self[next]?.columns ?? [] {
                if column.type.kind == .embedded || throughLinks, let target = column.type.target, wanted.insert(target).inserted {
                    waiting.append(target)
                }
            }
        }
        var schema = self
        schema.types = types.filter { wanted.contains($0.name) }
        return schema
    }

    /// Returns the schema with a type renamed, also as the target of columns.
    func renaming(_ name: String, to new: String) -> Schema {
        var schema = self
        schema.types = types.map { type in
            var type = type
            if type.name == name { type.name = new }
            for i in type.columns.indices where type.columns[i].type.target == name { type.columns[i].type.target = new }
            return type
        }
        return schema
    }
}
