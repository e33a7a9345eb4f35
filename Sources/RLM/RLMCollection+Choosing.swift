import FirnBytes
import Firn
import Foundation

/// Finding, filtering, sorting, aggregates, key-value coding.
extension RLMCollection {
    // MARK: Finding

    /// Returns the index of the first occurrence of an element, or `NSNotFound`. No managed collection contains an unmanaged object.
    public func index(of object: Any) -> UInt { position(wanted(object).flatMap { results.index(of: $0) }) }

    /// Managed only. Returns the index of the first element that matches a predicate in Firn's query language, or `NSNotFound`.
    public func indexOfObject(where predicateFormat: String, _ arguments: Any?...) -> UInt {
        position(managed().index(matching: predicateFormat, arguments: arguments.map { given($0) }))
    }

    /// As `indexOfObject(where:)`, but evaluates the predicate on each element. Also works on unmanaged arrays.
    public func indexOfObject(with predicate: NSPredicate) -> UInt {
        position(results.firstIndex { predicate.evaluate(with: shown($0.content)) })
    }

    // MARK: Choosing

    /// Managed only. Returns the elements that match a predicate in Firn's query language (`docs/guide/query.md`), live:
    /// `objects(where: "age > %@", 3)`.
    public func objects(where predicateFormat: String, _ arguments: Any?...) -> RLMResults<RLMObjectType> {
        RLMResults(choose(predicateFormat, arguments))
    }

    func choose(_ predicateFormat: String, _ arguments: [Any?]) -> Results<DynamicElement> {
        do { return try managed().filtered(predicateFormat, arguments.map { given($0) }) } catch { trap("\(error)") }
    }

    /// Managed only. Returns the elements that match a predicate, live. The predicate is evaluated on each element; predicates as text are
    /// much faster.
    public func objects(with predicate: NSPredicate) -> RLMResults<RLMObjectType> {
        RLMResults(managed().chosen { predicate.evaluate(with: shown($0.content)) })
    }

    // MARK: Ordering

    /// Managed only. Returns the elements sorted by a property, also of a linked object: `owner.name`.
    public func sortedResults(usingKeyPath keyPath: String, ascending: Bool) -> RLMResults<RLMObjectType> {
        sortedResults(using: [RLMSortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// Managed only. Returns the elements sorted by several keys. Without keys, the order is unchanged.
    public func sortedResults(using properties: [RLMSortDescriptor]) -> RLMResults<RLMObjectType> {
        RLMResults(managed().sorted(by: properties))
    }

    /// Managed only. Returns the first element of each combination of values. Elements whose key path contains a missing link are omitted.
    public func distinctResults(usingKeyPaths keyPaths: [String]) -> RLMResults<RLMObjectType> {
        RLMResults(managed().distinct(by: keyPaths))
    }

    // MARK: Sections

    /// Managed only. Returns the elements sorted by a key path, in sections by the keys that `keyBlock` returns.
    public func sectionedResultsSorted(usingKeyPath keyPath: String, ascending: Bool, keyBlock: @escaping RLMSectionedResultsKeyBlock)
        -> RLMSectionedResults<any RLMValue, RLMObjectType>
    {
        sectionedResults(using: [RLMSortDescriptor(keyPath: keyPath, ascending: ascending)], keyBlock: keyBlock)
    }

    /// Managed only. As above, sorted by several keys. The section's key must follow from the first one. Traps if there are none.
    public func sectionedResults(using sortDescriptors: [RLMSortDescriptor], keyBlock: @escaping RLMSectionedResultsKeyBlock)
        -> RLMSectionedResults<any RLMValue, RLMObjectType>
    {
        let results = managed()
        trap(unless: !sortDescriptors.isEmpty, "There must be at least one SortDescriptor when using SectionedResults.")
        return RLMSectionedResults(
            results.sectioned(sortDescriptors: sortDescriptors) { element in
                sectionKey(keyBlock(typed(element, as: Any.self)))
            })
    }

    // MARK: Figures

    /// Returns the minimum of a property of numbers or dates, also of a linked object, or nil if there is no value. For collections of
    /// values, use "self".
    public func min(ofProperty property: String) -> Any? { results.value(forKeyPath: "@min.\(property)") }
    /// Returns the maximum of a property, or nil if there is no value.
    public func max(ofProperty property: String) -> Any? { results.value(forKeyPath: "@max.\(property)") }
    /// Returns the sum of a property over all elements, or 0 if there is no value.
    public func sum(ofProperty property: String) -> NSNumber { number(results.value(forKeyPath: "@sum.\(property)")) ?? 0 }
    /// Returns the average of a property, or nil if there is no value.
    public func average(ofProperty property: String) -> NSNumber? { number(results.value(forKeyPath: "@avg.\(property)")) }

    private func number(_ value: Any?) -> NSNumber? {
        switch value {
        case let value as Int: NSNumber(value: value)
        case let value as Float: NSNumber(value: value)
        case let value as Double: NSNumber(value: value)
        case let value as Decimal128: NSDecimalNumber(decimal: value.decimalValue)
        default: nil
        }
    }

    // MARK: Keys

    /// Returns the values of a property of all elements: an array in the order of the collection, or a `Set<AnyHashable>` for a set. "self"
    /// stands for the elements themselves; for "@count" and others see `value(forKeyPath:)`.
    public func value(forKey key: String) -> Any? {
        guard key == "self" else { return shown(results.value(forKey: key)) }
        let elements: [Any?] = results.map(\.content)
        return shown(_makeSource().isSet ? Set(elements.map { $0 as? AnyHashable }) : elements)
    }

    /// As `value(forKey:)`, through links: `owner.name`. Also returns aggregates: `@count`, `@sum.age`, `@min.age`, `@max.age`, `@avg.age`.
    public func value(forKeyPath keyPath: String) -> Any? {
        keyPath == "self" ? value(forKey: keyPath) : shown(results.value(forKeyPath: keyPath))
    }

    /// Sets a property of every element.
    public func setValue(_ value: Any?, forKey key: String) {
        requireWrite("setValue(_:forKey:)")
        results.setValue(given(value), forKey: key)
    }
}

/// Converts the result of a key block to the type that Firn compares.
func sectionKey(_ key: (any RLMValue)?) -> AnyRealmValue {
    trap(unless: !(key is RLMObject), "Links are not supported as section keys.")
    guard let value = AnyRealmValue(untyped: given(key)) else {
        trap("\"\(key.map { "\($0)" } ?? "nil")\" cannot be the key of a section: return a value")
    }
    return value
}
