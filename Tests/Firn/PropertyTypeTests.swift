import FirnTable
import Testing

@testable import Firn

@Suite struct PropertyTypeTests {
    @Test func `every kind of value has a different property type, except links and embedded objects`() {
        let types = ScalarKind.allCases.map(PropertyType.init)
        #expect(Set(types).count == ScalarKind.allCases.count - 1)
        #expect(PropertyType(.link) == .object && PropertyType(.embedded) == .object)
        #expect(!types.contains(.linkingObjects), "a stored type has the type of linking objects")
    }
}
