import FirnBytes
import FirnCodecs
import FirnTable
import FirnThreads

/// Text that is stored with pieces of other columns.
struct PiecedColumn {
    var pieces: Pieces
    /// The text of each row, with a byte for each piece.
    var text: Text
}

/// The search for text with pieces of other columns, in one segment: candidates from a sample, then encoded to know what they save.
/// Deterministic.
struct PieceWork {
    /// A column with the terms that were found for it in a sample.
    struct Candidate: Sendable {
        var target: Int
        var terms: [Pieces.Term]
        /// The share of the rows that have a piece of the first term.
        var share: Double
        /// The bytes that are saved in the segment, estimated.
        var gain: Double
    }

    private let columns: [Column?]
    private let profile: Profile
    private let rows: Int
    private let threads: Int
    private let sketches: [ColumnSketch?]
    private let sample: [Int]
    /// Some rows of each column that takes part.
    private var few: [Int: PieceSketch] = [:]
    /// What was taken.
    private(set) var chosen: [Candidate] = []

    /// At most so many columns are tried as those that have pieces, and as those that pieces are of.
    private static let maximumColumns = 48
    /// At most so many other columns are tried for one, of those that a few rows show.
    private static let maximumSources = 4
    /// Longer text takes no part: all pieces of a vector are in memory together.
    private static let maximumBytes = 32 << 20
    /// The profile `small` compares so many rows with models, which take long.
    private static let modelledRows = 8192
    /// Text with pieces has no codes, and takes longer to read. Scans read full segments.
    private var minimumShare: Double { profile == .standard && rows >= segmentSize ? 0.25 : profile == .standard ? 0.1 : 0.05 }
    private static let minimumGain = 64

    init(_ columns: [Column?], profile: Profile, threads: Int, sketches: [ColumnSketch?]) {
        (self.columns, self.profile, self.threads, self.sketches) = (columns, profile, threads, sketches)
        rows = columns.lazy.compactMap { $0?.count }.first ?? 0
        sample = RelationSearch.sample(rows: rows)
    }

    private func values(_ index: Int) -> Column {
        guard let column = columns[index] else { trap("a column that takes part in pieces has values") }
        return column
    }

    private func form(_ index: Int) -> Pieces.Form {
        guard let form = Pieces.Form(values(index).type) else { trap("a column that takes part in pieces has a form") }
        return form
    }

    /// Looks for columns with pieces of others, or tries those that are known from the segment before, and takes those that save bytes.
    mutating func choose(_ known: [Candidate]?, _ roles: inout [ColumnRole]) {
        let targets = columns.indices.filter { index in
            let isWanted = known.map { $0.contains { $0.target == index } } ?? isExpensive(index)
            return isWanted && mayHavePieces(index, roles)
        }
        guard !targets.isEmpty else { return }
        let candidates: [Candidate]
        if let known {
            candidates = self.known(known, Set(targets), roles)
        } else {
            candidates = search(targets, roles)
        }
        let taken = assign(candidates)
        guard !taken.isEmpty else { return }
        let isSure = known != nil
        let encoded = parallelReads(taken.count, threads) { Unshared(encode(taken[$0], isSure: isSure)) }.map(\.value)
        for (candidate, pieced) in zip(taken, encoded) {
            guard let pieced else { continue }
            roles[candidate.target] = .pieced(pieced)
            chosen.append(candidate)
        }
    }

    // MARK: Candidates

    /// Whether the values of a column take more than a few bits, because many of them differ.
    private func isExpensive(_ index: Int) -> Bool {
        sketches[index].map { $0.cost > 1 && $0.classes.count * 8 > $0.rows } ?? false
    }

    /// Whether a column is text without another relation.
    private func mayHavePieces(_ index: Int, _ roles: [ColumnRole]) -> Bool {
        guard let column = columns[index], column.count == rows, column.type.kind == .string, !column.type.isCollection,
            case .alone = roles[index]
        else { return false }
        return isPlain(column.text)
    }

