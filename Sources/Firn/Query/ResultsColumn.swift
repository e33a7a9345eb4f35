import FirnBytes
import FirnModel
import FirnQuery

/// One property of the elements of a collection, read column by column: no objects are made, and no call is made for each value.
///
///     var sum = 0.0
///     for batch in results.column(\.score) { for score in batch.values { sum += score } }
///     let all = Array(results.column(\.score))
///
/// Batches are in the order of the elements and hold about a thousand of them each; they show the version that the collection was at when the
/// iteration began.
public struct ResultsColumn<Value: _ColumnElement>: Sequence {
    private let source: _CollectionSource
    private let path: PathSyntax

    init(_ source: _CollectionSource, _ path: PathSyntax) {
        self.source = source
        self.path = path
    }

    public func makeIterator() -> Iterator { Iterator(ColumnReading(source, path)) }

    public struct Iterator: IteratorProtocol {
        private var reading: ColumnReading

        init(_ reading: ColumnReading) { self.reading = reading }

        public mutating func next() -> ColumnBatch<Value>? {
            guard reading.advance() else { return nil }
            return ColumnBatch(_ColumnVector(reading.column))
        }
    }
}

/// The values of a run of elements.
public struct ColumnBatch<Value: _ColumnElement> {
    /// One for each element; where an element has no value, some value that means nothing.
    public let values: [Value._Plain]
    /// Which elements have a value; nil: all have.
    public let present: ColumnPresence?
    public var count: Int { values.count }

    init(_ vector: _ColumnVector) {
        values = Value._plain(vector)
        present = vector.column.present.map { ColumnPresence(words: $0.words, count: vector.column.count) }
    }
}

/// A bit for each element of a batch.
public struct ColumnPresence: RandomAccessCollection, Sendable {
    /// 64 elements each, the first in the lowest bit.
    public let words: [UInt64]
    public let count: Int
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }
    public subscript(position: Int) -> Bool { words[position >> 6] >> UInt64(position & 63) & 1 != 0 }
}

extension Array {
    /// All values of a column.
    public init(_ column: ResultsColumn<Element>) where Element: _ColumnElement {
        self.init()
        for batch in column { Element._append(batch, to: &self) }
    }
}

extension RealmCollection where Element: ObjectBase {
    /// A property of the objects, as a column.
    public func column<Value: _ColumnElement>(_ property: KeyPath<Element, Value>) -> ResultsColumn<Value> {
        ResultsColumn(managedSource("column(_:)"), PathSyntax(KeyPathRecorder.steps(property)))
    }

    /// A property by its name or path, as a column: for dynamic objects, and properties of linked and embedded objects. Traps if it does not hold
    /// such values.
    public func column<Value: _ColumnElement>(_ name: String, as type: Value.Type = Value.self) -> ResultsColumn<Value> {
        let source = managedSource("column(_:as:)")
        let access = source.elementAccess!
        do throws(QueryError) {
            let path = access.type.index(of: name) == nil ? try Parser.path(name) : PathSyntax([.name(name)])
            let run = try QueryRun(QueryRequest(select: [path.description], inverses: source.inverses), table: access.table)
            let found = run.columns[0].type, wanted = Value._elementShape.type
            precondition(found.kind == wanted.kind && !found.isCollection,
                         "'\(access.name).\(name)' is of type \(found.name): ask for a column of that type, not of \(wanted.name)")
            precondition(!found.isOptional || wanted.isOptional, "'\(access.name).\(name)' may be null: ask for a column of \(Value.self)?")
            return ResultsColumn(source, path)
        } catch { preconditionFailure("\(error)") }
    }
}
