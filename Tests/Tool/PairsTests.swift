import FirnKit
import Foundation
import Testing

@Suite struct PairsTests {
    @Test(.enabled(if: !Pair.all.isEmpty, "the test data is not next to the package"), arguments: Pair.some)
    func `the difference of two real versions is the independently computed one`(name: String) throws {
        let pair = try #require(Pair(SharedData.folder!.appending(path: "pairs/\(name)")))
        let scratch = try Scratch()
        var words = ["diff", pair.file("old"), pair.file("new"), "--key", pair.key, "--format", "ndjson"]
        if pair.count("ragged_old") + pair.count("ragged_new") > 0 { words += ["--rejects", scratch.file("rejects").path] }
        if pair.count("dup_keys_old") + pair.count("dup_keys_new") > 0 {
            let refused = try FirnRun(words, in: scratch.folder)
            #expect(
                refused.code == 3 && refused.errors.contains(pair.key) && refused.errors.contains("rows"),
                "\(refused.code) \(refused.errors)")
            words += ["--duplicates", "first"]
        }
        let run = try FirnRun(words, in: scratch.folder)
        #expect(!run.isCrash && run.code <= 1 || pair.count("ragged_old") > 0, "\(run.code) \(run.errors)")
        let objects = try run.out.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        let summary = try #require(objects.last)
        #expect(summary["kind"] as? String == "summary")
        #expect(summary["added"] as? Int == pair.count("added"))
        #expect(summary["removed"] as? Int == pair.count("removed"))
        #expect(summary["changed"] as? Int == pair.count("changed_rows"))
        #expect(summary["cells"] as? Int == pair.changedCells)
        #expect(summary["unchanged"] as? Int == pair.count("unchanged_rows"))
        let kinds = Dictionary(grouping: objects, by: { $0["kind"] as? String ?? "" }).mapValues(\.count)
        #expect(kinds["added", default: 0] == pair.count("added"))
        #expect(kinds["removed", default: 0] == pair.count("removed"))
        #expect(kinds["changed", default: 0] == pair.count("changed_rows"))
        let schema = objects.first { $0["kind"] as? String == "schema" } ?? [:]
        func names(_ list: String) -> Set<String> { Set((schema[list] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }) }
        #expect(names("added") == Set(pair.names("cols_added")))
        #expect(names("removed") == Set(pair.names("cols_removed")))
    }

    /// The changes that `diff --changes` writes lead from one version to the other and back, by content hash.
    @Test(.enabled(if: !Pair.all.isEmpty, "the test data is not next to the package"), arguments: Pair.some)
    func `changes between two real versions round trip by content hash`(name: String) throws {
        let pair = try #require(Pair(SharedData.folder!.appending(path: "pairs/\(name)")))
        // Two rows of one table have no key of their own and are distinguished by a second column.
        let key = pair.count("dup_keys_old") > 0 ? pair.key + ",official_name_en" : pair.key
        let isEven = (Pair.all.firstIndex(of: name) ?? 0) % 2 == 0
        try walk(pair.file("old"), pair.file("new"), key: key, pair, keyed: Tier.isLong ? nil : isEven)
    }

    /// A part of the largest pair, with several segments.
    @Test(.enabled(if: Pair.all.contains("babynames"), "the test data is not next to the package"))
    func `changes between the last years of two long versions round trip`() throws {
        let pair = try #require(Pair(SharedData.folder!.appending(path: "pairs/babynames")))
        try walk(pair.file("old"), pair.file("new"), key: pair.key, pair, keyed: true, only: ["--where", "year >= 2014"])
    }

    @Test(arguments: [
        ("companies-2023.csv", "companies-2026.csv", "Symbol"),
        ("countries-2016.csv", "countries-2026.csv", "ISO3166-1-Alpha-3,official_name_en"),
    ])
    func `changes between the two real pairs of fixtures round trip`(old: String, new: String, key: String) throws {
        let folder = Folders.fixtures.appending(path: "demo")
        try walk(folder.appending(path: old).path, folder.appending(path: new).path, key: key)
    }

    /// Converts both versions, with and without a key in the file (or one of both), and patches one to the other and back.
    private func walk(_ old: String, _ new: String, key: String, _ truth: Pair? = nil, keyed: Bool? = nil, only: [String] = [])
        throws
    {
        let scratch = try Scratch()
        for isKeyed in keyed.map({ [$0] }) ?? [true, false] {
            for (side, path) in [("a.firn", old), ("b.firn", new)] {
                let words =
                    ["convert", path, side, "--type", "rows", "--rejects", "rejected", "-f", "-q"] + (isKeyed ? ["--key", key] : []) + only
                let run = try FirnRun(words, in: scratch.folder)
                #expect(run.code == 0 || run.code == 3 && truth?.count("ragged_old") ?? 0 > 0, "\(run.code) \(run.errors)")
            }
            func hash(_ file: String) throws -> String {
                let run = try scratch.firn("hash", "--key", key, file)
                #expect(run.code == 0, "\(run.errors)")
                return String(run.out.prefix(32))
            }
            let first = try hash("a.firn"), last = try hash("b.firn")
            let diff = try scratch.firn("diff", "a.firn", "b.firn", "--key", key, "--changes", "c.firn", "--force", "--format", "summary")
            #expect(diff.code == (first == last ? 0 : 1), "\(diff.code) \(diff.out)\(diff.errors)")
            let there = try scratch.firn("patch", "a.firn", "c.firn", "--json")
            #expect(
                there.code == 0 && there.out.contains("\"proven\":true") && there.out.contains("\"hash\":\"\(last)\""),
                "\(there.code) \(there.out)\(there.errors)")
            #expect(try hash("a.firn") == last)
            #expect(try scratch.firn("diff", "a.firn", "b.firn", "--key", key, "-q").code == 0)
            #expect(try scratch.firn("verify", "--full", "-q", "a.firn").code == 0)
            let back = try scratch.firn("patch", "--reverse", "a.firn", "c.firn", "-q")
            #expect(back.code == 0, "\(back.code) \(back.out)\(back.errors)")
            #expect(try hash("a.firn") == first)
            // Applying the changes a second time is refused, unless there is nothing to do.
            let again = try scratch.firn("patch", "--reverse", "a.firn", "c.firn", "-q")
            #expect(first == last ? again.code == 0 : [1, 3].contains(again.code), "\(again.code) \(again.out)\(again.errors)")
        }
    }
}
