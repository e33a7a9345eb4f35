import FirnBytes
import FirnTable

/// The objects that link to this one through one of their properties: the inverse of a link. They are in the order of their type's rows; an
/// object with several links to this one occurs once for each link. Inverse links are computed on access and never stored.
///
///     class Dog: Object { @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person> }
@dynamicMemberLookup
public struct LinkingObjects<Element: ObjectBase & RealmCollectionValue>: OrderedRealmCollection, _LinkingProperty {
    let origin: String
    private let known: _CollectionSource?
    /// The instance of a property that is declared without `@Persisted`; nil otherwise.
    private let declared: Declared?
    var linking: _CollectionSource? { known ?? declared?.source }
    private var recording: KeyPathRecorder?
    /// See `KeyPathRecorder`.
    var recorder: KeyPathRecorder? {
        get { recording ?? declared?.recorder }
        set { recording = newValue }
    }

    /// What all copies of a declared property share.
    private final class Declared {
        var bound: RowProperty?
        var found: _CollectionSource?
        var recorder: KeyPathRecorder?

        var source: _CollectionSource? {
            if let found { return found }
            guard let bound else { return nil }
            found = LinkingObjects.source(bound.object._managedAccess, bound.object._rowID, bound.column)
            return found
        }
    }

    /// The inverse of the property `propertyName` of `type`.
    public init(fromType type: Element.Type, property propertyName: String) {
        origin = propertyName
        known = nil
        declared = Declared()
    }

    init(origin: String, _ source: _CollectionSource?) {
        self.origin = origin
        known = source
        declared = nil
    }

    /// Returns the origin of the elements; for the inverse of an unmanaged object, an origin without elements. Used by the members of
    /// collections; not for direct use.
    public func _makeSource() -> _CollectionSource { linking ?? UnmanagedSource<Element>([]) }
    /// Returns the inverse of the same property with another source. Used by the members of collections; not for direct use.
    public func _with(_ source: _CollectionSource) -> LinkingObjects { LinkingObjects(origin: origin, source) }
    var _origin: String { origin }

    /// The number of links to the object; 0 if the object was deleted.
    public var count: Int { linking.map { $0.isInvalidated ? 0 : $0.count } ?? 0 }

    /// The element at a position. Traps if the position is out of bounds.
    public subscript(position: Int) -> Element {
        let count = count
        guard let linking, position >= 0, position < count else {
            trap("Index \(position) is out of bounds (must be less than \(count)).")
        }
        return element(linking.value(position), linking.core)
    }

    /// Returns whether both are the same inverse of the same object. Inverses of one property of unmanaged objects, which are empty, are
    /// equal.
    public static func == (a: LinkingObjects, b: LinkingObjects) -> Bool {
        if a.linking == nil, b.linking == nil { return a.origin == b.origin }
        return a.isSameCollection(as: b)
    }
    /// Hashes the name of the origin property. Inverses of one property have the same hash, whatever their object.
    public func hash(into hasher: inout Hasher) { hasher.combine(origin) }
}

extension LinkingObjects: _Persistable {
    /// The type of one element. The property has no column. Used by `@Persisted`; not for direct use.
    public static var _shape: _Shape {
        var shape = Element._elementShape
        shape.isLinking = true
        return shape
    }
    /// Returns an inverse without a property, which is empty. Used by `@Persisted`; not for direct use.
    public static func _initial() -> LinkingObjects { LinkingObjects(origin: "", nil) }
    /// Returns the objects that link to a managed object. They are found when the result is read. Traps if the origin property does not
    /// exist or does not link to the object's type. Used by `@Persisted`; not for direct use.
    public static func _read(_ object: ObjectBase, _ column: Int) -> LinkingObjects {
        let target = object._settled()
        return LinkingObjects(origin: origin(of: target, column), source(target, object._rowID, column))
    }

    private static func origin(of target: TypeAccess, _ column: Int) -> String {
        guard let origin = target.schema?.properties[column - Int(linkingColumn)].origin else {
            trap("\"\(target.name)\" has no inverse property in column \(column)")
        }
        return origin
    }

    private static func source(_ target: TypeAccess, _ rowID: Int64, _ column: Int) -> _CollectionSource {
        let origin = origin(of: target, column)
        let access = target.core.access(Element.self)
        let name = access.schema?.schemaName(of: origin) ?? origin
        guard let link = access.type.index(of: name), access.type.columns[link].type.target == target.name else {
            trap(
                "\"\(access.name)\" has no property \"\(origin)\" that links to \"\(target.name)\": check the originProperty in \"\(target.name)\""
            )
        }
        return LinkingSource(access, column: link, to: target, rowID: rowID, Element._elementShape)
    }
    /// Records that the property was read, and returns an empty inverse that also records which property of its elements is read. Used
    /// while key paths are recorded; not for direct use.
    public static func _recorded(_ object: ObjectBase, _ property: Int) -> LinkingObjects {
        object._firnRecord(property)
        var inverse = _initial()
        inverse.recorder = object._recorder
        return inverse
    }
    /// Traps: an inverse is computed from the links of other objects and cannot be set. Used by `@Persisted`; not for direct use.
    public static func _write(_ object: ObjectBase, _ column: Int, _ value: LinkingObjects) {
        trap("LinkingObjects cannot be set: set the link of which they are the inverse")
    }
    /// Returns the access to properties of this type at an offset in bytes from the start of an object. Used by `@Persisted`; not for
    /// direct use.
    public static func _property(at offset: Int) -> _PropertyAccess { PersistedProperty<LinkingObjects>(at: offset) }
    /// Returns nil: an inverse cannot be set. Used by `@Persisted`; not for direct use.
    public static func _fromUntyped(_ value: Any?) -> LinkingObjects? { nil }
    /// The inverse itself. Used by `@Persisted`; not for direct use.
    public var _untyped: Any? { self }
    /// Does nothing: an inverse is not stored. Used by `@Persisted`; not for direct use.
    public func _append(to sink: _Sink) {}
}

