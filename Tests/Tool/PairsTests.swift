import Foundation
import Testing

/// Two versions of a real table and the true difference, found by comparing their text by key.
private struct Pair {
    let folder: URL
    let key: String
    let truth: [String: Any]

    init?(_ folder: URL) {
        guard let data = try? Data(contentsOf: folder.appending(path: "meta.json")),
              let meta = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
              let key = meta["key"] as? String, let truth = meta["truth"] as? [String: Any] else { return nil }
        self.folder = folder
        // The keys of a JSON dictionary become a column of their own.
        self.key = key == "<object key>" ? "key" : key
        self.truth = truth
    }

    func file(_ side: String) -> String {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return folder.appending(path: names.first { $0.hasPrefix(side + ".") } ?? side).path
    }

    func count(_ name: String) -> Int { truth[name] as? Int ?? 0 }
    func names(_ name: String) -> [String] { truth[name] as? [String] ?? [] }

    /// Changed cells of the columns that both versions have: the truth counts a removed column's too.
    var changedCells: Int {
        let gone = Set(names("cols_removed"))
        let list = truth["top_changed_columns"] as? [[Any]] ?? []
        return count("changed_cells") - list.reduce(0) { $0 + (gone.contains($1[0] as? String ?? "") ? $1[1] as? Int ?? 0 : 0) }
    }
}

@Suite struct PairsTests {
    static let pairs: [String] = {
        guard let folder = Folders.shared?.appending(path: "pairs") else { return [] }
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }()

    @Test(.enabled(if: !pairs.isEmpty, "the test data is not beside the package"), arguments: pairs)
    func `the difference of two real versions is the true one`(name: String) throws {
        let pair = try #require(Pair(Folders.shared!.appending(path: "pairs/\(name)")))
        let scratch = try Scratch()
        var words = ["diff", pair.file("old"), pair.file("new"), "--key", pair.key, "--format", "ndjson"]
        if pair.count("ragged_old") + pair.count("ragged_new") > 0 { words += ["--rejects", scratch.file("rejects").path] }
        if pair.count("dup_keys_old") + pair.count("dup_keys_new") > 0 {
            let refused = try FirnRun(words, in: scratch.folder)
            #expect(refused.code == 3 && refused.errors.contains(pair.key) && refused.errors.contains("rows"), "\(refused.code) \(refused.errors)")
            words += ["--duplicates", "first"]
        }
        let run = try FirnRun(words, in: scratch.folder)
        #expect(!run.isCrash && run.code <= 1 || pair.count("ragged_old") > 0, "\(run.code) \(run.errors)")
        let objects = try run.out.split(separator: "\n").map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
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
}
