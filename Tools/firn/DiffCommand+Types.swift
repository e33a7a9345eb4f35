import FirnBytes
import FirnChange
import FirnCommandLine
import FirnDisk
import FirnTable
import FirnThreads

/// Compares files with several types, type by type.
extension DiffCommand {
    /// Returns both files if all their types are compared: if they have several and none is chosen. Otherwise returns nil.
    func severalTypes(_ files: [OpenedFile]) throws(FirnError) -> [OpenedFile]? {
        guard files.allSatisfy({ $0.hasObjects && $0.union == nil && $0.address.type == nil }) else { return nil }
        let roots = files.map { Set($0.schema.roots.map(\.name)) }
        guard session.arguments.text("type") == nil, roots.contains(where: { $0.count > 1 }) else { return nil }
        var named = ["key", "columns", "ignore", "where", "rename"].first(where: session.arguments.has)
        let hasTolerances = try !DiffColumnFlags(session.arguments).tolerances.isEmpty
        if named == nil, hasTolerances { named = "tolerance" }
        if let flag = named {
            throw FirnError(
                .usage,
                "--\(flag) applies to one type, and there are several: \(roots[0].union(roots[1]).sorted().listed())",
                advice: "choose one with --type")
        }
        guard output.format != .csv else {
            throw FirnError(
                .usage, "CSV has one table, and there are several types: \(roots[0].union(roots[1]).sorted().listed())",
                advice: "choose one with --type, or use --format html")
        }
        return files
    }

    /// Compares the types of the new file, then the types that only the old file has.
    func compareAll(_ files: [OpenedFile], key: EncryptionKey?) throws(FirnError) -> ExitCode {
        let changes = try checkChanges(), names = session.arguments.operands
        let listed = files[1].schema.roots.map(\.name)
        var types: [ChangedType] = [], code = ExitCode.done
        for name in listed + files[0].schema.roots.map(\.name).filter({ !listed.contains($0) }) {
            let tables = try files.map { (file) throws(FirnError) in
                file.schema.roots.contains { $0.name == name } ? try file.table(name) : nil
            }
            let (type, differs) = try compare(name, tables[0], tables[1], names.map { "\($0):\(name)" })
            types.append(type)
            if differs { code = .no }
        }
        if let changes { try write(types, try options(names[0], names[1]), to: changes, key: key) }
        return code
    }

    private func compare(_ name: String, _ old: (any Table)?, _ new: (any Table)?, _ names: [String]) throws(FirnError) -> (
        ChangedType, differs: Bool
    ) {
        func key(_ table: any Table) -> [String] { table.type.key.map { table.type.columns[$0].name } }
        if let old, let new { try remarkTexts(old, new, names: (names[0], names[1]), key: []) }
        try remarkZones(zip([old, new], names).compactMap { table, name in table.map { ($0, name) } })
        // Rows can be matched only if both files have the same key: another key need not be unique in the other file.
        if let old, let new, !key(old).isEmpty, key(old) == key(new) {
            let difference = try TableDifference.compute(old: old, new: new, options: try options(names[0], names[1]))
            switch output.format {
            case .ndjson, .json: try out(name, old, new, same: nil)
            case .summary: try output.write(output.style.strong(DisplayWidth.visible(name)) + "\n")
            case .table, .csv, .markdown, .html: break
            }
            return (ChangedType(difference), try report(difference, names[0], names[1]) != .done)
        }
        // Without a key, rows are identified by position, and only whether all are equal is reported.
        var differs = true
        if let old, let new { differs = try hash(old) != hash(new) }
        if output.format == .ndjson || output.format == .json {
            try out(name, old, new, same: !differs)
        } else if differs {
            func side(_ table: (any Table)?) -> String { table.map { Quantity.count($0.rowCount, "row") } ?? "does not exist" }
            let facts = old != nil && new != nil ? "\(side(old)) → \(side(new)), without a common key" : "\(side(old)) → \(side(new))"
            switch output.format {
            case .markdown, .html:
                try output.heading((names[0], names[1]))
                try output.paragraph(facts)
            default: try output.write(output.style.yellow("~ type \(DisplayWidth.visible(name))") + ": \(facts)\n")
            }
        }
        return (ChangedType(old: old, new: new), differs)
    }

    /// Prints `{"kind":"type","name":…,"old":rows,"new":rows}` before the lines of a type. `same` is given if no lines follow.
    private func out(_ name: String, _ old: (any Table)?, _ new: (any Table)?, same: Bool?) throws(FirnError) {
        var line = JSONLine()
        line.add("kind", "type")
        line.add("name", name)
        line.add("old", old?.rowCount)
        line.add("new", new?.rowCount)
        if let same { line.add("same", same) }
        try output.line(line.object)
    }

    private func hash(_ table: any Table) throws(FirnError) -> Hash128 {
        var options = ContentHash.Options()
        options.threads = try session.threads()
        return try ContentHash(of: table, options: options).hash
    }
}
