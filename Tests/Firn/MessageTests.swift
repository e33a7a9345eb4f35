import Firn
import Foundation
import Testing

private enum Temper: String, PersistableEnum {
    case happy, sad
}

private class Logbook: Object {
    @Persisted var page: Int8 = 0
    @Persisted var pages: List<Int16>
    @Persisted var mood = Temper.happy
    @Persisted var last: Temper?
    @Persisted var place: Anchorage?

    override class func propertiesMapping() -> [String: String] { ["page": "p"] }
}

private class Anchorage: EmbeddedObject {
    @Persisted var type = "Point"
    @Persisted var coordinates: List<Double>
}

struct MessageTests {
    @Test func `a value that does not fit is reported with the range or the cases of the property`() async {
        let wide = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = Logbook(value: ["page": 300]) }
        #expect(said(wide).contains("for property \"Logbook.page\", which takes int (Int8: -128 to 127)."))
        let element = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Logbook(value: ["pages": [70_000]])
        }
        #expect(said(element).contains("which takes list<int> (Int16: -32768 to 32767)."))
        let mood = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = Logbook(value: ["mood": "bored"]) }
        #expect(said(mood).contains("for property \"Logbook.mood\", which takes string (Temper: \"happy\", \"sad\")."))
        let last = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = Logbook(value: ["last": "bored"]) }
        #expect(said(last).contains("(Temper: \"happy\", \"sad\")."))
    }

    @Test func `errors of identifiers and decimals describe themselves`() {
        let id = #expect(throws: FirnError.self) { try ObjectId(string: "zz") }
        #expect((id as (any Error)?)?.localizedDescription == "\"zz\" is not an object id")
        #expect(id?.recoverySuggestion == "an object id is written as 24 hexadecimal digits")
        let decimal = #expect(throws: FirnError.self) { try Decimal128(string: "abc") }
        #expect((decimal as (any Error)?)?.localizedDescription.contains("\"abc\"") ?? false)
    }

    @Test func `a filter that does not use all arguments is refused`() async throws {
        let surplus = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm([Logbook.self]).objects(Logbook.self).filter("page == %@", 1, 2)
        }
        #expect(said(surplus).contains("2 arguments for \"page == %@\", which uses only 1"))
        let books = try memoryRealm([Logbook.self]).objects(Logbook.self)
        #expect(
            books.filter("%K == %@ OR page IN %@", "page", 1, [2]).isEmpty
                && books.filter("$K0 == $2 OR page == $1", "page", 1, 2).isEmpty)
        #expect(books.filter("pages[%@] == 1", 0).isEmpty && books.filter("page BETWEEN %@", [1, 2]).isEmpty)
    }

    @Test func `a shape to the right of IN is refused with the name of the right operator`() throws {
        let books = try memoryRealm([Logbook.self]).objects(Logbook.self)
        let box = GeoBox(bottomLeft: (0, 0), topRight: (1, 1))
        let error = #expect(throws: Realm.Error.self) { try books.filtered("place IN %@", [box]) }
        #expect(error?.message.contains("a shape is allowed only on the right of GEOWITHIN") ?? false)
        #expect(try books.filtered("place GEOWITHIN %@", [box]).isEmpty)
    }
}
