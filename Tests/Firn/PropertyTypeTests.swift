import FirnTable
import Testing

@testable import Firn

@Suite struct PropertyTypeTests {
    @Test func `every kind of value has a property type of its own, and both kinds of object are objects`() {
        let types = ScalarKind.allCases.map(PropertyType.init)
        #expect(Set(types).count == ScalarKind.allCases.count - 1)
        #expect(PropertyType(.link) == .object && PropertyType(.embedded) == .object)
        #expect(!types.contains(.linkingObjects), "what is derived is never stored")
    }
}