    /// Whether pieces of a column can be read.
    private func mayBeSource(_ index: Int, _ roles: [ColumnRole]) -> Bool {
        guard let column = columns[index], column.count == rows, let form = Pieces.Form(column.type) else { return false }
        switch roles[index] {
        case .alone, .source: break
        case .related(let related): guard related.relation.kind == .map else { return false }
        case .predicted, .pieced: return false
        }
        return form != .text || isPlain(column.text)
    }

    /// Whether text is short enough, and has no bytes that stand for pieces.
    private func isPlain(_ text: Text) -> Bool {
        guard text.bytes.count <= PieceWork.maximumBytes else { return false }
        var most: UInt8 = 0
        for byte in text.bytes { most = max(most, byte) }
        return most < Pieces.firstMarker
    }

    /// Returns those of the segment before that are about as frequent in this one.
    private func known(_ known: [Candidate], _ targets: Set<Int>, _ roles: [ColumnRole]) -> [Candidate] {
        known.filter { candidate in
            guard targets.contains(candidate.target), let first = candidate.terms.first,
                candidate.terms.allSatisfy({ $0.column != candidate.target && mayBeSource($0.column, roles) && form($0.column) == $0.form })
            else { return false }
            var text = PiecedText(sampled(candidate.target))
            text.replace(first, values: sampled(first.column))
            return Double(text.matches) > Double(sample.count) * candidate.share * 0.7
        }
    }

    /// Returns the text of a column in the rows of the sample.
    private func sampled(_ index: Int) -> Text { sample.count == rows ? text(index) : text(index, sample) }

    /// Returns the values of a column as text, empty where there is none.
    private func text(_ index: Int, _ rows: [Int]? = nil) -> Text {
        let column = rows.map { values(index).gather($0) } ?? values(index)
        var text = form(index).text(of: column)
        if form(index) == .text, let present = column.present, !present.allSet { text.empty(where: present) }
        return text
    }

    private mutating func search(_ targets: [Int], _ roles: [ColumnRole]) -> [Candidate] {
        func information(_ index: Int) -> Double { sketches[index]?.information ?? 0 }
        func most(_ all: [Int]) -> [Int] {
            guard all.count > PieceWork.maximumColumns else { return all }
            return all.sorted { (information($0), $1) > (information($1), $0) }.prefix(PieceWork.maximumColumns).sorted()
        }
        let targets = most(targets)
        let sources = most(columns.indices.filter { information($0) > 2 && mayBeSource($0, roles) })
        let hop = max(1, sample.count / PieceSketch.rows), places = stride(from: 0, to: sample.count, by: hop).prefix(PieceSketch.rows)
        let rows = places.map { sample[$0] }
        for index in Set(targets + sources) { few[index] = PieceSketch(text(index, rows)) }
        return parallelReads(targets.count, threads) { candidate(for: targets[$0], sources: sources) }.compactMap { $0 }
    }

    /// Returns the terms that save most in the sample.
    private func candidate(for target: Int, sources: [Int]) -> Candidate? {
        guard let own = few[target] else { return nil }
        let near = sources.filter { $0 != target && few[$0].map(own.mayContain) ?? false }
        guard !near.isEmpty else { return nil }
        let present = values(target).present.map { bits in
            var out = Bits(repeating: false, count: sample.count)
            for (i, row) in sample.enumerated() where bits[row] { out[i] = true }
            return out
        }
        var best = PiecedText(sampled(target)), fewRows = own.text, share = 0.0
        let plain = PieceWork.bytes(best.text, present, trial)
        var size = plain
        while best.terms.count < Pieces.maximumTerms {
            var found: (text: PiecedText, size: Int)?
            for term in terms(in: fewRows, near) {
                var text = best
                text.replace(term, values: sampled(term.column))
                guard text.matches * 8 >= sample.count else { continue }
                let size = PieceWork.bytes(text.text, present, trial)
                if size < found?.size ?? .max { found = (text, size) }
            }
            guard let found, found.size * 20 < size * 19, size - found.size > 16, let term = found.text.terms.last else { break }
            if best.terms.isEmpty { share = Double(found.text.matches) / Double(sample.count) }
            (best, size) = found
            var rest = PiecedText(fewRows)
            guard let values = few[term.column]?.text else { break }
            rest.replace(term, values: values)
            fewRows = rest.text
        }
        guard !best.terms.isEmpty, Double(plain - size) > Double(plain) * minimumShare else { return nil }
        let gain = Double(plain - size) * Double(rows) / Double(sample.count)
        return Candidate(target: target, terms: best.terms, share: share, gain: gain)
    }

