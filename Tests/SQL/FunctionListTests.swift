import CSQLiteLibrary
import FirnBytes
import FirnKit
import FirnSQL
import Foundation
import Testing

/// The list of functions that are added to those of SQLite.
@Suite struct FunctionListTests {
    @Test func `each function is on the page on SQL, and its example is a valid call`() throws {
        let page = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/guide/sql.md"), encoding: .utf8)
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        try connection.execute(
            "CREATE TEMP TABLE v(s, a, b, x, y, key, d); INSERT INTO v VALUES ('ab', '2016-01-01', '2016-02-01', 1, 2, 3, '2016-09-29 10:30:00')"
        )
        #expect(SQLConnection.addedFunctions.count > 80)
        for (name, example) in SQLConnection.addedFunctions {
            // A part of a date is a function too.
            #expect(page.contains("`\(name)`") || page.contains("\(name)(") || page.contains("\(name)\"("), "\(name) is not on the page")
            #expect(throws: Never.self, "\(example)") { try connection.all("SELECT \(example) FROM v") }
        }
    }

    @Test func `functions of SQLite itself keep their meaning`() throws {
        let connection = try SQLConnection(functions: firn_sqlite_functions())
        let known = Set(try connection.all("SELECT name FROM pragma_function_list WHERE builtin").map { "\($0[0])" })
        // Later versions have these functions, with the same results.
        let shared: Set = ["median", "percentile_cont", "percentile_disc", "concat", "concat_ws", "string_agg"]
        for (name, _) in SQLConnection.addedFunctions where known.contains("string(\"\(name)\")") {
            #expect(shared.contains(name), "\(name) replaces a function of SQLite")
        }
    }
}
