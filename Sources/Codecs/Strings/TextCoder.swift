import CZstd
import FirnBytes

/// Encodes segments without a dictionary of values: chooses the encoding from a sample, then encodes one segment after the other.
final class TextCoder {
    private enum Form {
        case pages(PageEncoder)
        case symbols(SymbolEncoder)
        case contexts(ContextEncoder)
        case raw
    }
    private let form: Form
    /// The same pages without the trained dictionary: for segments that are unlike the sample, such as those in another language.
    private var untrained: PageEncoder?
    /// The first segment, if the choice has already encoded it.
    private var first: (text: Text, stream: [UInt8])?
    private let profile: Profile
    /// The trained blob, if the chosen encoding has one.
    private let trained: [UInt8]
    /// Expected stored bytes per raw byte, without the shared blob.
    let ratio: Double
    private let isLookedUp: Bool

    /// Strings that are looked up individually may become this factor larger if that avoids decompressing a page for each look-up.
    private static let lookupAllowance = 1.6

    /// What symbols in contexts must take of the bytes of zstd pages, which are decoded at the same speed, and of those of symbols of twelve
    /// bits, which are decoded twice as fast and can be searched. With `small`, the smallest encoding is taken.
    private static let contextsOfPages = 0.9, contextsOfSymbols = 0.8

    /// How much larger than expected a segment may be before another encoding is tried.
    private static let surprise = 1.1

    /// The size of all streams made so far.
    private var streamBytes = 0
    private let dictionary: [UInt8]

    /// The blobs that streams refer to unless they are inline; to be read after the last stream. Decompressing a zstd dictionary is half of
    /// the work of reading the first string, so the dictionary is stored uncompressed where that adds little to the total.
    var shared: [SharedBlob] {
        if trained.isEmpty { return [] }
        let isKept = !profile.isSmall && (dictionary.count - trained.count) * 64 <= streamBytes
        return [
            SharedBlob(
                kind: .trained, bytes: isKept && !dictionary.isEmpty ? TrainedText.encode(dictionary: dictionary, level: nil) : trained)
        ]
    }

    /// `sample` is the first segment. `segments` is the minimum number of segments. `trial` is a finished trial of pages on the sample.
    /// `isLookedUp` means that strings are read individually, in no order. `isQuick`: see `TextGroupEncoder`. `below`: the bytes that the
    /// sample takes in another way.
    init(
        sample: Text, segments: Int, profile: Profile, isLookedUp: Bool = false, isQuick: Bool = false, trial found: PageTrial? = nil,
        below: Double = .infinity
    ) {
        self.profile = profile
        self.isLookedUp = isLookedUp && !profile.isSmall
        var trial = found ?? PageTrial(sample, segments: segments, profile: profile, isLookedUp: isLookedUp, isQuick: isQuick)
        let raw = Double(max(sample.bytes.count, 1))
        let allowance = self.isLookedUp ? Self.lookupAllowance : 1
        // Before the symbols: the fewer bytes a dictionary leaves, the earlier their training ends.
        if !isQuick { trial.tryDictionary(sample, segments: segments, profile: profile) }
        let symbols = profile == .fast || isQuick ? nil : SymbolTrial(sample, segments: segments, limit: trial.bytes * allowance)
        if profile != .fast, !isQuick, !self.isLookedUp {
            let (ofPages, ofSymbols) = profile.isSmall ? (1, 1) : (Self.contextsOfPages, Self.contextsOfSymbols)
            let limit = min(trial.bytes * ofPages, (symbols?.bytes ?? .infinity) * ofSymbols, below)
            let contexts = ContextTrial(sample, segments: segments, profile: profile, limit: limit)
            if let contexts, contexts.bytes < limit {
                let (isSmaller, pages) = Self.compare(contexts, trial, sample, segments: segments, profile: profile)
                if isSmaller {
                    trained = contexts.trained
                    dictionary = []
                    form = .contexts(contexts.encoder)
                    var plan = trial.plan
                    plan.dictionary = []
                    untrained = PageEncoder(plan)
                    ratio = contexts.bytes / raw
                    return
                }
                if symbols?.bytes ?? .infinity >= trial.bytes { first = pages.map { (sample, $0) } }
            }
        }
        if let symbols, symbols.bytes < trial.bytes * allowance {
            trained = symbols.trained
            dictionary = []
            form = .symbols(SymbolEncoder(symbols.table))
            ratio = symbols.bytes / raw
            return
        }
        dictionary = trial.plan.dictionary
        trained = dictionary.isEmpty ? [] : trial.trained
        let rawCost = Double(sample.bytes.count + sample.count)
        if trial.bytes * allowance >= rawCost * 0.98 {
            form = .raw
            ratio = rawCost / raw
        } else {
            form = .pages(PageEncoder(trial.plan))
            ratio = trial.bytes / raw
            if !dictionary.isEmpty {
                var plan = trial.plan
                plan.dictionary = []
                untrained = PageEncoder(plan)
            }
        }
    }

