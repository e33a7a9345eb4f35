import CZstd
import FirnBytes

/// Codes segments without a dictionary of values: decides from a sample how, then encodes one segment after the other.
final class TextCoder {
    private enum Way {
        case pages(PageEncoder)
        case tokens(TokenEncoder)
        case raw
    }
    private let way: Way
    private let profile: Profile
    /// The trained blob, if the way has one.
    private let trained: [UInt8]
    /// Expected stored bytes per raw byte, without the shared blob.
    let ratio: Double
    private let isLookedUp: Bool

    /// How much larger strings that are looked up one by one may become where that spares unpacking a page for each.
    private static let lookupAllowance = 1.6

    /// Of the streams made so far.
    private var streamBytes = 0
    private let dictionary: [UInt8]

    /// What streams that are not inline refer to, when all are made. Unpacking a dictionary of zstd's is half of the instructions on the way to the
    /// first string: it is kept as it is where that makes little of the whole.
    var shared: [SharedBlob] {
        if trained.isEmpty { return [] }
        let isKept = profile != .small && (dictionary.count - trained.count) * 64 <= streamBytes
        return [SharedBlob(kind: .trained, bytes: isKept && !dictionary.isEmpty ? TrainedText.encode(dictionary: dictionary, level: nil) : trained)]
    }

    /// `sample`: the first segment. `segments`: how many there are at least. `trial`: pages tried on the sample, if that is done.
    /// `isLookedUp`: strings are asked for one by one, in no order.
    init(sample: Text, segments: Int, profile: Profile, isLookedUp: Bool = false, trial found: PageTrial? = nil) {
        self.profile = profile
        self.isLookedUp = isLookedUp && profile != .small
        var trial = found ?? PageTrial(sample, segments: segments, profile: profile)
        let raw = Double(max(sample.bytes.count, 1))
        let allowance = self.isLookedUp ? Self.lookupAllowance : 1
        let tokens = profile == .fast ? nil : TokenTrial(sample, segments: segments, limit: trial.bytes * allowance)
        // Training a dictionary costs more than all else, and seldom wins a third.
        if (tokens?.bytes ?? .infinity) > trial.bytes * 0.65 { trial.tryDictionary(sample, segments: segments, profile: profile) }
        if let tokens, tokens.bytes < trial.bytes * allowance {
            trained = tokens.trained
            dictionary = []
            way = .tokens(TokenEncoder(tokens.table))
            ratio = tokens.bytes / raw
            return
        }
        dictionary = trial.plan.dictionary
        trained = dictionary.isEmpty ? [] : trial.trained
        let rawCost = Double(sample.bytes.count + sample.count)
        if trial.bytes * allowance >= rawCost * 0.98 {
            way = .raw
            ratio = rawCost / raw
        } else {
            way = .pages(PageEncoder(trial.plan))
            ratio = trial.bytes / raw
        }
    }

    func encode(_ text: Text, inline: Bool) -> [UInt8] {
        let stream = stream(text, inline: inline)
        streamBytes += stream.count
        return stream
    }

    private func stream(_ text: Text, inline: Bool) -> [UInt8] {
        switch way {
        case .raw: return RawTextReader.encode(text, profile: isLookedUp ? .fast : profile)
        case .tokens(let encoder):
            return unlessRaw(encoder.encode(text, training: inline ? .inline(trained) : .shared(0), profile: profile), text)
        case .pages(let encoder):
            return unlessRaw(encoder.encode(text, training: trained.isEmpty ? .none : inline ? .inline(trained) : .shared(0)), text)
        }
    }

    /// A segment unlike the sample may not compress at all.
    private func unlessRaw(_ stream: [UInt8], _ text: Text) -> [UInt8] {
        guard stream.count > text.bytes.count + text.count else { return stream }
        let raw = RawTextReader.encode(text, profile: profile)
        return raw.count < stream.count ? raw : stream
    }
}

/// Learns tokens from half of a sample and measures them on the other half.
struct TokenTrial {
    let table: TokenTable
    /// The table as it is stored.
    let trained: [UInt8]
    /// What the sample is expected to take.
    let bytes: Double

