import FirnTable

/// Returns a value whose embedded objects have no names of fields, because readers of single values and of columns give them different ones.
package func stripped(_ value: Value) -> Value {
    switch value {
    case .object(let entries): .object(entries.map { .init("", stripped($0.value)) })
    case .list(let values): .list(values.map(stripped))
    case .map(let entries): .map(entries.map { .init($0.key, stripped($0.value)) })
    default: value
    }
}
