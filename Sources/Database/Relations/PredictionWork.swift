import FirnBytes
import FirnCodecs
import FirnTable
import FirnThreads

/// The search for columns that other columns or earlier rows predict, in one segment: candidates from a sample, then encoded to know what
/// they save. Deterministic.
struct PredictionWork {
    private typealias Streams = RelationWork.Streams

    private let columns: [Column?]
    private let canBeCoded: [Bool]
    private let profile: Profile
    private let rows: Int
    private let threads: Int
    private let sketches: [ColumnSketch?]
    private var plain: [Int: Streams]
    private var numbers: [NumberColumn] = []
    /// The predictions that were taken.
    private(set) var chosen: [(target: Int, prediction: Prediction)] = []

    /// At most so many columns are compared with each other.
    private static let maximumColumns = 64
    /// A second candidate may be estimated to take this times as much as the first.
    private static let closeness = 1.25
    /// Predicted numbers are read several times as slowly as bit-packed ones, and scans read full segments.
    private var isScanned: Bool { profile == .standard && rows >= segmentSize }
    /// A prediction must save this share of the bytes of the column, in hundredths.
    private var minimumShare: Int { isScanned ? 25 : 10 }
    /// In full segments, numbers that are entropy-coded wherever it pays must save this share: without entropy coding they are read faster.
    private static let minimumSlowShare = 33
    /// A prediction must save so many bytes: in full segments 3/4 of a bit a row.
    private var minimumGain: Int { isScanned ? rows * 3 / 32 : 48 }

    init(_ columns: [Column?], canBeCoded: [Bool], profile: Profile, threads: Int, relations: RelationWork) {
        (self.columns, self.canBeCoded, self.profile, self.threads) = (columns, canBeCoded, profile, threads)
        rows = columns.lazy.compactMap { $0?.count }.first ?? 0
        plain = relations.plain
        sketches = relations.sketches
    }

    /// Returns a column that takes part.
    private func values(_ index: Int) -> Column {
        guard let column = columns[index] else { trap("a column that takes part in a prediction has values") }
        return column
    }

    /// Looks for predictions, or tries those that are known from the segment before, and takes those that save bytes.
    mutating func choose(
        _ known: [(target: Int, prediction: Prediction)]?, _ roles: inout [ColumnRole], _ prepared: inout [Int: RelationWork.Streams]
    ) {
        openNumbers(known, roles, &prepared)
        let candidates: [LinearSearch.Candidate]
        if let known {
            candidates = known.map { LinearSearch.Candidate(target: $0.target, prediction: $0.prediction, bytes: 0) }
        } else {
            candidates = search(roles)
        }
        let usable = best(candidates.filter { isOpen($0, roles) })
        guard !usable.isEmpty else { return }
        let tried = parallelReads(usable.count, threads) { Unshared(encode(usable[$0])) }.map(\.value)
        take(zip(usable, tried).compactMap { candidate, predicted in predicted.map { (candidate.target, $0) } }, &roles, &prepared)
    }

    // MARK: Numbers

    /// Encodes the columns of numbers that were not encoded before. The streams show in which form each stores its doubles.
    private mutating func openNumbers(
        _ known: [(target: Int, prediction: Prediction)]?, _ roles: [ColumnRole], _ prepared: inout [Int: RelationWork.Streams]
    ) {
        let rows = rows, wanted = known.map { Set($0.flatMap { [$0.target] + $0.prediction.sources }) }
        let involved = columns.indices.filter { index in
            guard let column = columns[index], column.count == rows, wanted?.contains(index) ?? true else { return false }
            return NumberColumn.accepts(column)
        }
        let missing = involved.filter { plain[$0] == nil }
        let encoded = parallelReads(missing.count, threads) { Unshared(ColumnEncoder.numbers(values(missing[$0]), profile: profile)) }
        for (index, streams) in zip(missing, encoded) {
            plain[index] = streams.value
            if case .alone = roles[index] { prepared[index] = streams.value }
        }
        numbers = involved.map { index in
            let bytes = RelationWork.bytes(plain[index])
            let isSingle = columns[index]?.type.kind == .float
            return NumberColumn(
                index: index, form: PredictionWork.form(plain[index] ?? [], rows: rows, single: isSingle), bytes: bytes, isSingle: isSingle)
        }
        guard numbers.count > PredictionWork.maximumColumns, known == nil else { return }
        numbers = Array(numbers.sorted { ($0.bytes, $1.index) > ($1.bytes, $0.index) }.prefix(PredictionWork.maximumColumns))
            .sorted { $0.index < $1.index }
    }

    /// Returns the form in which a column of doubles was encoded; nil for other columns.
    private static func form(_ streams: RelationWork.Streams, rows: Int, single: Bool) -> NumberForm? {
        guard let stream = streams.first(where: { $0.kind == .reals }) else { return nil }
        let form = stream.bytes.withUnsafeBytes { bytes in try? FloatsReader(bytes, count: rows).dominantForm }
        return form ?? .ordered(single: single)
    }

    // MARK: Candidates

