import FirnDisk
import FirnKit
import FirnStore
import Foundation
import Testing

@testable import FirnDatabase
@testable import FirnTable

extension ShrinkTests {
    /// Changes to rows of a tagged version stay in the delta: they are not sealed, and their tree is moved completely.
    @Test(arguments: [false, true]) func `changes to rows of a tagged version are moved with their complete tree`(isEncrypted: Bool)
        throws
    {
        let folder = TemporaryFolder(), path = folder.file("a.firn"), key = isEncrypted ? key : nil
        var digests: [Int] = []
        do {
            let database = try grown(path, rows: 3000, key: key)
            try database.tag("first", try database.snapshot())
            digests.append(try database.snapshot().contentDigest())
            let other = try database.begin()
            try other.extendSchema([TypeSchema("Other", columns: ShrinkTests.type.columns)])
            try other.bulkWriter("Other").append(ShrinkTests.rows(60_000, seed: 3))
            try other.commit()
            // Few enough changes per commit that they are stored as records in the delta.
            for first in stride(from: 0, to: 960, by: 80) {
                let changes = try database.begin()
                for id in first..<first + 80 {
                    try changes.update(
                        "T", rowID: Int64(id), column: "s",
                        .string("changed \(id) " + String(repeating: "\(id % 7)", count: id % 30 == 0 ? 3000 : 250)))
                }
                if first == 0 { for id in 2000..<2090 { try changes.delete("T", rowID: Int64(id)) } }
                try changes.commit()
            }
            let deletion = try database.begin()
            for id in 0..<60_000 { try deletion.delete("Other", rowID: Int64(id)) }
            try deletion.commit()
            digests.append(try database.snapshot().contentDigest())
        }
        /// Returns the nodes of the delta, and the extents of its large values.
        func delta() throws -> Set<ExtentRef> {
            let snapshot = try Database.open(path: path, key: key).snapshot()
            return try snapshot.core.liveExtents().types.reduce(into: []) { $0.formUnion($1.delta) }
        }
        let before = try delta(), report = try Database.shrink(path: path, key: key), after = try delta()
        #expect(
            before.count > 30 && after.count == before.count && before.isDisjoint(with: after),
            "\(before.count) extents, \(after.count) after, \(before.intersection(after).count) of them the same; \(report)")
        #expect(report.bytesAfter < report.bytesBefore * 2 / 3 && report.waitingForReaders == 0, "\(report)")
        #expect(after.map(\.range.upperBound).max() ?? 0 <= report.bytesAfter)
        try check(path, key: key, holds: digests[1], "changes under a tag")
        do {
            let database = try Database.open(path: path, writable: true, key: key), tagged = try database.snapshot(tag: "first")
            #expect(try tagged.contentDigest() == digests[0] && tagged.verify(full: true).isEmpty)
            try database.untag("first")
        }
        _ = try Database.shrink(path: path, key: key)
        #expect(try delta().isEmpty)
        try check(path, key: key, holds: digests[1], "without the tag")
    }
}