    /// Returns whether contexts are also smaller than pages with the level that pages would have, which a trial of pages does not use: at
    /// most that saves a third. With `small`, whose pages are large, all of them are compressed, and returned if they are smaller.
    private static func compare(
        _ contexts: ContextTrial, _ trial: PageTrial, _ sample: Text, segments: Int, profile: Profile
    ) -> (isSmaller: Bool, pages: [UInt8]?) {
        guard trial.plan.level > PageTrial.quickLevel, trial.bytes * 0.65 < contexts.bytes else { return (true, nil) }
        guard profile.isSmall else { return (trial.finalBytes(sample, segments: segments) * Self.contextsOfPages > contexts.bytes, nil) }
        let training: PageEncoder.Training = trial.trained.isEmpty ? .none : segments == 1 ? .inline(trial.trained) : .shared(0)
        let pages = PageEncoder(trial.plan).encode(sample, training: training)
        let shared = segments == 1 ? 0 : trial.trained.count / segments
        return Double(pages.count + shared) > contexts.bytes ? (true, nil) : (false, pages)
    }

    /// Frees memory that the next segment can create again (see `PageEncoder.releaseContext`).
    func releaseContexts() {
        if case .pages(let encoder) = form { encoder.releaseContext() }
        untrained?.releaseContext()
    }

    func encode(_ text: Text, inline: Bool) -> [UInt8] {
        let stream = stream(text, inline: inline)
        streamBytes += stream.count
        return stream
    }

    private func stream(_ text: Text, inline: Bool) -> [UInt8] {
        switch form {
        case .raw: return RawTextReader.encode(text, profile: isLookedUp ? .fast : profile)
        case .symbols(let encoder):
            return unlessRaw(encoder.encode(text, training: inline ? .inline(trained) : .shared(0), profile: profile), text)
        case .contexts(let encoder):
            let stream = encoder.encode(text, training: inline ? .inline(trained) : .shared(0))
            // A segment unlike the sample, such as one in another language, may be smaller as pages.
            if let stream, Double(stream.count) <= ratio * Self.surprise * Double(text.bytes.count) + 64 { return unlessRaw(stream, text) }
            let pages = untrained?.encode(text, training: .none)
            return unlessRaw([stream, pages].compactMap { $0 }.min { $0.count < $1.count } ?? [], text)
        case .pages(let encoder):
            if !trained.isEmpty, !inline, let untrained, encoder.sampleSize(text) > untrained.sampleSize(text) {
                return unlessRaw(untrained.encode(text, training: .none), text)
            }
            if let first, first.text == text {
                self.first = nil
                return unlessRaw(first.stream, text)
            }
            return unlessRaw(encoder.encode(text, training: trained.isEmpty ? .none : inline ? .inline(trained) : .shared(0)), text)
        }
    }

    /// Returns the raw encoding if it is smaller, because a segment unlike the sample may not compress at all.
    private func unlessRaw(_ stream: [UInt8], _ text: Text) -> [UInt8] {
        guard stream.count > text.bytes.count + text.count else { return stream }
        let raw = RawTextReader.encode(text, profile: profile)
        return raw.count < stream.count ? raw : stream
    }
}

/// Learns symbols from half of a sample and measures them on the other half.
struct SymbolTrial {
    let table: SymbolTable
    /// The table as it is stored.
    let trained: [UInt8]
    /// The size in bytes that the sample is expected to take.
    let bytes: Double

