import FirnBytes
import FirnTable

/// The accesses of objects that were read before their realm was invalidated. They stay invalid, and report it as long as they exist.
///
/// The number of these objects is not known. So that a realm can be invalidated a million times without growing, one access represents all
/// others of its class and type; of the others, only the state that their objects point at is kept.
struct RetiredAccesses {
    private var kept: [TypeAccess] = []
    private var states: [UnsafeMutablePointer<AccessState>] = []

    /// Retires an access that the realm no longer uses.
    mutating func take(_ access: TypeAccess) {
        access.retire()
        if let same = kept.first(where: { $0.stands(for: access) }) {
            states.append(access.leaveState(to: same))
        } else {
            kept.append(access)
        }
    }

    /// Called when the realm is released; its objects are released by then.
    func release() { for state in states { state.deallocate() } }
}

extension TypeAccess {
    func stands(for other: TypeAccess) -> Bool { schema === other.schema && type == other.type }
}

/// A table without rows: of retired objects, or of a class that the file has no type for.
final class NoRows: RowTable {
    let type: TypeSchema
    let schema: FirnTable.Schema

    init(_ former: any RowTable) {
        type = former.type
        schema = former.schema
    }

    /// Creates the table of a class that the file has no type for.
    convenience init(_ known: ClassSchema) { self.init(known.typeSchema, FirnTable.Schema(known.reachable().map(\.typeSchema))) }

    private init(_ type: TypeSchema, _ schema: FirnTable.Schema) {
        self.type = type
        self.schema = schema
    }

    var rowCount: Int { 0 }
    var segmentCount: Int { 0 }
    func segment(_ index: Int) throws(Damage) -> any Segment { throw Damage("there is no row") }
    func segmentIndex(of rowID: Int64) throws(Damage) -> Int? { nil }
    func related(_ typeName: String) throws(Damage) -> (any Table)? { schema[typeName].map { NoRows($0, schema) } }
    func location(of rowID: Int64) throws(Damage) -> RowLocation? { nil }
    func storedValue(_ rowID: Int64, _ column: Int) throws(FirnError) -> Value { throw FirnError(.notFound, "there is no row \(rowID)") }
    func word(at location: RowLocation, _ column: Int) throws(Damage) -> Int64? { nil }
    func real(at location: RowLocation, _ column: Int) throws(Damage) -> Double? { nil }
}
