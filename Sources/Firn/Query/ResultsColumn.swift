import FirnBytes
import FirnQuery
import FirnTable

/// One property of the elements of a collection, read column by column: without an object or a call for each value.
///
///     var sum = 0.0
///     for batch in results.column(\.score) { for score in batch.values { sum += score } }
///     let all = Array(results.column(\.score))
///
/// Batches are in the order of the elements and contain about a thousand of them each. They show the version that the collection was at
/// when the iteration began.
public struct ResultsColumn<Value: _ColumnElement>: Sequence {
    private let source: _CollectionSource
    private let path: PathSyntax

    init(_ source: _CollectionSource, _ path: PathSyntax) {
        self.source = source
        self.path = path
    }

    /// Returns an iterator over the batches, at the current version of the collection.
    public func makeIterator() -> Iterator { Iterator(ColumnReading(source, path)) }

    /// Iterates over the batches of a column.
    public struct Iterator: IteratorProtocol {
        private var reading: ColumnReading

        init(_ reading: ColumnReading) { self.reading = reading }

        /// Returns the next batch; nil at the end.
        public mutating func next() -> ColumnBatch<Value>? {
            guard reading.advance() else { return nil }
            return ColumnBatch(_ColumnVector(reading.column))
        }
    }
}

/// The values of a run of elements.
public struct ColumnBatch<Value: _ColumnElement> {
    /// One value for each element. The value of an element without one is unspecified.
    public let values: [Value._Plain]
    /// Which elements have a value; nil if all have one.
    public let present: ColumnPresence?
    /// The number of elements.
    public var count: Int { values.count }

    init(_ vector: _ColumnVector) {
        values = Value._plain(vector)
        present = vector.column.present.map { ColumnPresence(words: $0.words, count: vector.column.count) }
    }
}

/// One bit for each element of a batch.
public struct ColumnPresence: RandomAccessCollection, Sendable {
    /// 64 elements each, the first in the lowest bit.
    public let words: [UInt64]
    /// The number of elements.
    public let count: Int
    /// The position of the first element: 0.
    public var startIndex: Int { 0 }
    /// The number of elements.
    public var endIndex: Int { count }
    /// Whether the element at a position has a value.
    public subscript(position: Int) -> Bool { words[position >> 6] >> UInt64(position & 63) & 1 != 0 }
}

extension Array {
    /// Reads all values of a column.
    public init(_ column: ResultsColumn<Element>) where Element: _ColumnElement {
        self.init()
        for batch in column { Element._append(batch, to: &self) }
    }
}

extension RealmCollection where Element: ObjectBase {
    /// Returns a property of the objects as a column. Traps if the collection is unmanaged.
    public func column<Value: _ColumnElement>(_ property: KeyPath<Element, Value>) -> ResultsColumn<Value> {
        ResultsColumn(managedSource("column(_:)"), PathSyntax(KeyPathRecorder.steps(property)))
    }

    /// Returns a property as a column by its name or path: for dynamic objects, and for properties of linked and embedded objects. Traps if
    /// the property is of another type, or can be null and `Value` cannot.
    public func column<Value: _ColumnElement>(_ name: String, as type: Value.Type = Value.self) -> ResultsColumn<Value> {
        let source = managedSource("column(_:as:)")
        let access = source.managedElements
        do {
            let path = access.column(name) == nil ? try Parser.path(name) : PathSyntax([.name(name)])
            let run = try QueryRun(QueryRequest(select: [path.description], names: source.names), table: access.table)
            let found = run.columns[0].type, wanted = Value._elementShape.type
            trap(
                unless: found.kind == wanted.kind && !found.isCollection,
                "\"\(access.name).\(name)\" is of type \(found.name), not \(wanted.name): request a column of its own type")
            trap(
                unless: !found.isOptional || wanted.isOptional, "\"\(access.name).\(name)\" may be null: request a column of \(Value.self)?"
            )
            return ResultsColumn(source, path)
        } catch { trap("\(error)") }
    }
}
