/// The states that a disk may have after a power failure following any call of a journal: synced data is complete, other data is arbitrary.
///
/// Bytes that a write does not touch stay unchanged ("powersafe overwrite"). Bytes of an unsynced write may be written, not written,
/// written in part (by sectors of 512 bytes and pages of 4,096), zero or garbage, in any order, and with the new or the old length of the
/// file. Changes of names are applied in their order up to any point. Changes of names in a synced folder are complete.
package struct CrashImages {
    /// The number of samples where not all combinations can be tried.
    package var samples: Int
    private var random: Random

    package init(seed: UInt64, samples: Int = 4) {
        self.samples = samples
        random = Random(seed: seed)
    }

    private mutating func number(_ limit: Int) -> Int { Int(random.next() % UInt64(max(limit, 1))) }

    /// Calls `body` with each disk image of a crash after `stop` events, for each stop in `range`.
    package mutating func visit(
        _ events: [DiskJournal.Event], from first: DiskState, stops range: ClosedRange<Int>,
        _ body: (_ stop: Int, _ what: String, _ files: [String: [UInt8]]) throws -> Void
    ) rethrows {
        var durable = first
        /// Changes of files and of names that are not synced yet.
        var loose: [DiskJournal.Event] = [], looseNames: [DiskJournal.Event] = []
        for stop in 0...range.upperBound {
            if stop > 0 {
                switch events[stop - 1] {
                case .sync(let file):
                    for event in loose where event.file == file { durable.apply(event) }
                    loose.removeAll { $0.file == file }
                case .syncDirectory:
                    looseNames.forEach { durable.apply($0) }
                    looseNames = []
                case let event where event.isOfNames: looseNames.append(event)
                case let event: loose.append(event)
                }
            }
            guard range.contains(stop) else { continue }
            let changes = variants(loose, durable)
            for kept in 0...looseNames.count {
                var names = durable
                for event in looseNames[..<kept] { names.apply(event) }
                // All variants with all changes of names, and some of the variants with fewer of them.
                for (index, change) in changes.enumerated() where kept == looseNames.count || index < 2 || number(changes.count) < samples {
                    var state = names
                    change.events.forEach { state.apply($0) }
                    for (file, length) in change.lengths where (state.contents[file]?.count ?? 0) > length {
                        state.contents[file]!.removeLast(state.contents[file]!.count - length)
                    }
                    try body(stop, "\(kept)/\(looseNames.count) names, \(change.what)", state.files())
                }
            }
        }
    }

    private struct Change {
        var what: String
        var events: [DiskJournal.Event]
        /// The lengths of files whose new length did not become durable.
        var lengths: [Int: Int] = [:]
    }

    private mutating func variants(_ loose: [DiskJournal.Event], _ durable: DiskState) -> [Change] {
        var list = [Change(what: "all", events: loose)]
        if loose.isEmpty { return list }
        list.append(Change(what: "none", events: []))
        if loose.count <= 4 {
            for mask in 1..<(1 << loose.count) - 1 {
                list.append(Change(what: "subset \(mask)", events: loose.indices.filter { mask >> $0 & 1 == 1 }.map { loose[$0] }))
            }
        } else {
            for _ in 0..<samples * 4 {
                let mask = random.next()
                list.append(
                    Change(
                        what: "subset of \(loose.count)",
                        events: loose.indices.filter { mask >> UInt64($0 % 64) & 1 == 1 }.map { loose[$0] }))
            }
            for index in sample(loose.count) {
                var some = loose
                some.remove(at: index)
                list.append(Change(what: "without \(index)", events: some))
                list.append(Change(what: "only \(index)", events: [loose[index]]))
            }
        }
        if loose.count > 1 { list.append(Change(what: "reordered", events: loose.shuffled(using: &random))) }
        var lengths: [Int: Int] = [:]
        for file in Set(loose.compactMap(\.file)) { lengths[file] = durable.contents[file]?.count ?? 0 }
        list.append(Change(what: "old length", events: loose, lengths: lengths))
        for index in sample(loose.count) { spoil(loose, index, &list) }
        return list
    }

    private mutating func sample(_ count: Int) -> [Int] {
        count <= samples * 2 ? Array(0..<count) : (0..<samples * 2).map { _ in number(count) } + [count - 1]
    }

    /// A write that is partly written or replaced by other bytes.
    private mutating func spoil(_ loose: [DiskJournal.Event], _ index: Int, _ list: inout [Change]) {
        guard case .write(let file, let offset, let bytes) = loose[index], bytes.count > 0 else { return }
        func add(_ what: String, _ parts: [DiskJournal.Event]) {
            var some = loose
            some.replaceSubrange(index...index, with: parts)
            list.append(Change(what: "\(what) \(index)", events: some))
        }
        func part(_ range: Range<Int>) -> DiskJournal.Event {
            .write(file: file, offset: offset + UInt64(range.lowerBound), bytes: Array(bytes[range]))
        }
        func pieces(_ size: Int) -> [Range<Int>] {
            var cuts = [0], at = size - Int(offset % UInt64(size))
            while at < bytes.count {
                cuts.append(at)
                at += size
            }
            cuts.append(bytes.count)
            return zip(cuts, cuts.dropFirst()).map { $0..<$1 }
        }
        let sectors = pieces(512), pages = pieces(4096)
        for whole in [sectors, pages] where whole.count > 1 {
            let cut = whole[number(whole.count - 1)].upperBound, size = whole == sectors ? 512 : 4096
            add("torn at \(size)", [part(0..<cut)])
            add("torn before \(size)", [part(cut..<bytes.count)])
            add("pieces of \(size)", whole.filter { _ in random.next() & 1 == 1 }.map(part))
        }
        add("zeroed", [.write(file: file, offset: offset, bytes: [UInt8](repeating: 0, count: bytes.count))])
        let sector = sectors[number(sectors.count)]
        var spoiled = bytes
        spoiled.replaceSubrange(sector, with: repeatElement(0, count: sector.count))
        add("zero sector", [.write(file: file, offset: offset, bytes: spoiled)])
        for byte in sector { spoiled[byte] = UInt8(truncatingIfNeeded: random.next()) }
        add("garbage sector", [.write(file: file, offset: offset, bytes: spoiled)])
        add("garbage", [.write(file: file, offset: offset, bytes: bytes.indices.map { _ in UInt8(truncatingIfNeeded: random.next()) })])
    }
}