    /// The profile that samples are encoded with.
    private var trial: Profile { profile == .standard ? .standard : .small }

    /// Returns the best term of each column, for the few that explain most.
    private func terms(in text: Text, _ sources: [Int]) -> [Pieces.Term] {
        let own = PieceSketch(text)
        let found = sources.compactMap { source -> Pieces.Term? in
            guard let sketch = few[source], own.mayContain(sketch) else { return nil }
            return PieceSearch(text, sketch, column: source, form: form(source)).best()
        }
        guard found.count > PieceWork.maximumSources else { return found }
        return found.map { term -> (term: Pieces.Term, bytes: Int) in
            var rest = PiecedText(text)
            if let values = few[term.column]?.text { rest.replace(term, values: values) }
            return (term, rest.text.bytes.count)
        }.sorted { ($0.bytes, $0.term.column) < ($1.bytes, $1.term.column) }.prefix(PieceWork.maximumSources).map(\.term)
    }

    /// Takes the candidates that save most. A column with pieces is no source.
    private func assign(_ candidates: [Candidate]) -> [Candidate] {
        func weight(_ candidate: Candidate) -> Double {
            // Of two columns that contain each other, the first stays.
            candidate.gain * (candidate.terms.allSatisfy { $0.column < candidate.target } ? 1.02 : 1)
        }
        var targets: Set<Int> = [], sources: Set<Int> = [], taken: [Candidate] = []
        for candidate in candidates.sorted(by: { (weight($0), $1.target) > (weight($1), $0.target) }) {
            let own = Set(candidate.terms.map(\.column))
            guard !sources.contains(candidate.target), targets.isDisjoint(with: own) else { continue }
            targets.insert(candidate.target)
            sources.formUnion(own)
            taken.append(candidate)
        }
        return taken.sorted { $0.target < $1.target }
    }

    // MARK: Trials

    /// Returns the text of the segment with pieces; nil if it does not save enough. `isSure`: that is known.
    private func encode(_ candidate: Candidate, isSure: Bool) -> PiecedColumn? {
        let column = values(candidate.target)
        let pieced = PieceWork.pieced(text(candidate.target), candidate.terms) { text($0) }
        let found = PiecedColumn(pieces: Pieces(terms: pieced.terms), text: pieced.text)
        if isSure { return found }
        var plain = text(candidate.target), stored = pieced.text, present = column.present
        if profile == .modelled, rows > PieceWork.modelledRows {
            // A part from the middle, so that values repeat as often as they do in the segment.
            let part = (rows - PieceWork.modelledRows) / 2..<(rows + PieceWork.modelledRows) / 2
            let whole = plain
            (plain, stored) = (Text(), Text())
            plain.append(contentsOf: whole, range: part)
            stored.append(contentsOf: pieced.text, range: part)
            present = column.gather(part).present
        }
        let before = PieceWork.bytes(plain, present, profile),
            after = PieceWork.bytes(stored, present, profile) + found.pieces.encoded.count
        let gain = before - after
        return gain >= PieceWork.minimumGain && Double(gain) >= Double(before) * minimumShare ? found : nil
    }

    private static func pieced(_ text: Text, _ terms: [Pieces.Term], values: (Int) -> Text) -> PiecedText {
        var pieced = PiecedText(text)
        for term in terms { pieced.replace(term, values: values(term.column)) }
        return pieced
    }

    /// Returns the bytes of a column of text.
    private static func bytes(_ text: Text, _ present: Bits?, _ profile: Profile) -> Int {
        let encoder = TextGroupEncoder(profile: profile)
        encoder.add(text, present: present)
        let end = encoder.finish()
        return end.rest.reduce(0) { $0 + $1.1.count } + end.shared.reduce(0) { $0 + $1.bytes.count }
    }
}
