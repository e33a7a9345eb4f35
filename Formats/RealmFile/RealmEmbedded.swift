import FirnBytes
import FirnTable

/// Embedded objects: links to objects of an embedded table, which become columns of fields in the owner's column.
extension RealmVersion {
    /// Objects nest at most this deep, as in `.firn` files.
    private static let maximumDepth = 256

    /// Returns the columns of objects at positions of a table.
    func columns(of slot: Int, _ positions: [Int], _ schema: Schema, depth: Int = 0) throws(Damage) -> [Column] {
        let table = tables[slot]!, type = schema[names[slot]!]!
        var out: [Column] = []
        for (column, shape) in zip(table.columns, type.columns) {
            var stored = Column(shape.type.stored)
            try read(column, of: table, positions, to: &stored)
            guard shape.type.kind == .embedded, let target = column.target else {
                out.append(stored)
                continue
            }
            out.append(try embedded(stored, shape, target, schema, depth: depth))
        }
        return out
    }

    private func embedded(_ links: Column, _ shape: ColumnSchema, _ target: Int, _ schema: Schema, depth: Int) throws(Damage) -> Column {
        var out = Column(shape.type)
        guard shape.type.isCollection else {
            try fill(&out, links, target, schema, depth: depth)
            return out
        }
        out.count = links.count
        out.present = links.present
        out.offsets = links.offsets
        if shape.type.collection == .map { out.children[0] = links.children[0] }
        try fill(&out.children[out.children.count - 1], links.children.last!, target, schema, depth: depth)
        return out
    }

    /// Fills a column of single objects.
    private func fill(_ out: inout Column, _ links: Column, _ target: Int, _ schema: Schema, depth: Int) throws(Damage) {
        var positions: [Int] = [], rows: [Int] = []
        for row in 0..<links.count {
            if links.isPresent(row) {
                rows.append(positions.count)
                positions.append(Int(links.words[row]))
            } else {
                rows.append(-1)
            }
        }
        out.count = links.count
        out.present = links.present
        let type = schema[names[target]!]!
        if positions.isEmpty {
            // The columns of all levels exist, even where no object is.
            out.children = type.columns.map { Column($0, in: schema, depth: max(0, Column.maximumNesting - depth - 1)) }
            for i in out.children.indices { out.children[i].appendNulls(links.count) }
            return
        }
        guard depth < RealmVersion.maximumDepth else {
            throw Damage("objects of type \"\(type.name)\" nest deeper than \(RealmVersion.maximumDepth) levels", at: 20)
        }
        try own(positions, of: target)
        out.children = try columns(of: target, positions, schema, depth: depth + 1)
        guard positions.count < rows.count else { return }
        for i in out.children.indices {
            out.children[i].appendNull()
            let null = out.children[i].count - 1
            out.children[i] = out.children[i].gather(rows.map { $0 < 0 ? null : $0 })
        }
    }

    /// Notes that objects have an owner. An object with two owners is damage; this also bounds the work for links that lead in circles.
    private func own(_ positions: [Int], of slot: Int) throws(Damage) {
        if owned[slot] == nil { owned[slot] = Bits(count: tables[slot]!.objects.count) }
        for position in positions {
            guard !owned[slot]![position] else {
                throw Damage(
                    "an embedded object of type \"\(names[slot] ?? "")\" has two owners", at: tables[slot]!.objects.offset(of: position))
            }
            owned[slot]![position] = true
        }
    }

    /// One sentence for each embedded type with objects that no object owns. Complete after all types were read.
    func orphans() -> [String] {
        tables.indices.compactMap { slot in
            guard let table = tables[slot], table.kind == .embedded, let name = names[slot] else { return nil }
            let count = table.objects.count - (owned[slot]?.ones ?? 0)
            return count == 0 ? nil : "\(count) object\(count == 1 ? "" : "s") of the embedded type \"\(name)\" without an owner left out"
        }
    }
}

extension RealmObjects {
    /// The offset of the node that contains an object.
    func offset(of position: Int) -> Int { leaves.isEmpty ? 0 : leaves[leaf(of: position)].ref }
}
