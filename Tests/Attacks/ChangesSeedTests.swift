import FirnAttacks
import FirnBytes
import FirnChange
import FirnDatabase
import FirnKit
import Foundation
import Testing

/// The seeds of `Tools/fuzz/corpus/changes` lead, as they are, from one version of what `ChangesAttack` writes to the other: what is
/// mutilated is not refused at the door.
@Suite struct ChangesSeedTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Tools/fuzz/corpus/changes")
        .standardized.path

    @Test(arguments: ["alone", "fast"]) func `T12, T14: changes that were written once are applied for ever`(name: String) throws {
        let scratch = TemporaryFolder()
        for (side, isNew) in [("a.firn", false), ("b.firn", true)] { try ChangesAttack.write(scratch.file(side), isNew: isNew) }
        let database = try Database.open(path: scratch.file("a.firn"), writable: true), transaction = try database.begin()
        let changes = try Changeset(Database.open(path: Self.folder + "/" + name).snapshot(), name: name)
        guard case .applied(let hash, true) = try changes.apply(in: transaction, options: DifferenceOptions()) else {
            Issue.record("refused"); return
        }
        try transaction.commit()
        let new = try Database.open(path: scratch.file("b.firn")).snapshot()
        #expect(try ContentHash.ofFile(new.schema.roots.map { try ContentHash(of: #require(new.table(named: $0.name))) }) == hash)
        #expect(try database.snapshot().verify(full: true).isEmpty)
    }
}
