import FirnTable

/// A property of each object of a collection, as a live collection: `person.dogs.projectTo.name`.
public struct ProjectedCollection<Element>: RandomAccessCollection, CustomStringConvertible {
    private let length: () -> Int
    private let element: (Int) -> Element

    init<Base: RealmCollection>(_ base: Base, _ keyPath: KeyPath<Base.Element, Element>) {
        length = { base.count }
        element = { base[$0][keyPath: keyPath] }
    }

    /// The position of the first element, 0.
    public var startIndex: Int { 0 }
    /// The number of elements.
    public var endIndex: Int { length() }
    /// Reads the property of the element at a position.
    public subscript(position: Int) -> Element { element(position) }
    /// The values as text, in the form of an array.
    ///
    /// - Complexity: O(*n*) for *n* elements.
    public var description: String { "\(Array(self))" }
}

/// The result of `projectTo`: reading a property of it reads that property of every element.
@dynamicMemberLookup
public struct CollectionElementMapper<Base: RealmCollection> {
    let base: Base

    /// Returns the values of a property for all elements.
    public subscript<Value>(dynamicMember member: KeyPath<Base.Element, Value>) -> ProjectedCollection<Value> {
        // While key paths are recorded, records the property of the elements.
        if let recorded = base as? any RecordedCollection, let recorder = recorded.recorder {
            recorder.touch(recorded.recordedInstance)
            _ = recorder.object(base.recordedClass)[keyPath: member as AnyKeyPath]
        }
        return ProjectedCollection(base, member)
    }
}

extension RealmCollection {
    fileprivate var recordedClass: ObjectBase.Type { Element.self as! ObjectBase.Type }
}

/// Collections that can be part of a recorded key path.
protocol RecordedCollection {
    var recorder: KeyPathRecorder? { get }
    /// The instance that a property without `@Persisted` keeps.
    var recordedInstance: AnyObject? { get }
}

extension RecordedCollection where Self: AnyObject {
    var recordedInstance: AnyObject? { self }
}

extension List: RecordedCollection {}
extension MutableSet: RecordedCollection {}
extension LinkingObjects: RecordedCollection {}

/// Any `ProjectedCollection`, whatever its elements.
protocol AnyProjectedCollection {}
extension ProjectedCollection: AnyProjectedCollection {}

extension RealmCollection where Element: ObjectBase {
    /// Selects a property of every element, for `@Projected`.
    public var projectTo: CollectionElementMapper<Self> { CollectionElementMapper(base: self) }
}