    /// Nil where tokens cannot pay: a table takes some 12 KB, and the sample takes `limit` bytes otherwise.
    init?(_ sample: Text, segments: Int, limit: Double) {
        let raw = sample.bytes.count
        guard raw * segments > 256 << 10, sample.count > 1024 else { return nil }
        let blocks = stride(from: 0, to: sample.count, by: 256).map { $0 ..< min(sample.count, $0 + 256) }
        let learning = blocks.enumerated().filter { $0.offset % 2 == 0 }.map(\.element), holdout = blocks.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        let share = min(1, Double(TokenTraining.sampleBytes) / Double(max(1, raw / 2)))
        let wanted = max(1, Int(Double(learning.count) * share))
        let spread = (0..<wanted).map { learning[$0 * learning.count / wanted] }
        guard let table = TokenTraining(sample, rows: spread).learn(limit: limit * 8 / Double(raw)) else { return nil }
        self.table = table
        trained = TrainedText.encode(tokens: table, level: 9)
        let trial = (0..<min(holdout.count, 64)).map { holdout[$0 * holdout.count / min(holdout.count, 64)] }
        let rows = trial.reduce(0) { $0 + $1.count }
        let tokens = TokenEncoder(table).tokenCount(sample, rows: trial)
        // Twelve bits a token, and about five for where a string's tokens begin.
        let bytesPerRow = (Double(tokens) * 12 / Double(max(rows, 1)) + 5) / 8
        bytes = bytesPerRow * Double(sample.count) + (segments == 1 ? Double(trained.count) : Double(trained.count) / Double(segments))
    }
}

/// Tries pages on a sample: which form, with a trained dictionary or without.
struct PageTrial {
    var plan: PagePlan
    /// The dictionary as it is stored.
    var trained: [UInt8] = []
    /// What the sample is expected to take.
    var bytes: Double

    /// zstd dictionaries above this size win nothing more.
    static let largestDictionary = 112 << 10
    static let trainingBytes = 512 << 10

    init(_ sample: Text, segments: Int, profile: Profile) {
        let raw = sample.bytes.count + sample.count
        let level = switch profile {
        case .fast: 1
        // Time for the best goes to small columns; large ones must not hold a conversion up.
        case .standard: segments > 1 || raw > 1 << 20 ? 3 : raw > 64 << 10 ? 12 : 19
        case .small: 19
        }
        plan = PagePlan(level: level, terminated: false, pageBytes: profile == .small ? 64 << 10 : 4 << 10,
                        pageValues: profile == .small ? 1 << 16 : 256)
        let pages = Self.pages(sample, plan: plan)
        let trial = Self.spread(pages, bytes: 256 << 10, raw: raw)
        let share = Double(pages.count) / Double(max(trial.count, 1))
        var best = Double.infinity
        for terminated in sample.bytes.contains(0) ? [false] : [true, false] {
            var candidate = plan
            candidate.terminated = terminated
            let size = Self.size(sample, candidate, trial) * share
            if size < best {
                best = size
                plan = candidate
            }
        }
        bytes = best
    }

    /// Trains a dictionary and keeps it if that pays.
    mutating func tryDictionary(_ sample: Text, segments: Int, profile: Profile) {
        let raw = sample.bytes.count + sample.count
        let pages = Self.pages(sample, plan: plan)
        guard raw > 8 << 10, pages.count > 7 else { return }
        let trial = Self.spread(pages, bytes: 256 << 10, raw: raw)
        let share = Double(pages.count) / Double(max(trial.count, 1))
        let training = Self.spread(pages, bytes: Self.trainingBytes, raw: raw)
        let dictionary = Self.train(sample, training, terminated: plan.terminated, size: min(raw / 3, Self.largestDictionary))
        guard !dictionary.isEmpty else { return }
        let stored = TrainedText.encode(dictionary: dictionary, level: profile == .small ? 19 : 9)
        var candidate = plan
        candidate.dictionary = dictionary
        let size = Self.size(sample, candidate, trial) * share
        // The blob counts once for all segments that are known to come.
        guard size + Double(stored.count) / Double(segments) < bytes * 0.97 else { return }
        bytes = size + (segments == 1 ? Double(stored.count) : 0)
        plan = candidate
        trained = stored
    }

    /// The rows of every page of the sample.
    private static func pages(_ text: Text, plan: PagePlan) -> [Range<Int>] {
        let perPage = 1 << PageEncoder.pageLog2(text, plan: plan)
        return stride(from: 0, to: text.count, by: perPage).map { $0 ..< min(text.count, $0 + perPage) }
    }

    /// About `bytes` worth of pages, evenly spread.
    private static func spread(_ pages: [Range<Int>], bytes: Int, raw: Int) -> [Range<Int>] {
        guard raw > bytes, pages.count > 16 else { return pages }
        let wanted = max(16, pages.count * bytes / raw)
        return (0..<wanted).map { pages[$0 * pages.count / wanted] }
    }

    private static func size(_ text: Text, _ plan: PagePlan, _ pages: [Range<Int>]) -> Double {
        // The forms differ alike at every level: a fast one shows which is smaller. Small columns can afford the true one.
        let level = text.bytes.count <= 64 << 10 ? plan.level : min(plan.level, 3)
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
            all.append(contentsOf: raw)
            sizes.append(raw.count)
        }
        guard sizes.count > 7, size >= 1024 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            let result = ZDICT_trainFromBuffer(buffer.baseAddress, size, all, sizes, UInt32(sizes.count))
            count = ZDICT_isError(result) == 0 ? result : 0
        }
    }
}
