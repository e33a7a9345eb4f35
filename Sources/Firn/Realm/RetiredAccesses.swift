import FirnBytes
import FirnModel

/// What objects point at that were read before their realm was invalidated: they are never valid again, and say so as long as somebody holds them.
///
/// Nobody knows how many there are. So that a realm that is invalidated a million times stays small, one access stands for all of its class and type, and of the
/// others no more is kept than what their objects point at.
struct RetiredAccesses {
    private var kept: [TypeAccess] = []
    private var states: [UnsafeMutablePointer<AccessState>] = []

    /// Retires an access that the realm uses no more.
    mutating func take(_ access: TypeAccess) {
        access.retire()
        if let same = kept.first(where: { $0.stands(for: access) }) { states.append(access.leaveState(to: same)) } else { kept.append(access) }
    }

    /// With the realm, whose objects are gone by then.
    func release() { for state in states { state.deallocate() } }
}

extension TypeAccess {
    func stands(for other: TypeAccess) -> Bool { schema === other.schema && type == other.type }
}

/// A table of which nothing is left, or that never was.
final class NoRows: RowTable {
    let type: TypeSchema
    let schema: FirnModel.Schema

    init(_ former: any RowTable) {
        type = former.type
        schema = former.schema
    }

    /// Of a class that the file has no type for.
    convenience init(_ known: ClassSchema) { self.init(known.typeSchema, FirnModel.Schema(known.reachable().map(\.typeSchema))) }

    private init(_ type: TypeSchema, _ schema: FirnModel.Schema) {
        self.type = type
        self.schema = schema
    }

    var rowCount: Int { 0 }
    var segmentCount: Int { 0 }
    func segment(_ index: Int) throws(Damage) -> any Segment { throw Damage("there is no row") }
    func segmentIndex(of rowID: Int64) throws(Damage) -> Int? { nil }
    func related(_ typeName: String) throws(Damage) -> (any Table)? { schema[typeName].map { NoRows($0, schema) } }
    func place(of rowID: Int64) throws(Damage) -> (segment: Int, position: Int)? { nil }
    func storedValue(_ rowID: Int64, _ column: Int) throws(FirnError) -> Value { throw FirnError(.notFound, "there is no row \(rowID)") }
    func word(_ segment: Int, _ position: Int, _ column: Int) throws(Damage) -> Int64? { nil }
    func real(_ segment: Int, _ position: Int, _ column: Int) throws(Damage) -> Double? { nil }
}
