import FirnBytes
import FirnExchange
import FirnModel

/// A type of rows that was asked for, as the plans that check and fill its columns.
struct GivenRows: Sendable {
    let schema: Schema
    let type: TypeSchema
    private(set) var fields: [Plan.Field]

    /// Throws `.unsupported` for types that no JSON is read as.
    init(_ given: GivenSchema) throws(FirnError) {
        schema = given.schema
        type = given.type
        fields = try GivenRows.fields(type, schema, inside: [])
    }

    /// A type whose only column is called `value` is that of rows that are no objects, unless they are objects all the same.
    var mayBeBare: Bool { fields.count == 1 && fields[0].column == "value" }

    private static func fields(_ type: TypeSchema, _ schema: Schema, inside: [String]) throws(FirnError) -> [Plan.Field] {
        guard !inside.contains(type.name) else {
            throw FirnError(.unsupported, "the schema's type \"\(type.name)\" holds itself, and such objects are not read from JSON")
        }
        var fields: [Plan.Field] = []
        for column in type.columns {
            guard column.type.collection != .set || column.type.kind != .embedded else {
                throw FirnError(.unsupported, "the schema's column \"\(column.name)\" is a set of objects, which are not read from JSON")
            }
            var nested: [Plan.Field] = []
            if column.type.kind == .embedded {
                guard let target = column.type.target.flatMap({ schema[$0] }) else {
                    throw FirnError(.schema, "the schema's column \"\(column.name)\" is of a type that it does not hold")
                }
                nested = try self.fields(target, schema, inside: inside + [type.name])
            }
            let leaf = Plan(ColumnType(column.type.kind, target: column.type.target), notation: column.notation, fields: nested)
            var whole = column.type
            whole.isOptional = false
            let plan = column.type.isCollection ? Plan(whole, notation: column.notation, element: leaf) : leaf
            fields.append(.init(name: Array(column.name.utf8), column: column.name, plan: plan, isOptional: column.type.isOptional, writesNull: false))
        }
        return fields
    }

    /// The name of the first column, if it can be that of the keys of an object of objects: see `JSONReader`.
    var keyColumn: String? {
        guard let first = fields.first, first.plan.type == ColumnType(.string), !first.isOptional else { return nil }
        return first.column == "key" || first.column.hasPrefix("key_") ? first.column : nil
    }

    func withoutFirstColumn() -> GivenRows {
        var rest = self
        rest.fields.removeFirst()
        return rest
    }

    /// Whether a column is, or holds, links to rows of the type itself.
    var hasLinksToRows: Bool { GivenRows.hasLinks(fields, to: type.name) }

    private static func hasLinks(_ fields: [Plan.Field], to name: String) -> Bool {
        fields.contains { field in
            let leaf = field.plan.element ?? field.plan
            return (leaf.type.kind == .link && leaf.type.target == name) || hasLinks(leaf.fields, to: name)
        }
    }
}