    /// Returns nil if symbols cannot be smaller than `limit`, the size that the sample takes otherwise. A table takes about 12 KB.
    init?(_ sample: Text, segments: Int, limit: Double) {
        let raw = sample.bytes.count
        guard raw * segments > 256 << 10, sample.count > 1024 else { return nil }
        let blocks = stride(from: 0, to: sample.count, by: 256).map { $0..<min(sample.count, $0 + 256) }
        let learning = blocks.enumerated().filter { $0.offset % 2 == 0 }.map(\.element),
            holdout = blocks.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        let share = min(1, Double(SymbolTraining.sampleBytes) / Double(max(1, raw / 2)))
        let wanted = max(1, Int(Double(learning.count) * share))
        let spread = (0..<wanted).map { learning[$0 * learning.count / wanted] }
        guard let table = SymbolTraining(sample, rows: spread).learn(limit: limit * 8 / Double(raw)) else { return nil }
        self.table = table
        trained = TrainedText.encode(symbols: table, level: 9)
        let trial = (0..<min(holdout.count, 64)).map { holdout[$0 * holdout.count / min(holdout.count, 64)] }
        let rows = trial.reduce(0) { $0 + $1.count }
        let codes = SymbolEncoder(table).codeCount(sample, rows: trial)
        // Twelve bits for each code, and about five for the start of each string.
        let bytesPerRow = (Double(codes) * 12 / Double(max(rows, 1)) + 5) / 8
        bytes = bytesPerRow * Double(sample.count) + (segments == 1 ? Double(trained.count) : Double(trained.count) / Double(segments))
    }
}

/// Measures pages on a sample: which form is smaller, and whether a trained dictionary helps.
struct PageTrial {
    var plan: PagePlan
    /// The dictionary as it is stored.
    var trained: [UInt8] = []
    /// The size in bytes that the sample is expected to take.
    var bytes: Double

    /// The level for large columns, and for those of tables with very many.
    static let quickLevel = 3
    /// Larger zstd dictionaries do not compress better.
    static let maximumDictionaryBytes = 112 << 10
    static let trainingBytes = 512 << 10
    /// Of large pages, only the beginnings are used.
    private static let maximumTrainingBytes = 4 << 20

    /// `isQuick`: with a low level of compression.
    init(_ sample: Text, segments: Int, profile: Profile, isLookedUp: Bool = false, isQuick: Bool = false) {
        let raw = sample.bytes.count + sample.count
        plan = PagePlan(
            level: Self.level(raw: raw, segments: segments, profile: profile, isQuick: isQuick), terminated: false,
            pageBytes: profile.isSmall ? Self.largePageBytes : 4 << 10,
            pageValues: profile.isSmall ? 1 << 16 : 256)
        bytes = .infinity
        let pages = Self.pages(sample, plan: plan)
        let trial = Self.spread(pages, bytes: 256 << 10, raw: raw)
        let share = Double(pages.count) / Double(max(trial.count, 1))
        for terminated in sample.bytes.contains(0) ? [false] : [true, false] {
            var candidate = plan
            candidate.terminated = terminated
            let size = Self.size(sample, candidate, trial) * share
            if size < bytes {
                bytes = size
                plan = candidate
            }
        }
        if profile == .standard, !isLookedUp, raw >= sample.count * Self.longText { tryLongPages(sample, raw: raw) }
    }

    private static func level(raw: Int, segments: Int, profile: Profile, isQuick: Bool) -> Int {
        switch profile {
        case .fast: 1
        case _ where isQuick: quickLevel
        // Only small columns get the highest level; large ones must not slow down a conversion.
        case .standard, .derived: segments > 1 || raw > 1 << 20 ? quickLevel : raw > 64 << 10 ? 12 : 19
        case .small, .modelled: 19
        }
    }

    /// Whether a trial that is not quick would do the same.
    func isComplete(_ sample: Text, segments: Int, profile: Profile) -> Bool {
        plan.level == Self.level(raw: sample.bytes.count + sample.count, segments: segments, profile: profile, isQuick: false)
    }

    /// Texts of this many bytes on average are long: then a page of 4 KiB holds few of them, and little that repeats.
    private static let longText = 40
    /// The size of pages of the profile `small`: in most tables, a segment of text is one page.
    private static let largePageBytes = 8 << 20

    /// Makes pages of 16 KiB if they are smaller by 4 %.
    private mutating func tryLongPages(_ sample: Text, raw: Int) {
        var candidate = plan
        candidate.pageBytes = 16 << 10
        let pages = Self.pages(sample, plan: candidate)
        let trial = Self.spread(pages, bytes: 256 << 10, raw: raw)
        let size = Self.size(sample, candidate, trial) * Double(pages.count) / Double(max(trial.count, 1))
        guard size < bytes * 0.96 else { return }
        bytes = size
        plan = candidate
    }

