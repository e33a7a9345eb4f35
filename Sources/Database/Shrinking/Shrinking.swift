import FirnBytes
import FirnDisk
import FirnStore
import FirnTable

extension Database {
    /// Shortens a file in place, while readers and other writers use it: drops deleted rows, moves extents from the end of the file into
    /// free space below, and truncates the file. Versions without a tag are dropped except the two newest, as by compaction.
    ///
    /// The work is a series of small commits, each durable and each with the same rows. Whenever it ends, also by a crash, the file is
    /// intact, and the space gained so far is kept. What readers and tags hold is not moved; a later run does it. The function opens the
    /// file separately: other open instances in this process are not affected.
    package static func shrink(
        path: String, key: EncryptionKey? = nil, options: ShrinkOptions = ShrinkOptions(), progress: (ShrinkReport) -> Void = { _ in }
    ) throws(FirnError) -> ShrinkReport {
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
    /// About how many bytes one commit writes.
    private static let step: UInt64 = 16 << 20
    private static let maximumRounds = 12

    private var database: Database
    private let options: ShrinkOptions
    var progress: (ShrinkReport) -> Void = { _ in }
    var report = ShrinkReport()
    /// The first version of this run. Readers of later versions are expected to continue to newer ones soon.
    private var first: UInt64 = 0
    /// How far the file may reach in the meantime.
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
        // Release old versions, and let readers of the newest version continue to this one.
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

    /// After an error for lack of space, opens the file again and truncates what was allocated in vain. Rethrows other errors.
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

    /// Commits only the state of space.
    private func settle(gathering: Bool = false) throws(FirnError) {
        try database.store.begin().commitUnchanged(gathering: gathering)
        report.commits += 1
        progress(report)
    }

    /// Frees what died until now, unless readers or tags hold it.
    private func ripen() throws(FirnError) { for _ in 0..<2 { try settle() } }

    /// Moves the state of space and the commit records towards the start of the file. The fourth commit frees their previous extents.
    private func gather() throws(FirnError) { for _ in 0..<4 { try settle(gathering: true) } }

    private func held(_ transaction: DatabaseTransaction) throws(FirnError) -> UInt64 {
        let holders = try transaction.store.holders(before: first)
        return max(holders.tags, holders.readers)
    }

    // MARK: Deleted rows

    /// Tries with less room if the disk has no more.
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
        } else {
            opening.cancel()
        }
        var isRipe = false, settled = SettledSegments()
        while true {
            let transaction = try begin(), map = try transaction.store.spaceMap(before: first), held = try held(transaction)
            // Free space is fragmented, and not all pieces fit.
            let available = (limit > map.end ? limit - map.end : 0) + map.freeBytes * 3 / 4
            // For several segments, at most twice the budget is written.
            let piece = try transaction.nextPiece(budget: min(available * 2 / 5, Shrinking.step), after: held, except: settled),
                index = piece == nil ? transaction.staleIndex(after: held) : nil
            guard let bytes = piece?.bytes ?? index?.bytes else { return transaction.cancel() }
            if bytes + bytes / 4 > available {
                transaction.cancel()
                if !isRipe {
                    // Space that was freed just now may be enough.
                    try ripen()
                    isRipe = true
                    continue
                }
                if isFull { report.ranOutOfSpace = true }
                // Allow what one large segment takes, unless readers hold what is freed.
                guard !isFull, map.deadForReaders == 0 else { return }
                limit = max(limit, map.end) + bytes + bytes / 4
                continue
            }
            isRipe = false
            var dropped = 0
            if let piece {
                dropped = try transaction.repack(piece, &settled)
            } else if let index {
                try transaction.remakeIndex(index.type, index.index)
            }
            try commit(transaction)
            report.rowsDropped += dropped
        }
    }

    // MARK: The tail

    /// Moves extents that are beyond the end that the file could have, until few are left.
    private func moveDown() throws(FirnError) {
        // What finds no free range below the goal, and for which none can be made, is placed directly after it: `beyond` counts those
        // bytes.
        var lastStuck = UInt64.max, beyond: UInt64 = 0
        for _ in 0..<Shrinking.maximumRounds {
            try ripen()
            let opening = try begin(), map = try opening.store.spaceMap(before: first), held = try held(opening)
            let live = try opening.reading { () throws(Damage) in try opening.base.liveExtents() }
            opening.cancel()
            let used = map.end - map.freeBytes
            let fixed = live.all.reduce(map.heldEnd) { $1.birth <= held ? max($0, $1.range.upperBound) : $0 }
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

    /// Free space below the goal is in pieces that are too small for some extents. Clears ranges of it, those with the least writing.
    /// Returns false if there are none.
    private func makeRoom(for stuck: [ExtentRef], _ goal: UInt64, _ held: UInt64) throws(FirnError) -> Bool {
        if stuck.isEmpty { return false }
        // Commit records are in the way: few of them are left after this.
        try gather()
        let sizes = stuck.map { UInt64($0.range.count) }
        // One range for all; or, if it contains more than fits elsewhere, one for each.
        for wanted in [[min(sizes.reduce(0, +), Shrinking.step)], sizes] {
            let transaction = try begin(), map = try transaction.store.spaceMap(before: first)
            var live = try transaction.reading { () throws(Damage) in try transaction.base.liveExtents() }.all
            live.insert(transaction.store.base.catalogue)
            let ranges = Clearing(map, live, goal: goal, held: held).ranges(of: wanted)
            if !ranges.isEmpty, case let moves = try transaction.evacuate(ranges, below: map.end), moves.hasChanged,
                moves.stuck.count < ranges.count
            {
                try commit(transaction)
                return true
            }
            transaction.cancel()
        }
        return false
    }

    // MARK: Waiting space

    private func measureWaiting() throws(FirnError) {
        let transaction = try begin()
        defer { transaction.cancel() }
        let holders = try transaction.store.holders(before: first),
            map = try transaction.store.spaceMap(before: transaction.store.base.version)
        let live = try transaction.reading { () throws(Damage) in try transaction.base.liveExtents() }
        (report.waitingForReaders, report.waitingForTags, report.waitingForVersions, report.free) = (
            map.deadForReaders, map.deadForTags, map.dead, map.freeBytes
        )
        for segment in live.types.flatMap(\.segments) where segment.entry.deletedCount > 0 {
            let bytes = segment.bytes / UInt64(segment.entry.rowCount) * UInt64(segment.entry.deletedCount)
            if segment.birth <= holders.tags {
                report.waitingForTags += bytes
            } else if segment.birth <= holders.readers {
                report.waitingForReaders += bytes
            }
        }
    }
}
