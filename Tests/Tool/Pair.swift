import FirnKit
import Foundation

/// Two versions of a real table, and their difference, computed independently from the text of the rows by key.
struct Pair {
    /// The names of all pairs of the test data.
    static let all: [String] = {
        guard let folder = SharedData.folder?.appending(path: "pairs") else { return [] }
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }()

    /// Those that every run compares. The others have millions of rows, which an unoptimised build compares for a minute.
    static let some = all.filter { Tier.isLong || $0 != "babynames" }

    let folder: URL
    let key: String
    let truth: [String: Any]

    init?(_ folder: URL) {
        guard let data = try? Data(contentsOf: folder.appending(path: "meta.json")),
            let meta = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
            let key = meta["key"] as? String, let truth = meta["truth"] as? [String: Any]
        else { return nil }
        self.folder = folder
        // The keys of a JSON dictionary become a column.
        self.key = key == "<object key>" ? "key" : key
        self.truth = truth
    }

    func file(_ side: String) -> String {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return folder.appending(path: names.first { $0.hasPrefix(side + ".") } ?? side).path
    }

    func count(_ name: String) -> Int { truth[name] as? Int ?? 0 }
    func names(_ name: String) -> [String] { truth[name] as? [String] ?? [] }

    /// The number of changed cells: of JSON, a column that one version lacks counts as null there; of CSV, only columns that both versions
    /// have are counted. The expected counts also include removed columns.
    var changedCells: Int {
        file("old").hasSuffix(".json") ? count("changed_cells") : changedCellsOfCommonColumns
    }

    /// The number of changed cells of columns that both versions have.
    var changedCellsOfCommonColumns: Int {
        let gone = Set(names("cols_removed"))
        let list = truth["top_changed_columns"] as? [[Any]] ?? []
        return count("changed_cells") - list.reduce(0) { $0 + (gone.contains($1[0] as? String ?? "") ? $1[1] as? Int ?? 0 : 0) }
    }
}