extension Persisted {
    /// Declares the inverse of the property `originProperty` of the objects that link to this one.
    public init<Element>(originProperty: String) where Value == LinkingObjects<Element> {
        self.init(options: [], state: .value(LinkingObjects(origin: originProperty, nil)))
    }
}

extension LinkingObjects: _OlderDeclaration {
    static var olderShape: _Shape { _shape }
    func bind(to property: RowProperty) {
        declared?.bound = property
        // Any thread can use frozen inverse links.
        if property.isFrozen { _ = declared?.source }
    }
    func record(_ name: String, by recorder: KeyPathRecorder) {
        guard let declared else { return }
        declared.recorder = recorder
        recorder.expect(name, of: declared)
    }
    var recordedInstance: AnyObject? { declared }
    var olderValue: Any? { self }
    func setOlder(_ value: Any?) -> Bool { false }
    var olderContent: Any? { nil }
    func setOlder(content: Any?) {}
    func appendOlder(to sink: _Sink) {}
    var olderOrigin: String? { origin }
}

/// The objects of a type that link to one object.
final class LinkingSource: _CollectionSource {
    private let access: TypeAccess
    private let column: Int
    private let target: TypeAccess
    private let rowID: Int64
    /// The access does not keep its realm alive, so the source does.
    private let owner: RealmCore
    private var rows: [Int64] = []
    private var evaluated: UInt64?

    init(_ access: TypeAccess, column: Int, to target: TypeAccess, rowID: Int64, _ shape: _Shape) {
        self.access = access
        self.column = column
        self.target = target
        self.rowID = rowID
        owner = access.core
        super.init(shape)
    }

    override var core: RealmCore? { owner }
    override var isInvalidated: Bool { access.isRetired || !target.holds(rowID) }
    override var isReleased: Bool { access.isRetired }

    private func evaluate() {
        let core = access.core
        core.check()
        if core.isFrozen { return frozen.pass { find() } }
        find()
    }

    /// Any thread may read a frozen source, so its evaluation is locked.
    private let frozen = Gate()

    private func find() {
        let core = access.core
        if evaluated == core.changeStamp { return }
        rows = core.failing([]) { () throws(FirnError) in
            try core.flushCells()
            return try core.rowsWithLinks(to: rowID, in: access.table, column: column)
        }
        evaluated = core.changeStamp
    }

    override var count: Int {
        evaluate()
        return rows.count
    }

    override func value(_ index: Int) -> Value {
        evaluate()
        return .link(rows[index])
    }

    override func rowIDs() -> [Int64] {
        evaluate()
        return rows
    }

    override func moved(to core: RealmCore) -> _CollectionSource? {
        guard let there = core.sameAccess(access), let other = core.sameAccess(target), other.position(of: rowID) != nil else { return nil }
        return LinkingSource(there, column: column, to: other, rowID: rowID, shape)
    }

    override func isSame(as other: _CollectionSource) -> Bool {
        guard let other = other as? LinkingSource else { return false }
        return other.access === access && other.column == column && other.rowID == rowID
    }
}

extension RealmCore {
    /// Returns the live rows whose column (a link, or a collection of links) links to a row. A row occurs once for each link.
    ///
    /// - Complexity: O(*n*) for a table of *n* rows. For a single link, zones exclude segments and vectors.
    func rowsWithLinks(to rowID: Int64, in table: any RowTable, column: Int) throws(FirnError) -> [Int64] {
        do {
            var found: [Int64] = []
            for index in 0..<table.segmentCount {
                let segment = try table.segment(index)
                let reader = try segment.storedColumn(column)
                if let zone = reader.zone(), !reader.type.isCollection, !zone.mayHold(.link(rowID)) { continue }
                var values = Column(reader.type)
                for vector in 0..<segment.vectorCount {
                    if !reader.type.isCollection, let zone = reader.zone(ofVector: vector), !zone.mayHold(.link(rowID)) { continue }
                    try reader.read(vector: vector, into: &values)
                    for row in 0..<values.count where segment.live?[vector * vectorSize + row] ?? true {
                        for _ in 0..<values.links(to: rowID, row) { found.append(try segment.rowID(at: vector * vectorSize + row)) }
                    }
                }
            }
            return found
        } catch {
            throw FirnError(error, in: file.path)
        }
    }
}

extension Column {
    /// Returns how many links of a row lead to the row `rowID`.
    fileprivate func links(to rowID: Int64, _ row: Int) -> Int {
        guard type.isCollection else { return isPresent(row) && words[row] == rowID ? 1 : 0 }
        let elements = children[children.count - 1]
        var count = 0
        for i in offsets[row]..<offsets[row + 1] where elements.isPresent(i) && elements.words[i] == rowID { count += 1 }
        return count
    }
}
