import FirnBytes
import FirnDisk
import FirnStore

extension Database {
    /// Makes a file shorter where it lies, beside readers and other writers: deleted rows go, what lies at the end of the file moves into free space further down, and the end is given
    /// back. Versions without a tag are dropped but for the two newest, as compaction drops them.
    ///
    /// It is a row of small commits, each durable and each with the same rows: whenever it ends, by a crash too, the file is whole, and what was gained stays. What readers and tags hold
    /// is not moved; a later run does it. Opens the file by itself: nothing else of this process that has it open is disturbed.
    package static func shrink(path: String, key: EncryptionKey? = nil, options: ShrinkOptions = ShrinkOptions(), progress: (ShrinkReport) -> Void = { _ in }) throws(FirnError) -> ShrinkReport {
        let shrinking = Shrinking(try Database.open(path: path, writable: true, key: key), options)
        return try withoutActuallyEscaping(progress) { (progress) throws(FirnError) in
            shrinking.progress = progress
            defer { shrinking.progress = { _ in } }
            try shrinking.run()
            return shrinking.report
        }
    }
}

private final class Shrinking {
    /// Bytes of one commit, about.
    private static let step: UInt64 = 16 << 20
    private static let mostRounds = 12

    private var database: Database
    private let options: ShrinkOptions
    var progress: (ShrinkReport) -> Void = { _ in }
    var report = ShrinkReport()
    /// The first version of this run: who reads a later one goes on soon.
    private var first: UInt64 = 0
    /// How far the file may reach in between.
    private var limit: UInt64 = 0

    init(_ database: Database, _ options: ShrinkOptions) {
        self.database = database
        self.options = options
    }

    func run() throws(FirnError) {
        report.bytesBefore = try Paths.size(database.path)
        defer { report.bytesAfter = (try? Paths.size(database.path)) ?? report.bytesBefore }
        if try database.store.isAtItsLeast() {
            try database.store.truncateTail()
            return
        }
        // Old versions are let go of; and readers of the newest may go on to this one.
        first = try database.store.begin().commitUnchanged()
        report.commits += 1
        progress(report)
        try dropRows(withRoom: options.room ?? max(1 << 20, report.bytesBefore / 8))
        do throws(FirnError) { try moveDown() } catch {
            try goOn(after: error)
            report.ranOutOfSpace = true
        }
        do throws(FirnError) {
            try gather()
            try measureWaiting()
        } catch {
            try goOn(after: error)
            report.ranOutOfSpace = true
        }
        try database.store.truncateTail()
    }

    /// After an error for want of space the file is opened again, and what was taken in vain given back; other errors are thrown.
    private func goOn(after error: FirnError) throws(FirnError) {
        guard error.code == .noSpace else { throw error }
        database = try Database.open(path: database.path, writable: true, key: database.key)
        try database.store.truncateTail()
    }

    // MARK: Steps

    private func begin() throws(FirnError) -> DatabaseTransaction {
        let transaction = try database.begin(threads: options.threads)
        transaction.store.packLow()
        transaction.profile = options.profile
        transaction.retention = Retention(versions: 2)
        return transaction
    }

    private func commit(_ transaction: DatabaseTransaction) throws(FirnError) {
        let bytes = transaction.store.bytesWritten
        try transaction.commit()
        report.bytesWritten += bytes
        report.commits += 1
        report.bytesAfter = (try? Paths.size(database.path)) ?? report.bytesAfter
        progress(report)
    }

    /// A commit that only carries the state of space on.
    private func settle(gathering: Bool = false) throws(FirnError) {
        try database.store.begin().commitUnchanged(gathering: gathering)
        report.commits += 1
        progress(report)
    }

    /// What died until now is free after that, unless somebody has it.
    private func ripen() throws(FirnError) { for _ in 0..<2 { try settle() } }

    /// The state of space and the records get low places; the fourth commit sees those of before free.
    private func gather() throws(FirnError) { for _ in 0..<4 { try settle(gathering: true) } }

    private func held(_ transaction: DatabaseTransaction) throws(FirnError) -> UInt64 {
        let holders = try transaction.store.holders(before: first)
        return max(holders.tags, holders.readers)
    }

    // MARK: Deleted rows

    /// With less room if the disk has no more.
    private func dropRows(withRoom most: UInt64) throws(FirnError) {
        var room = most
        while true {
            do throws(FirnError) { return try dropRows(room, isFull: room < most) } catch {
                try goOn(after: error)
                if room == 0 {
                    report.ranOutOfSpace = true
                    return
                }
                room = room > 64 << 10 ? room / 2 : 0
            }
        }
    }