    /// Whether the columns of a candidate take part, and have no other relation that forbids it. A column that took part in the segment before
    /// may be almost empty in this one.
    private func isOpen(_ candidate: LinearSearch.Candidate, _ roles: [ColumnRole]) -> Bool {
        guard columns[candidate.target] != nil else { return false }
        switch roles[candidate.target] {
        case .source, .predicted, .pieced: return false
        case .alone, .related: break
        }
        let isLinear = if case .last = candidate.prediction.rule { false } else { true }
        return candidate.prediction.sources.allSatisfy { source in
            switch roles[source] {
            // Groups are codes, which text may no longer have in this segment.
            case .alone, .source: columns[source] != nil && (isLinear || canBeCoded[source] && RelationWork.hasCodes(columns[source]))
            case .related: isLinear
            case .predicted, .pieced: false
            }
        }
    }

    /// Returns the candidates that are encoded: two for each column if they are close to each other, or one with a profile that takes long
    /// to encode.
    private func best(_ candidates: [LinearSearch.Candidate]) -> [LinearSearch.Candidate] {
        var taken: [Int: Int] = [:], least: [Int: Double] = [:], best: [LinearSearch.Candidate] = []
        let most = profile == .small || profile == .modelled ? 1 : 2
        for candidate in candidates.sorted(by: { $0.bytes < $1.bytes }) where taken[candidate.target, default: 0] < most {
            let first = least[candidate.target, default: candidate.bytes]
            guard candidate.bytes <= first * PredictionWork.closeness else { continue }
            least[candidate.target] = first
            taken[candidate.target, default: 0] += 1
            best.append(candidate)
        }
        return best
    }

    private func search(_ roles: [ColumnRole]) -> [LinearSearch.Candidate] {
        let sample = RelationSearch.sample(rows: rows)
        let linear = LinearSearch(
            parallelReads(numbers.count, threads) { NumberSample(numbers[$0], of: values(numbers[$0].index).gather(sample)) }, rows: rows)
        let groups = LastSearch.groups(columns, sketches, roles: roles, canBeCoded: canBeCoded, rows: rows)
        let last = LastSearch(columns, numbers, rows: rows, block: block)
        let promising = parallelReads(groups.count, threads) { last.promising(group: groups[$0]) }
        let made = parallelReads(groups.count, threads) { promising[$0].isEmpty ? nil : last.groups(groups[$0]) }
        return parallelReads(numbers.count, threads) { k -> [LinearSearch.Candidate] in
            let near = groups.indices.compactMap { index in
                promising[index].contains(k) ? made[index].map { (column: groups[index], groups: $0) } : nil
            }
            return linear.candidates(for: k) + last.candidates(k, groups: near)
        }.flatMap { $0 }
    }

    /// The block of the rule `last`: the whole segment, or 8 vectors of segments that scans and look-ups read.
    private var block: Int { isScanned ? 4 : 0 }

    // MARK: Trials

    /// Returns the streams of a column with a prediction, or nil if its rows do not fit it.
    private func encode(_ candidate: LinearSearch.Candidate) -> PredictedColumn? {
        let column = values(candidate.target)
        var prediction = candidate.prediction, exceptions: [Int] = []
        let own = NumberColumn(index: candidate.target, form: prediction.form, bytes: 0)
        var differences = own.numbers(of: column, rows: 0..<rows, exceptions: &exceptions)
        guard exceptions.count * 20 <= rows else { return nil }
        var skipped = column.present.map { Bits(words: $0.words.map { ~$0 }, count: $0.count) } ?? Bits(repeating: false, count: rows)
        for row in exceptions { skipped[row] = true }
        switch prediction.rule {
        case .linear(let terms, let shift, let constant): subtract(terms, shift, constant, from: &differences)
        case .product(let terms, let scale, let offset):
            var product = Product(count: rows)
            for term in terms { product.take(numbers(of: term), term) }
            product.forEach(scale: scale, offset: offset, form: prediction.form) { differences[$0] &-= $1 }
        case .last(let source, _, let block, _):
            // A column with one value is stored without codes.
            guard let groups = ColumnClasses(values(source), limit: max(rows / 2, 2)), groups.count >= 2 else { return nil }
            let keys = groups.count + (groups.hasNulls ? 1 : 0)
            let start = (0..<rows).first { !skipped[$0] }.map { differences[$0] } ?? 0
            prediction.rule = .last(column: source, keys: keys, block: block, start: start)
            chain(&differences, groups.ids.map { $0 < 0 ? Int64(keys - 1) : Int64($0) }, skipped, keys: keys, block: block, start: start)
        }
        prediction.exceptions = exceptions.count
        let present = skipped.noneSet ? nil : Bits(words: skipped.words.map { ~$0 }, count: rows)
        func encode(_ profile: Profile) -> [UInt8] {
            differences.withUnsafeBufferPointer { IntegersEncoder.encode($0, present: present, profile: profile) }
        }
        // Models take long, and save little of what others cannot save.
        if profile == .modelled, encode(.small).count > RelationWork.bytes(plain[candidate.target]) { return nil }
        /// Streams that scans read are encoded as derived ones if they save much, or if others save enough already.
        func encodeScanned() -> [UInt8] {
            let derived = encode(.derived), plain = RelationWork.bytes(plain[candidate.target])
            func saves(_ bytes: [UInt8], _ share: Int) -> Bool { bytes.count * 100 <= plain * (100 - share) }
            if saves(derived, Self.minimumSlowShare) { return derived }
            let stored = encode(profile)
            return saves(stored, minimumShare) ? derived : stored
        }
        let stored = isScanned ? encodeScanned() : encode(profile)
        return PredictedColumn(prediction: prediction, streams: streams(column, prediction, stored, exceptions: exceptions))
    }

