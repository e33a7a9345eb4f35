import FirnBytes
import FirnExchange
import FirnKit
import FirnTable
import Foundation
import Testing

@testable import FirnJSON

@Suite struct RealDataTests {
    @Test func `fixtures survive a round trip with equal values`() throws {
        for name in ["football-8.json", "mime-40.json"] { try expectSameDocument(try fixture(name)) }
        for name in ["tate-artists-20.ndjson", "scoop-bucket-12.ndjson"] { try expectSameLines(try fixture(name)) }
    }

    @Test func `an indented document whose keys are in a consistent order is written byte for byte`() throws {
        let bytes = try fixture("football-8.json")
        #expect(text(try Table(bytes, .document).written()) == text(bytes) + "\n")
    }

    @Test func `the cases of the test suite are accepted, or refused with positions`() throws {
        for file in try FileManager.default.contentsOfDirectory(atPath: fixtures.appendingPathComponent("suite").path).sorted() {
            let bytes = try fixture("suite/" + file)
            if file.hasPrefix("y_") { try expectSameDocument(bytes) }
            if file.hasPrefix("n_") {
                let error = #expect(throws: FirnError.self, "\(file)") { try Table(bytes, .document) }
                #expect(error?.location?.column != nil)
            }
        }
    }

    @Test(arguments: [
        "json/en.1.json", "json/de.1.json", "pairs/football-en1/old.json", "pairs/mime-db/new.json",
        "pairs/noop-json-keyorder-mime/new.json",
        "pairs/gemoji/new.json", "pairs/unicode-emoji/old.json",
    ])
    func `real documents survive a round trip with equal values`(path: String) throws {
        guard let bytes = shared(path) else { return }
        try expectSameDocument(bytes)
    }

    @Test func `the football document keeps the text around its matches`() throws {
        guard let bytes = shared("json/en.1.json") else { return }
        let table = try Table(bytes, .document)
        #expect(table.type.columns.map(\.name) == ["round", "date", "time", "team1", "team2", "score"])
        #expect(table.typeName("date") == "date")
        #expect(table.batches[0].count == 380)
        let written = text(try table.written())
        #expect(
            written.hasPrefix(
                "{\n  \"name\": \"English Premier League 2023/24\",\n  \"matches\": [\n    {\n      \"round\": \"Matchday 1\","))
    }

    @Test func `a dictionary of objects has its keys in a column`() throws {
        guard let bytes = shared("pairs/mime-db/new.json") else { return }
        let table = try Table(bytes, .document)
        #expect(table.type.columns[0].name == "key")
        #expect(table.typeName("extensions") == "list<string>?")
    }

    @Test(arguments: ["json/tate-artists.ndjson", "json/scoop-bucket-200.ndjson"])
    func `real lines survive a round trip with equal values`(path: String) throws {
        guard let bytes = shared(path) else { return }
        try expectSameLines(bytes)
    }

    @Test func `values of several kinds are a column of kind any`() throws {
        guard let bytes = shared("json/scoop-bucket-200.ndjson") else { return }
        let table = try Table(bytes, .lines)
        #expect(table.typeName("license") == "any")
    }

    @Test func `the JSON test suite accepts and refuses what its file names require`() throws {
        guard let folder = SharedData.file("bad/JSONTestSuite") else { return }
        var seen = 0
        for part in ["test_parsing", "test_transform"] {
            for file in try FileManager.default.contentsOfDirectory(atPath: folder.appendingPathComponent(part).path).sorted()
            where file.hasSuffix(".json") {
                let bytes = Array(try Data(contentsOf: folder.appendingPathComponent(part + "/" + file)))
                for layout in [JSONOptions.Layout.document, .lines] {
                    do {
                        let table = try Table(bytes, layout)
                        let again = try Table(try table.written(layout), layout)
                        #expect(try again.written(layout) == table.written(layout), "\(file)")
                        if layout == .document { #expect(!file.hasPrefix("n_"), "accepted \(file)") }
                    } catch let error as FirnError {
                        if layout == .document {
                            #expect(!file.hasPrefix("y_"), "refused \(file): \(error)")
                            #expect(error.location?.line != nil && error.location?.column != nil, "\(file): \(error)")
                        }
                    }
                }
                seen += 1
            }
        }
        #expect(seen > 300)
    }
}
