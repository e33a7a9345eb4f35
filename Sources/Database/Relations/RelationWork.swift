import FirnBytes
import FirnCodecs
import FirnTable
import FirnThreads

/// The search for relations in one segment: candidates from a sample, verified in all rows, then encoded to know what they save.
struct RelationWork {
    /// A pair of columns that was found to save bytes.
    struct Chosen {
        var source: Int
        var target: Int
        var related: RelatedColumn
    }

    typealias Streams = [(kind: StreamKind, bytes: [UInt8])]

    /// What one value of the source says about the target, in all rows.
    private struct Vote: Sendable {
        var source: Int
        var target: Int
        /// The number of keys and of exceptions.
        var keys: Int
        var exceptions: Int
        var ownsPresence: Bool
        /// The bits that are saved, estimated.
        var gain: Double
    }

    private let columns: [Column?]
    private let profile: Profile
    private let rows: Int
    private let threads: Int
    private(set) var sketches: [ColumnSketch?] = []
    private var classes: [Int: ColumnClasses] = [:]
    private(set) var prepared: [Int: Streams] = [:]
    /// The streams of columns of numbers without a relation, of those that were encoded.
    private(set) var plain: [Int: Streams] = [:]

    /// At most so many pairs are verified in a segment, which bounds time and memory for wide types.
    private static let maximumPairs = 160

    /// A relation must save this share of the bytes of the column, in hundredths.
    private static let minimumShare = 10
    /// A relation must save so many bytes. Rows that follow from another column are read several times as slowly as bit-packed ones, and full
    /// segments are those of large tables, which scans read: there it must save three bits a row. So flags and other small codes stay as
    /// they are.
    private var minimumGain: Int { profile == .standard && rows >= segmentSize ? rows * 3 / 8 : 48 }

    init(_ columns: [Column?], profile: Profile, rows: Int, threads: Int) {
        self.columns = columns
        self.profile = profile
        self.rows = rows
        self.threads = threads
    }

    /// Returns the pairs to verify: those given, or those that a sample shows.
    mutating func candidates(_ known: [(source: Int, target: Int)]?, canBeCoded: [Bool]) -> [RelationSearch.Candidate] {
        let sample = RelationSearch.sample(rows: rows), wanted = known.map { Set($0.flatMap { [$0.source, $0.target] }) }
        let columns = columns, rows = rows
        func sketch(_ index: Int) -> ColumnSketch? {
            guard let column = columns[index], column.count == rows, wanted?.contains(index) ?? true else { return nil }
            return ColumnSketch(sample.count == rows ? column : column.gather(sample), rows: rows)
        }
        let keepsRows = columns.count <= RelationSearch.maximumKept
        sketches = parallelReads(columns.count, threads) { Unshared(keepsRows ? sketch($0) : sketch($0)?.withoutRows) }.map(\.value)
        let sketches = sketches, mayCode = columns.indices.map { canBeCoded[$0] && RelationWork.hasCodes(columns[$0]) }
        if let known {
            return known.filter { mayCode[$0.source] && sketches[$0.source] != nil && sketches[$0.target] != nil }
                .map { RelationSearch.Candidate(source: $0.source, target: $0.target, gain: 0) }
        }
        let sources = RelationSearch.sources(sketches, canBeSource: mayCode).map {
            (column: $0, sketch: keepsRows ? sketches[$0]! : sketch($0)!)
        }
        let found = parallelReads(columns.count, threads) { target -> Unshared<[RelationSearch.Candidate]> in
            guard sketches[target]?.canBeTarget ?? false, let own = keepsRows ? sketches[target] : sketch(target) else {
                return Unshared([])
            }
            return Unshared(RelationSearch.candidates(for: target, own, sources: sources, rows: rows))
        }.flatMap(\.value)
        guard found.count > RelationWork.maximumPairs else { return found }
        return Array(found.sorted { ($0.gain, $1.target, $1.source) > ($1.gain, $0.target, $0.source) }.prefix(RelationWork.maximumPairs))
    }

    /// Whether the codes of a column can stand for its values: one integer, float or text a row, or dates of the same fraction.
    static func hasCodes(_ column: Column?) -> Bool {
        guard let column else { return false }
        if column.type.payload == [.text] { return column.text.bytes.count <= maximumSourceBytes }
        return column.type.payload.count == 1 || column.type.kind == .date && column.extra.allSatisfy { $0 == column.extra[0] }
    }

    /// Text of a column that others follow from stays in the dictionary of its group, which must not become too large.
    private static let maximumSourceBytes = 8 << 20

