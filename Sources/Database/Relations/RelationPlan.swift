import FirnBytes
import FirnCodecs
import FirnTable

/// A column whose values follow from another column of the segment.
struct RelatedColumn {
    var relation: Relation
    /// The rows whose values are the entries: one for each key, then the exceptions.
    var rows: [Int]
    /// Whether the chunk has a validity stream. Otherwise entries without a value stand for rows without a value.
    var ownsPresence: Bool

    var exceptions: [Int] { Array(rows[relation.keys...]) }

    /// Returns the entries as a column.
    func entries(of column: Column) -> Column {
        var entries = column.gather(rows)
        entries.normalise()
        return entries
    }
}

/// A column that stores differences from a prediction.
struct PredictedColumn {
    var prediction: Prediction
    /// All streams of its chunk but validity.
    var streams: [(kind: StreamKind, bytes: [UInt8])]

    var size: Int { streams.reduce(0) { $0 + $1.bytes.count + 2 } }
}

/// What other columns say about a column of a segment.
enum ColumnRole {
    case alone
    /// Others follow from its codes, so it must be dictionary-coded.
    case source
    case related(RelatedColumn)
    case predicted(PredictedColumn)
    case pieced(PiecedColumn)
}

/// The relations that were found in the segments before, so that a search is not repeated for each segment.
struct RelationMemory {
    fileprivate var pairs: [(source: Int, target: Int)] = []
    fileprivate var predictions: [(target: Int, prediction: Prediction)] = []
    fileprivate var pieces: [PieceWork.Candidate] = []
    fileprivate var segments = 0
    /// The number of searches in a row without a result.
    fileprivate var misses = 0

    fileprivate var isEmpty: Bool { pairs.isEmpty && predictions.isEmpty && pieces.isEmpty }
    /// Whether the next segment is searched.
    fileprivate var isSearching: Bool { isEmpty ? misses < 2 || segments % 8 == 0 : segments % 16 == 0 }
}

/// The relations between the columns of one segment (`docs/format/model.md`, "Relations"). A column that others follow from has no relation
/// itself. Deterministic.
struct RelationPlan {
    private(set) var roles: [ColumnRole]
    /// The encoded streams of values of number columns that were encoded in order to decide.
    private(set) var prepared: [Int: [(kind: StreamKind, bytes: [UInt8])]] = [:]

    var relates: Bool { roles.contains { if case .related = $0 { true } else { false } } }

    /// A segment with fewer rows is not searched.
    static let minimumRows = 64

    init(none count: Int) { roles = Array(repeating: .alone, count: count) }

    /// `columns` are nil if they take no part. `canBeCoded`: the text of a column can still become dictionary codes.
    init(_ columns: [Column?], canBeCoded: [Bool], profile: Profile, threads: Int, memory: inout RelationMemory) {
        self.init(none: columns.count)
        let rows = columns.lazy.compactMap { $0?.count }.first ?? 0
        guard rows >= RelationPlan.minimumRows, profile != .fast, columns.count(where: { $0 != nil }) > 1 else { return }
        let isSearching = memory.isSearching
        memory.segments += 1
        guard isSearching || !memory.isEmpty else { return }
        var work = RelationWork(columns, profile: profile, rows: rows, threads: threads)
        let candidates = work.candidates(isSearching ? nil : memory.pairs, canBeCoded: canBeCoded)
        let chosen = candidates.isEmpty ? [] : work.choose(candidates)
        for pair in chosen {
            roles[pair.source] = .source
            roles[pair.target] = .related(pair.related)
        }
        prepared = work.prepared
        let known = isSearching ? nil : memory.predictions
        if columns.count <= RelationSearch.maximumKept, known?.isEmpty != true {
            var predictions = PredictionWork(columns, canBeCoded: canBeCoded, profile: profile, threads: threads, relations: work)
            predictions.choose(known, &roles, &prepared)
            if isSearching { memory.predictions = predictions.chosen }
        }
        if columns.count <= RelationSearch.maximumKept, isSearching || !memory.pieces.isEmpty {
            var pieces = PieceWork(columns, profile: profile, threads: threads, sketches: work.sketches)
            pieces.choose(isSearching ? nil : memory.pieces, &roles)
            if isSearching { memory.pieces = pieces.chosen }
        }
        guard isSearching else { return }
        memory.pairs = chosen.map { ($0.source, $0.target) }
        memory.misses = memory.isEmpty ? memory.misses + 1 : 0
    }

    /// Whether the chunk of a column has a validity stream, if a value is absent.
    func hasOwnPresence(_ column: Int) -> Bool { if case .related(let related) = roles[column] { related.ownsPresence } else { true } }
}