    /// Trains a dictionary and keeps it if it saves more than it costs.
    mutating func tryDictionary(_ sample: Text, segments: Int, profile: Profile) {
        let raw = sample.bytes.count + sample.count
        let pages = Self.pages(sample, plan: plan)
        guard raw > 8 << 10, pages.count > 7 else { return }
        var training = Set(Self.spread(pages.indices, bytes: Self.trainingBytes, raw: raw))
        // Pages of later segments are not among those of the training.
        if segments > 1, training.count == pages.count { training = training.filter { $0 % 4 != 3 } }
        let dictionary = Self.train(
            sample, training.sorted().map { pages[$0] }, terminated: plan.terminated, size: min(raw / 3, Self.maximumDictionaryBytes))
        guard !dictionary.isEmpty else { return }
        let stored = TrainedText.encode(dictionary: dictionary, level: profile.isSmall ? 19 : 9)
        var candidate = plan
        candidate.dictionary = dictionary
        // A dictionary holds parts of the pages of its training, so these are smaller than others.
        let others = pages.indices.filter { !training.contains($0) }
        let known = Double(training.count) / Double(pages.count * segments)
        var size = 0.0
        for (part, share) in [(training.sorted(), known), (others, 1 - known)] where share > 0.05 {
            let trial = Self.spread(part[...], bytes: 256 << 10, raw: raw * part.count / pages.count)
            size += Self.size(sample, candidate, trial.map { pages[$0] }) * Double(pages.count) / Double(max(trial.count, 1)) * share
        }
        // The cost of the blob is divided among the segments that are known to follow.
        guard size + Double(stored.count) / Double(segments) < bytes * 0.97 else { return }
        bytes = size + (segments == 1 ? Double(stored.count) : 0)
        plan = candidate
        trained = stored
    }

    /// Returns the rows of every page of the sample.
    private static func pages(_ text: Text, plan: PagePlan) -> [Range<Int>] {
        let perPage = 1 << PageEncoder.pageLog2(text, plan: plan)
        return stride(from: 0, to: text.count, by: perPage).map { $0..<min(text.count, $0 + perPage) }
    }

    /// Returns evenly spread pages with about `bytes` of `raw` in total.
    private static func spread<Pages: RandomAccessCollection<Page>, Page>(_ pages: Pages, bytes: Int, raw: Int) -> [Page]
    where Pages.Index == Int {
        guard raw > bytes, pages.count > 16 else { return Array(pages) }
        let wanted = max(16, pages.count * bytes / raw)
        return (0..<wanted).map { pages[pages.startIndex + $0 * pages.count / wanted] }
    }

    /// The size in bytes that the sample takes with the level of the plan, measured on some pages.
    func finalBytes(_ sample: Text, segments: Int) -> Double {
        let pages = Self.pages(sample, plan: plan), raw = sample.bytes.count + sample.count
        let some = Self.spread(pages, bytes: 64 << 10, raw: raw), share = Double(pages.count) / Double(max(some.count, 1))
        return Self.size(sample, plan, some, level: plan.level) * share + Double(trained.count) / Double(segments)
    }

    private static func size(_ text: Text, _ plan: PagePlan, _ pages: [Range<Int>], level: Int? = nil) -> Double {
        // The forms compare alike at every level, so a fast level shows which is smaller. Small columns can afford the real level.
        let level = level ?? (text.bytes.count <= 64 << 10 ? plan.level : min(plan.level, quickLevel))
        let compressor = plan.dictionary.withUnsafeBytes { PageCompressor(level: level, dictionary: $0) }
        var raw: [UInt8] = [], out: [UInt8] = []
        for rows in pages {
            PageEncoder.fillPage(&raw, text, rows: rows, terminated: plan.terminated)
            raw.withUnsafeBytes { _ = compressor.compress($0, into: &out) }
        }
        // A page offset takes about ten bits.
        return Double(out.count) + Double(pages.count) * 1.25 + 10
    }

    private static func train(_ text: Text, _ pages: [Range<Int>], terminated: Bool, size: Int) -> [UInt8] {
        var all: [UInt8] = [], sizes: [Int] = [], raw: [UInt8] = []
        for rows in pages {
            PageEncoder.fillPage(&raw, text, rows: rows, terminated: terminated)
            guard !raw.isEmpty else { continue }
            let part = raw.prefix(max(4 << 10, maximumTrainingBytes / pages.count))
            all.append(contentsOf: part)
            sizes.append(part.count)
        }
        var training = DictionaryTraining(all, sizes: sizes)
        return training.dictionary(size: size)
    }
}