    /// Verifies the candidates in all rows, and returns those that save bytes.
    mutating func choose(_ candidates: [RelationSearch.Candidate]) -> [Chosen] {
        let involved = Set(candidates.flatMap { [$0.source, $0.target] }).sorted(), columns = columns, rows = rows
        let numbered = parallelReads(involved.count, threads) { Unshared(ColumnClasses(columns[involved[$0]]!, limit: max(rows / 2, 2))) }
        for (index, found) in zip(involved, numbered) { classes[index] = found.value }
        let votes = parallelReads(candidates.count, threads) { vote(candidates[$0].source, candidates[$0].target) }.compactMap { $0 }
        let assigned = RelationWork.assign(votes)
        guard !assigned.isEmpty else { return [] }
        let sources = Set(assigned.map(\.source)).sorted()
        let ranks = Dictionary(uniqueKeysWithValues: zip(sources, parallelReads(sources.count, threads) { rank(sources[$0]) }))
        // Both encodings of each source, then the pairs: together, so that the threads always have work.
        let encoded = parallelReads(sources.count * 2 + assigned.count, threads) { index -> Unshared<(streams: Streams?, trial: Trial?)> in
            if index < sources.count * 2 { return Unshared((numbers(sources[index / 2], isCoded: index % 2 == 1), nil)) }
            let vote = assigned[index - sources.count * 2]
            return Unshared((nil, encode(vote, ranks[vote.source]!)))
        }.map(\.value)
        let tried = encoded.compactMap(\.trial)
        var chosen: [Chosen] = []
        for (index, source) in sources.enumerated() {
            let plain = encoded[index * 2].streams, coded = encoded[index * 2 + 1].streams
            let gains = tried.filter { $0.chosen.source == source }.reduce(0) { $0 + max($1.gain, 0) }
            let isWorth = gains > RelationWork.bytes(coded) - RelationWork.bytes(plain)
            for trial in tried where trial.chosen.source == source {
                let takes = isWorth && trial.gain > 0
                if takes { chosen.append(trial.chosen) }
                prepared[trial.chosen.target] = takes ? trial.related : trial.plain
                self.plain[trial.chosen.target] = trial.plain
            }
            self.plain[source] = plain
            prepared[source] = isWorth ? coded : plain
        }
        return chosen.sorted { $0.target < $1.target }
    }

    /// Chooses the columns that others follow from, those that save most first. No column is both.
    private static func assign(_ votes: [Vote]) -> [Vote] {
        var open = votes, assigned: [Vote] = []
        while !open.isEmpty {
            var totals: [Int: Double] = [:]
            for vote in open { totals[vote.source, default: 0] += vote.gain }
            let best = totals.max { ($0.value, $1.key) < ($1.value, $0.key) }!.key
            let taken = open.filter { $0.source == best }, targets = Set(taken.map(\.target))
            assigned += taken
            open.removeAll { $0.source == best || targets.contains($0.target) || targets.contains($0.source) || $0.target == best }
        }
        return assigned
    }

    // MARK: Verifying

    private func vote(_ source: Int, _ target: Int) -> Vote? {
        guard let s = classes[source], let t = classes[target], s.count >= 2, s.count * 4 <= rows * 3, let sketch = sketches[target] else {
            return nil
        }
        let keys = s.count + (s.hasNulls ? 1 : 0)
        var exceptions = RelationWork.winners(s, t, nullsCount: true).exceptions, ownsPresence = false
        var presenceBits = 0.0
        if t.hasNulls, let present = columns[target]!.present {
            let without = RelationWork.winners(s, t, nullsCount: false).exceptions
            presenceBits = 8 * Double(BooleansEncoder.encode(present, profile: profile).count)
            let each = 12 + sketch.information
            if Double(exceptions - without) * each > presenceBits { (exceptions, ownsPresence) = (without, true) }
        }
        let n = Double(rows), e = Double(exceptions)
        let after =
            Double(keys) * sketch.information + e * (sketch.information + 2 + logarithm(n / max(e, 1))) + (ownsPresence ? presenceBits : 0)
        let gain = n * sketch.cost - after
        guard exceptions * 4 <= rows, gain > 8 * Double(minimumGain) else { return nil }
        return Vote(source: source, target: target, keys: keys, exceptions: exceptions, ownsPresence: ownsPresence, gain: gain)
    }

    /// Returns the most likely value of the target for each value of the source (majority vote of Boyer and Moore), and the number of rows
    /// that have another one. `nullsCount`: null is a value of the target; otherwise rows without one say nothing.
    private static func winners(_ s: ColumnClasses, _ t: ColumnClasses, nullsCount: Bool) -> (winners: [Int32], exceptions: Int) {
        var winners = [Int32](repeating: -2, count: s.count + 1), votes = [Int32](repeating: 0, count: s.count + 1), exceptions = 0
        winners.withUnsafeMutableBufferPointer { winners in
            for i in s.ids.indices {
                let b = t.ids[i]
                if b < 0, !nullsCount { continue }
                let a = s.ids[i] < 0 ? s.count : Int(s.ids[i])
                if winners[a] == b {
                    votes[a] &+= 1
                } else if votes[a] == 0 {
                    (winners[a], votes[a]) = (b, 1)
                } else {
                    votes[a] &-= 1
                }
            }
            for i in s.ids.indices {
                let b = t.ids[i]
                if b < 0, !nullsCount { continue }
                if winners[s.ids[i] < 0 ? s.count : Int(s.ids[i])] != b { exceptions &+= 1 }
            }
        }
        return (winners, exceptions)
    }

