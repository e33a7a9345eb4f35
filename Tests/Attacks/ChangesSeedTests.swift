import FirnAttacks
import FirnBytes
import FirnChange
import FirnDatabase
import FirnKit
import Foundation
import Testing

/// Applying an unmodified seed of `Tools/fuzz/corpus/changes` leads from one version that `ChangesAttack` writes to the other. So mutated
/// seeds are not all refused before the changes are read.
@Suite struct ChangesSeedTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Tools/fuzz/corpus/changes")
        .standardized.path

    @Test(arguments: ["alone", "fast"]) func `changes files from earlier builds can still be applied`(name: String) throws {
        let scratch = TemporaryFolder()
        for (side, isNew) in [("a.firn", false), ("b.firn", true)] { try ChangesAttack.write(scratch.file(side), isNew: isNew) }
        let database = try Database.open(path: scratch.file("a.firn"), writable: true), transaction = try database.begin()
        let changes = try Changeset(Database.open(path: Self.folder + "/" + name).snapshot(), name: name)
        guard case .applied(let hash, true) = try changes.apply(in: transaction, options: DifferenceOptions()) else {
            Issue.record("the changes were refused"); return
        }
        try transaction.commit()
        let new = try Database.open(path: scratch.file("b.firn")).snapshot()
        #expect(try ContentHash.ofFile(new.schema.roots.map { try ContentHash(of: #require(new.table(named: $0.name))) }) == hash)
        #expect(try database.snapshot().verify(full: true).isEmpty)
    }
}
