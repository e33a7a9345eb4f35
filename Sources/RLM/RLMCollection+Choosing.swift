import Firn
import Foundation

/// Choosing, ordering, figures, keys.
extension RLMCollection {
    // MARK: Finding

    /// Where an element first stands; `NSNotFound` if it is not there. An unmanaged object is in no managed collection.
    public func index(of object: Any) -> UInt { position(wanted(object).flatMap { results.index(of: $0) }) }

    /// Managed only. Where the first element stands that a predicate in Firn's query language holds for; `NSNotFound` if there is none.
    public func indexOfObject(where predicateFormat: String, _ arguments: Any?...) -> UInt { 
        position(managed().index(matching: predicateFormat, arguments: arguments.map { given($0) }))
    }

    /// As `indexOfObject(where:)`, asking each element; of unmanaged arrays too.
    public func indexOfObject(with predicate: NSPredicate) -> UInt { position(results.firstIndex { predicate.evaluate(with: shown($0.content)) }) }

    // MARK: Choosing

    /// Managed only. Those elements that a predicate in Firn's query language holds for (`docs/guide/query.md`): `objects(where: "age > %@", 3)`. Live.
    public func objects(where predicateFormat: String, _ arguments: Any?...) -> RLMResults<RLMObjectType> { RLMResults(choose(predicateFormat, arguments)) }

    func choose(_ predicateFormat: String, _ arguments: [Any?]) -> Results<DynamicElement> {
        do { return try managed().filtered(predicateFormat, arguments.map { given($0) }) } catch { preconditionFailure("\(error)") }
    }

    /// Managed only. Those elements that a predicate holds for, which is asked of them one by one: predicates as text are much faster. Live.
    public func objects(with predicate: NSPredicate) -> RLMResults<RLMObjectType> {
        RLMResults(managed().chosen { predicate.evaluate(with: shown($0.content)) })
    }

    // MARK: Ordering

    /// Managed only. By a property, or by one that links lead to: `owner.name`.
    public func sortedResults(usingKeyPath keyPath: String, ascending: Bool) -> RLMResults<RLMObjectType> {
        sortedResults(using: [RLMSortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// Managed only. By several keys; without any the order stays.
    public func sortedResults(using properties: [RLMSortDescriptor]) -> RLMResults<RLMObjectType> { RLMResults(managed().sorted(by: properties)) }

    /// Managed only. The first element of each combination of values; elements whose value lies behind a missing link are left out.
    public func distinctResults(usingKeyPaths keyPaths: [String]) -> RLMResults<RLMObjectType> { RLMResults(managed().distinct(by: keyPaths)) }

    // MARK: Sections

    /// Managed only. The elements in the order of a key path, in sections by what `keyBlock` gives for each.
    public func sectionedResultsSorted(usingKeyPath keyPath: String, ascending: Bool, keyBlock: @escaping RLMSectionedResultsKeyBlock) -> RLMSectionedResults<any RLMValue, RLMObjectType> {
        sectionedResults(using: [RLMSortDescriptor(keyPath: keyPath, ascending: ascending)], keyBlock: keyBlock)
    }

    /// Managed only. As above, in the order of several keys, of which the first must be the one that the section's key follows from.
    public func sectionedResults(using sortDescriptors: [RLMSortDescriptor], keyBlock: @escaping RLMSectionedResultsKeyBlock) -> RLMSectionedResults<any RLMValue, RLMObjectType> {
        let results = managed()
        precondition(!sortDescriptors.isEmpty, "There must be at least one SortDescriptor when using SectionedResults.")
        return RLMSectionedResults(results.sectioned(sortDescriptors: sortDescriptors) { element in
            sectionKey(keyBlock(typed(element, as: Any.self)))
        })
    }

    // MARK: Figures

    /// The least value of a property, or of one that links lead to; nil if there is none. Of values: "self". Numbers and dates only.
    public func min(ofProperty property: String) -> Any? { results.value(forKeyPath: "@min.\(property)") }
    /// The greatest value of a property; nil if there is none.
    public func max(ofProperty property: String) -> Any? { results.value(forKeyPath: "@max.\(property)") }
    /// The sum of a property, every element counted once; 0 if there is no value.
    public func sum(ofProperty property: String) -> NSNumber { number(results.value(forKeyPath: "@sum.\(property)")) ?? 0 }
    /// The average of a property; nil if there is no value.
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

    /// What each element holds under a key: an array in the collection's order, of a set a `Set<AnyHashable>`. "self": the elements themselves;
    /// "@count" and the like: see `value(forKeyPath:)`.
    public func value(forKey key: String) -> Any? {
        guard key == "self" else { return shown(results.value(forKey: key)) }
        let elements: [Any?] = results.map(\.content)
        return shown(_makeSource().isSet ? Set(elements.map { $0 as? AnyHashable }) : elements)
    }

    /// As `value(forKey:)`, through links: `owner.name`; one figure over all elements: `@count`, `@sum.age`, `@min.age`, `@max.age`, `@avg.age`.
    public func value(forKeyPath keyPath: String) -> Any? { keyPath == "self" ? value(forKey: keyPath) : shown(results.value(forKeyPath: keyPath)) }

    /// Sets a property of every element.
    public func setValue(_ value: Any?, forKey key: String) {
        requireWrite("setValue(_:forKey:)")
        results.setValue(given(value), forKey: key)
    }
}

/// What a key block gave, as Firn compares it.
func sectionKey(_ key: (any RLMValue)?) -> AnyRealmValue {
    precondition(!(key is RLMObject), "Links are not supported as section keys.")
    guard let value = AnyRealmValue(untyped: given(key)) else { preconditionFailure("'\(key.map { "\($0)" } ?? "nil")' cannot be the key of a section: give a value") }
    return value
}