    /// Returns the rank of each distinct value of a source, in the order of its codes.
    private func rank(_ source: Int) -> [Int32] {
        let column = columns[source]!, s = classes[source]!
        var first = [Int](repeating: -1, count: s.count)
        for (row, id) in s.ids.enumerated() where id >= 0 && first[Int(id)] < 0 { first[Int(id)] = row }
        let order: [Int]
        if column.type.payload == [.text] {
            order = first.indices.sorted { a, b in
                column.text.withBytes(first[a]) { x in
                    column.text.withBytes(first[b]) { y in x.lexicographicallyPrecedes(y) }
                }
            }
        } else if column.type.payload == [.reals] {
            order = first.indices.sorted { FloatsEncoder.precedes(column.reals[first[$0]], column.reals[first[$1]]) }
        } else {
            order = first.indices.sorted { column.words[first[$0]] < column.words[first[$1]] }
        }
        var rank = [Int32](repeating: 0, count: s.count)
        for (position, id) in order.enumerated() { rank[id] = Int32(position) }
        return rank
    }

    private func related(_ vote: Vote, _ rank: [Int32]) -> RelatedColumn {
        let s = classes[vote.source]!, t = classes[vote.target]!
        let winners = RelationWork.winners(s, t, nullsCount: !vote.ownsPresence).winners
        var rows = [Int](repeating: -1, count: vote.keys), isWinner = Bits(repeating: false, count: vote.keys), exceptions: [Int] = []
        for i in s.ids.indices {
            let a = s.ids[i] < 0 ? s.count : Int(s.ids[i]), key = a == s.count ? s.count : Int(rank[a]), b = t.ids[i]
            if rows[key] < 0 { rows[key] = i }
            if b < 0, vote.ownsPresence { continue }
            if winners[a] != b {
                exceptions.append(i)
            } else if !isWinner[key] {
                (rows[key], isWinner[key]) = (i, true)
            }
        }
        return RelatedColumn(
            relation: Relation(kind: .map, column: vote.source, keys: vote.keys, exceptions: exceptions.count), rows: rows + exceptions,
            ownsPresence: vote.ownsPresence)
    }

    // MARK: Costs

    private struct Trial {
        var chosen: Chosen
        var gain: Int
        var plain: Streams?
        var related: Streams?
    }

    /// Encodes a column with and without the relation. Of text, only the codes are compared: both need the values.
    private func encode(_ vote: Vote, _ rank: [Int32]) -> Trial {
        let column = columns[vote.target]!, related = related(vote, rank), t = classes[vote.target]!
        let entries = related.entries(of: column), head = related.relation.encoded(exceptions: related.exceptions, profile: profile).count
        var presence = 0
        if t.hasNulls, let bits = column.present {
            let own = BooleansEncoder.encode(bits, profile: profile).count
            presence = vote.ownsPresence ? 0 : own - (entries.present.map { BooleansEncoder.encode($0, profile: profile).count } ?? 0)
        }
        var trial = Trial(chosen: Chosen(source: vote.source, target: vote.target, related: related), gain: 0)
        let before: Int, after: Int
        if column.type.payload == [.text] {
            before = codes(t.ids, column.present)
            after = codes(related.rows.map { t.ids[$0] }, entries.present)
        } else {
            let plain = ColumnEncoder.numbers(column, profile: profile), mapped = ColumnEncoder.numbers(entries, profile: profile)
            before = plain.reduce(0) { $0 + $1.bytes.count }
            after = mapped.reduce(0) { $0 + $1.bytes.count }
            (trial.plain, trial.related) = (plain, mapped)
        }
        let gain = before + presence - after - head - 8
        if gain >= minimumGain, gain * 100 >= (before + presence) * RelationWork.minimumShare { trial.gain = gain }
        return trial
    }

    /// Returns the bytes of codes, which are only compared: models would take long.
    private func codes(_ ids: [Int32], _ present: Bits?) -> Int {
        let profile = profile == .modelled ? Profile.small : profile
        return ids.map { Int64(max($0, 0)) }.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: present, profile: profile) }
            .count
    }

    /// Returns the streams of a column of numbers, or of its codes; nil for text.
    private func numbers(_ source: Int, isCoded: Bool) -> Streams? {
        let column = columns[source]!
        return column.type.payload == [.text] ? nil : ColumnEncoder.numbers(column, isCoded: isCoded, profile: profile)
    }

    static func bytes(_ streams: Streams?) -> Int { streams?.reduce(0) { $0 + $1.bytes.count } ?? 0 }
}
