import FirnTable

/// The attributes of a column, a type or a file in several inputs. Metadata of all inputs is kept; if inputs have different values of one
/// key, the first is kept. A column keeps a logical type only if it has the same one in all inputs that have the column.
struct UnionAttributes {
    private var kept: [SchemaAttribute] = []
    private var positions: [String: Int] = [:]
    private var counts: [String: Int] = [:]
    private var inputs = 0
    /// The attributes of which inputs have different values, or which not all inputs have although they must.
    private var contested: Set<String> = []

    mutating func add(_ attributes: [SchemaAttribute]) {
        inputs += 1
        for attribute in attributes {
            counts[attribute.name, default: 0] += 1
            guard let known = positions[attribute.name] else {
                positions[attribute.name] = kept.count
                kept.append(attribute)
                continue
            }
            if kept[known].value != attribute.value { contested.insert(attribute.name) }
        }
    }

    private func describesValues(_ attribute: SchemaAttribute) -> Bool { !attribute.name.hasPrefix("meta:") }

    /// Whether an attribute that says what the values are is not the same in all inputs.
    private func isLost(_ attribute: SchemaAttribute) -> Bool {
        describesValues(attribute) && (counts[attribute.name] != inputs || contested.contains(attribute.name))
    }

    /// The attributes of the union.
    var united: [SchemaAttribute] { kept.filter { !isLost($0) } }

    /// What was left out, as parts of a remark.
    var losses: [String] {
        var losses: [String] = []
        if kept.contains(where: isLost) { losses.append("its logical type is not the same in all inputs, and is left out") }
        let keys = kept.filter { !describesValues($0) && contested.contains($0.name) }.map { "\"\($0.name.dropFirst(5))\"" }
        if !keys.isEmpty {
            losses.append("the metadata \(keys.joined(separator: ", ")) differs, and is that of the first input that has it")
        }
        return losses
    }
}
