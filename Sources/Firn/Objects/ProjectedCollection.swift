import FirnModel

/// A property of each object of a collection, as a collection: `person.dogs.projectTo.name`. Live: it reads what the collection holds when it is read.
public struct ProjectedCollection<Element>: RandomAccessCollection, CustomStringConvertible {
    private let length: () -> Int
    private let element: (Int) -> Element

    init<Base: RealmCollection>(_ base: Base, _ keyPath: KeyPath<Base.Element, Element>) {
        length = { base.count }
        element = { base[$0][keyPath: keyPath] }
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { length() }
    public subscript(position: Int) -> Element { element(position) }
    public var description: String { "\(Array(self))" }
}

/// What `projectTo` gives: the next property that is named is read of every element.
@dynamicMemberLookup
public struct CollectionElementMapper<Base: RealmCollection> {
    let base: Base

    public subscript<Value>(dynamicMember member: KeyPath<Base.Element, Value>) -> ProjectedCollection<Value> {
        // While key paths are recorded: what is named is the elements' property.
        if let recorder = (base as? any RecordedCollection)?.recorder { _ = recorder.object(base.recordedClass)[keyPath: member as AnyKeyPath] }
        return ProjectedCollection(base, member)
    }
}

extension RealmCollection {
    fileprivate var recordedClass: ObjectBase.Type { Element.self as! ObjectBase.Type }
}

/// Collections that may stand for themselves in a key path that is recorded.
protocol RecordedCollection {
    var recorder: KeyPathRecorder? { get }
}

extension List: RecordedCollection {}
extension MutableSet: RecordedCollection {}
extension LinkingObjects: RecordedCollection {}

/// For those who do not know the elements.
protocol AnyProjectedCollection {}
extension ProjectedCollection: AnyProjectedCollection {}

extension RealmCollection where Element: ObjectBase {
    /// Chooses a property of every element, for `@Projected`.
    public var projectTo: CollectionElementMapper<Self> { CollectionElementMapper(base: self) }
}
