import FirnBytes
import FirnQuery
import FirnTable
import Foundation

/// The elements of another source for which a block returns true. The block is called for each element on first access, and again after
/// changes.
final class BlockSource<Element: RealmCollectionValue>: _CollectionSource {
    private let base: _CollectionSource
    private let isIncluded: (Element) -> Bool
    private var values: [Value] = []
    private var evaluated: UInt64?

    init(_ base: _CollectionSource, _ isIncluded: @escaping (Element) -> Bool) {
        self.base = base
        self.isIncluded = isIncluded
        super.init(base.shape)
        // Any thread may read a frozen source, so it is evaluated now.
        if base.core?.isFrozen ?? false { evaluate() }
    }

    override var core: RealmCore? { base.core }
    override var isInvalidated: Bool { base.isInvalidated }
    override var isReleased: Bool { base.isReleased }
    override var reportsInvalid: Bool { base.isReleased }

    private func evaluate() {
        core?.check()
        let stamp = base.stamp
        if evaluated == stamp { return }
        var found: [Value] = []
        var elements = RLMIterator<Element>(base)
        while let element = elements.next() {
            guard isIncluded(element) else { continue }
            if let object = element._firnObject { found.append(.link(object._rowID)) } else { found.append(element._stored(in: nil).value) }
        }
        values = found
        evaluated = stamp
    }

    override var count: Int {
        if base.isInvalidated { return 0 }
        evaluate()
        return values.count
    }

    override func value(_ index: Int) -> Value {
        evaluate()
        return values[index]
    }

    override func moved(to core: RealmCore) -> _CollectionSource? { base.moved(to: core).map { BlockSource($0, isIncluded) } }
}

extension RealmCollection {
    /// Returns the elements that match an `NSPredicate`. The results are live. Predicates from text (`NSPredicate(format:)`), and compound
    /// predicates of them, become queries. A block is evaluated for each element, and an object is created for each, which is much slower.
    /// Traps if text is not valid for the elements.
    public func filter(_ predicate: NSPredicate) -> Results<Element> where Element: RealmFetchable {
        let source = managedSource("filter")
        do {
            if let (syntax, arguments) = try predicate.query(on: source) {
                return Results(source.appending(QuerySyntax(syntax), arguments))
            }
        } catch { trap("\(error)") }
        return Results(BlockSource<Element>(source) { predicate.evaluate(with: $0) })
    }

    /// Returns the index of the first element that matches an `NSPredicate`; nil if there is none.
    ///
    /// - Complexity: O(*n*) for *n* elements.
    public func index(matching predicate: NSPredicate) -> Int? where Self: OrderedRealmCollection {
        self.requireOrder()
        return firstIndex { predicate.evaluate(with: $0) }
    }
}

extension MutableSet {
    /// Unavailable: a set has no positions. Use `contains(where:)` or `filter(_:)`.
    @available(*, unavailable, message: "sets have no positions: use contains(where:) or filter(_:)")
    public func index(matching predicate: NSPredicate) -> Int? { trap("unavailable") }
}
