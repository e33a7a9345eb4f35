import FirnBytes
import FirnTable
import Synchronization

/// Elements in sections by a key, shared by `SectionedResults` and its sections. They are evaluated on first access, and again after
/// changes; each evaluation requests the key of each element once.
final class SectionSource<Key: _Persistable & Hashable, Element: RealmCollectionValue> {
    struct Section {
        let key: Key
        /// The row ids of objects; the values of all other elements.
        var rows: [Int64] = []
        var values: [Value] = []
        var count: Int { rows.count + values.count }
    }
    /// The elements in the order of the sort descriptors.
    let elements: _CollectionSource
    let keyBlock: (Element) -> Key
    private var known: [Section] = []
    private var indexes: [Key: Int] = [:]
    private var evaluated: UInt64?

    init(_ elements: _CollectionSource, _ keyBlock: @escaping (Element) -> Key) {
        let kind = Key._shape.type
        trap(unless: kind.kind != .link && kind.kind != .embedded && !kind.isCollection, "Links are not supported as section keys.")
        self.elements = elements
        self.keyBlock = keyBlock
        // Any thread may read a frozen source, so its sections are evaluated now.
        if elements.core?.isFrozen ?? false { evaluate() }
    }

    var core: RealmCore { elements.managedCore }
    var isInvalidated: Bool { elements.isInvalidated }

    var sections: [Section] {
        core.check()
        if isInvalidated { return [] }
        if !core.isFrozen, evaluated != core.changeStamp { evaluate() }
        return known
    }

    func section(_ key: Key) -> Section? {
        let sections = sections
        return indexes[key].flatMap { sections.indices.contains($0) ? sections[$0] : nil }
    }

    private func evaluate() {
        known = []
        indexes = [:]
        let isObject = elements.shape.target != nil
        // The stamp from before the evaluation: if the key block makes changes, the sections are evaluated again.
        let stamp = core.changeStamp
        if isObject {
            let rows = elements.rowIDs()
            for row in rows {
                guard let element: Element = elements.object(ofRow: row) else { continue }
                let section = sectionIndex(of: keyBlock(element))
                known[section].rows.append(row)
            }
        } else {
            for index in 0..<elements.count {
                let value = elements.value(index)
                let section = sectionIndex(of: keyBlock(elements.element(value)))
                known[section].values.append(value)
            }
        }
        evaluated = stamp
    }

    /// Returns the index of the section of a key; a new section is appended.
    private func sectionIndex(of key: Key) -> Int {
        if let index = indexes[key] { return index }
        indexes[key] = known.count
        known.append(Section(key: key))
        return known.count - 1
    }

    func moved(to core: RealmCore) -> SectionSource? { elements.moved(to: core).map { SectionSource($0, keyBlock) } }
}

/// The elements of the section with a key, at whatever position the section is.
final class SectionPart<Key: _Persistable & Hashable, Element: RealmCollectionValue>: _CollectionSource {
    let sections: SectionSource<Key, Element>
    let key: Key

    init(_ sections: SectionSource<Key, Element>, _ key: Key) {
        self.sections = sections
        self.key = key
        super.init(sections.elements.shape)
    }

    override var core: RealmCore? { sections.core }
    override var isInvalidated: Bool { sections.isInvalidated || sections.section(key) == nil }

    private var section: SectionSource<Key, Element>.Section {
        guard let section = sections.section(key) else {
            trap("Access to invalidated Results objects: no element has the section's key.")
        }
        return section
    }

    override var count: Int { section.count }
    override func value(_ index: Int) -> Value { shape.target != nil ? .link(section.rows[index]) : section.values[index] }
    override func rowIDs() -> [Int64] { section.rows }
    override func moved(to core: RealmCore) -> _CollectionSource? { sections.moved(to: core).map { SectionPart($0, key) } }
    override func isSame(as other: _CollectionSource) -> Bool {
        guard let other = other as? SectionPart else { return false }
        return other.sections === sections && other.key == key
    }
}