    private func dropRows(_ room: UInt64, isFull: Bool) throws(FirnError) {
        let opening = try begin()
        limit = try opening.store.spaceMap(before: first).end + room
        if let dropped = try opening.flush(after: try held(opening)) {
            try commit(opening)
            report.rowsDropped += dropped
        } else { opening.cancel() }
        var isRipe = false
        while true {
            let transaction = try begin(), map = try transaction.store.spaceMap(before: first), held = try held(transaction)
            // Free space is in pieces, and not all of them fit.
            let available = (limit > map.end ? limit - map.end : 0) + map.freeBytes * 3 / 4
            // Of several segments no more than twice the budget is written.
            let piece = try transaction.nextPiece(budget: min(available * 2 / 5, Shrinking.step), after: held), index = piece == nil ? transaction.staleIndex(after: held) : nil
            guard let bytes = piece?.bytes ?? index?.bytes else { return transaction.cancel() }
            if bytes + bytes / 4 > available {
                transaction.cancel()
                if !isRipe {
                    // Space that was freed just now may do.
                    try ripen()
                    isRipe = true
                    continue
                }
                if isFull { report.ranOutOfSpace = true }
                // One large segment is given what it takes, unless somebody who reads keeps what is freed.
                guard !isFull, map.deadForReaders == 0 else { return }
                limit = max(limit, map.end) + bytes + bytes / 4
                continue
            }
            isRipe = false
            var dropped = 0
            if let piece { dropped = try transaction.repack(piece) } else if let index { try transaction.remakeIndex(index.type, index.index) }
            try commit(transaction)
            report.rowsDropped += dropped
        }
    }

    // MARK: The tail

    /// Moves what lies beyond the end that the file could have, until there is little.
    private func moveDown() throws(FirnError) {
        // What finds no place below the goal, and no room can be made for, goes right behind it: so far it reaches.
        var lastStuck = UInt64.max, beyond: UInt64 = 0
        for _ in 0..<Shrinking.mostRounds {
            try ripen()
            let opening = try begin(), map = try opening.store.spaceMap(before: first), held = try held(opening)
            let live = try opening.reading { () throws(Damage) in try opening.base.liveExtents() }
            opening.cancel()
            let used = map.end - map.freeBytes
            let fixed = live.all.reduce(map.heldEnd) { $1.birth <= held ? max($0, $1.place.upperBound) : $0 }
            let goal = max(fixed, used + used / 256 + beyond) / 64 * 64
            guard map.end > goal + max(4096, used / 64) else { return }
            var stuck: [ExtentRef] = [], moved: UInt64 = 0
            while true {
                let transaction = try begin(), moves = try transaction.moveDown(to: goal, after: held, budget: Shrinking.step)
                stuck = moves.stuck
                moved += moves.bytes
                guard moves.hasChanged else {
                    transaction.cancel()
                    break
                }
                try commit(transaction)
                guard moves.isCutShort else { break }
            }
            let left = stuck.reduce(0) { $0 + $1.length }
            if left == 0, moved == 0 { return }
            if left < lastStuck, try makeRoom(for: stuck, goal, held) {
                lastStuck = left
            } else {
                lastStuck = .max
                beyond += left
            }
        }
    }

    /// Free space below the goal is in pieces too small for some extents: clears ranges of it, those for the least writing. False if there are none.
    private func makeRoom(for stuck: [ExtentRef], _ goal: UInt64, _ held: UInt64) throws(FirnError) -> Bool {
        if stuck.isEmpty { return false }
        // Records lie in the way: there are few of them after that.
        try gather()
        let sizes = stuck.map { UInt64($0.place.count) }
        // One range for all; or, where that has more in it than fits elsewhere, one for each.
        for wanted in [[min(sizes.reduce(0, +), Shrinking.step)], sizes] {
            let transaction = try begin(), map = try transaction.store.spaceMap(before: first)
            var live = try transaction.reading { () throws(Damage) in try transaction.base.liveExtents() }.all
            live.insert(transaction.store.base.catalogue)
            let ranges = Clearing(map, live, goal: goal, held: held).ranges(of: wanted)
            if !ranges.isEmpty, case let moves = try transaction.evacuate(ranges, below: map.end), moves.hasChanged, moves.stuck.count < ranges.count {
                try commit(transaction)
                return true
            }
            transaction.cancel()
        }
        return false
    }

    // MARK: What waits

    private func measureWaiting() throws(FirnError) {
        let transaction = try begin()
        defer { transaction.cancel() }
        let holders = try transaction.store.holders(before: first), map = try transaction.store.spaceMap(before: transaction.store.base.version)
        let live = try transaction.reading { () throws(Damage) in try transaction.base.liveExtents() }
        (report.waitingForReaders, report.waitingForTags, report.waitingForVersions, report.free) = (map.deadForReaders, map.deadForTags, map.dead, map.freeBytes)
        for segment in live.types.flatMap(\.segments) where segment.entry.deletedCount > 0 {
            let bytes = segment.bytes / UInt64(segment.entry.rowCount) * UInt64(segment.entry.deletedCount)
            if segment.birth <= holders.tags { report.waitingForTags += bytes } else if segment.birth <= holders.readers { report.waitingForReaders += bytes }
        }
    }
}
