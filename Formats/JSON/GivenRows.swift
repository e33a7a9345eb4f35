import FirnBytes
import FirnExchange
import FirnTable

/// A requested type of rows, with the plans that check and fill its columns.
struct GivenRows: Sendable {
    let schema: Schema
    let type: TypeSchema
    private(set) var fields: [ColumnPlan.Field]

    /// - Throws: `FirnError.unsupported` for types that cannot be read from JSON, and `.schema` if a type is missing.
    init(_ given: GivenSchema) throws(FirnError) {
        schema = given.schema
        type = given.type
        fields = try GivenRows.fields(type, schema, inside: [])
    }

    /// Whether rows that are not objects can be of this type, because its only column is called `value`. Rows that are objects can be of it
    /// too.
    var mayBeBare: Bool { fields.count == 1 && fields[0].column == "value" }

    private static func fields(_ type: TypeSchema, _ schema: Schema, inside: [String]) throws(FirnError) -> [ColumnPlan.Field] {
        guard !inside.contains(type.name) else {
            throw FirnError(.unsupported, "the schema's type \"\(type.name)\" contains itself, and such objects cannot be read from JSON")
        }
        var fields: [ColumnPlan.Field] = []
        for column in type.columns {
            guard column.type.collection != .set || column.type.kind != .embedded else {
                throw FirnError(.unsupported, "the schema's column \"\(column.name)\" is a set of objects, which cannot be read from JSON")
            }
            var nested: [ColumnPlan.Field] = [], isBare = false
            if column.type.kind == .embedded {
                guard let target = column.type.target.flatMap({ schema[$0] }) else {
                    throw FirnError(.schema, "the schema's column \"\(column.name)\" has a type that is not in the schema")
                }
                isBare = target.isBare
                nested = try self.fields(target, schema, inside: inside + [type.name])
            }
            let leaf = ColumnPlan(
                ColumnType(column.type.kind, target: column.type.target), notation: column.notation, fields: nested, isBare: isBare,
                attributes: column.type.isCollection ? [] : column.otherAttributes)
            var whole = column.type
            whole.isOptional = false
            let plan =
                column.type.isCollection
                ? ColumnPlan(whole, notation: column.notation, element: leaf, attributes: column.otherAttributes) : leaf
            fields.append(
                .init(name: Array(column.name.utf8), column: column.name, plan: plan, isOptional: column.type.isOptional, writesNull: false)
            )
        }
        return fields
    }

    /// The name of the first column, if it can contain the keys of an object of objects: see `JSONReader`.
    var keyColumn: String? {
        guard let first = fields.first, first.plan.type == ColumnType(.string), !first.isOptional else { return nil }
        return first.column == "key" || first.column.hasPrefix("key_") ? first.column : nil
    }

    func withoutFirstColumn() -> GivenRows {
        var rest = self
        rest.fields.removeFirst()
        return rest
    }

    /// Whether a column is, or contains, links to rows of the type itself.
    var hasLinksToRows: Bool { GivenRows.hasLinks(fields, to: type.name) }

    private static func hasLinks(_ fields: [ColumnPlan.Field], to name: String) -> Bool {
        fields.contains { field in
            let leaf = field.plan.element ?? field.plan
            return (leaf.type.kind == .link && leaf.type.target == name) || hasLinks(leaf.fields, to: name)
        }
    }
}