    private func subtract(_ terms: [Prediction.Term], _ shift: Int, _ constant: Int64, from numbers: inout [Int64]) {
        var sums = [Int64](repeating: constant, count: rows)
        for term in terms {
            let source = self.numbers(of: term)
            for i in 0..<rows { sums[i] &+= term.factor &* source[i] }
        }
        for i in 0..<rows { numbers[i] &-= sums[i] &>> Int64(shift) }
    }

    /// Returns the numbers of a column that predicts another one, 0 where there is none.
    private func numbers(of term: Prediction.Term) -> [Int64] {
        var none: [Int] = []
        return NumberColumn(index: term.column, form: term.form, bytes: 0)
            .numbers(of: values(term.column), rows: 0..<rows, exceptions: &none)
    }

    private func chain(_ numbers: inout [Int64], _ groups: [Int64], _ skipped: Bits, keys: Int, block: Int, start: Int64) {
        let size = Prediction.blockRows(block)
        for first in stride(from: 0, to: rows, by: size) {
            var chains = GroupChains(keys: keys, start: start)
            chains.differ(&numbers, groups: groups, skipped: skipped, rows: first..<min(first + size, rows))
        }
    }

    private func streams(_ column: Column, _ prediction: Prediction, _ differences: [UInt8], exceptions: [Int]) -> Streams {
        var streams: Streams = [(.words, differences)]
        if column.type.payload.contains(.extra) {
            let bytes = column.extra.withUnsafeBufferPointer {
                IntegersEncoder.encode($0, present: column.presence(of: .extra), profile: profile)
            }
            streams.append((.extra, bytes))
        }
        if !exceptions.isEmpty {
            let doubles = exceptions.map { column.reals[$0] }
            let bytes = doubles.withUnsafeBufferPointer {
                FloatsEncoder.encode($0, present: nil, single: column.type.kind == .float, profile: profile)
            }
            streams.append((.reals, bytes))
        }
        streams.append((.relation, prediction.encoded(exceptions: exceptions, profile: profile)))
        return streams
    }

    // MARK: Choosing

    /// Takes the predictions that save most. A column that is predicted predicts no other one.
    private mutating func take(
        _ tried: [(target: Int, column: PredictedColumn)], _ roles: inout [ColumnRole], _ prepared: inout [Int: RelationWork.Streams]
    ) {
        var coded: [Int: Streams] = [:]
        let gains = tried.map { trial -> Double in
            let size = size(trial.target, roles, prepared)
            let gain = size - trial.column.size
            guard gain >= minimumGain, gain * 100 >= size * minimumShare else { return 0 }
            // Of two columns that predict each other, the first stays.
            let isLater = trial.column.prediction.sources.allSatisfy { $0 < trial.target }
            return Double(gain) * (isLater ? 1.02 : 1)
        }
        var sources: Set<Int> = []
        for index in tried.indices.sorted(by: { (gains[$0], $1) > (gains[$1], $0) }) where gains[index] > 0 {
            let trial = tried[index]
            let candidate = LinearSearch.Candidate(target: trial.target, prediction: trial.column.prediction, bytes: 0)
            guard isOpen(candidate, roles), !sources.contains(trial.target) else { continue }
            if case .last(let source, _, _, _) = trial.column.prediction.rule, case .alone = roles[source] {
                // The other column needs codes.
                let column = values(source)
                if column.type.payload != [.text] {
                    let streams = coded[source] ?? ColumnEncoder.numbers(column, isCoded: true, profile: profile)
                    coded[source] = streams
                    let without = prepared[source] ?? ColumnEncoder.numbers(column, profile: profile)
                    guard Double(RelationWork.bytes(streams) - RelationWork.bytes(without)) < gains[index] * 0.9 else { continue }
                    prepared[source] = streams
                }
                roles[source] = .source
            }
            roles[trial.target] = .predicted(trial.column)
            sources.formUnion(trial.column.prediction.sources)
            chosen.append((trial.target, trial.column.prediction))
        }
        chosen.sort { $0.target < $1.target }
    }

    /// Returns the bytes of a column as it would be encoded without a prediction.
    private func size(_ column: Int, _ roles: [ColumnRole], _ prepared: [Int: RelationWork.Streams]) -> Int {
        guard case .related(let related) = roles[column] else { return RelationWork.bytes(plain[column]) }
        return RelationWork.bytes(prepared[column]) + related.relation.encoded(exceptions: related.exceptions, profile: profile).count
    }
}
