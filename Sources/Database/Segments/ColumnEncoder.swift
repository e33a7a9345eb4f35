import FirnBytes
import FirnCodecs
import FirnTable

/// Encodes one column, segment after segment, into chunks. The encoding of text is chosen for the whole group of segments, so a chunk may
/// be ready only at the end of the group. One thread at a time may use an encoder; different columns can use different threads.
final class ColumnEncoder {
    /// The zone, the logical hash and the features of the chunk of one segment.
    struct Summary {
        var zone: Zone
        /// A hash of the canonical values, independent of their encoding.
        var logicalHash: Hash128
        /// The reader features that the chunk needs; known when it is ready.
        var features: EncodingFeatures = []
        /// Whether bounds are worth their bytes however small the chunk is: its rows are read with those of other columns.
        var hasPieces = false
    }

    /// A finished chunk, its summary, and the index of its segment within the group.
    struct Ready {
        var segment: Int
        var chunk: Chunk
        var summary: Summary
    }

    private let type: ColumnType
    private let profile: Profile
    private let text: TextGroupEncoder?
    private let keys: TextGroupEncoder?
    private var waiting: [Int: (chunk: Chunk, summary: Summary, missing: Int, rows: Int)] = [:]
    private var segments = 0

    /// `isLookedUp`: single values will be read in random order.
    /// `isQuick`, `trialRows`: see `TextGroupEncoder`.
    init(
        _ type: ColumnType, profile: Profile, isLookedUp: Bool = false, isQuick: Bool = false, trialRows: Int = TextGroupEncoder.minimumRows
    ) {
        self.type = type
        self.profile = profile
        text =
            type.payload.contains(.text)
            ? TextGroupEncoder(profile: profile, isLookedUp: isLookedUp, isQuick: isQuick, trialRows: trialRows) : nil
        keys = type.collection == .map ? TextGroupEncoder(profile: profile, isQuick: isQuick) : nil
    }

    /// The number of bytes held until the group ends.
    var bufferedBytes: Int { (text?.bufferedBytes ?? 0) + (keys?.bufferedBytes ?? 0) }

    /// Frees memory that the next segment can create again, at a cost of time.
    func releaseContexts() {
        text?.releaseContexts()
        keys?.releaseContexts()
    }

    /// Whether text of the column can still become dictionary codes.
    var canBeCoded: Bool { text?.canBeCoded ?? true }

    /// Adds the rows of the next segment. In embedded columns, `words` contains row ids. `presence` is the validity stream, if it was
    /// encoded for all columns of the segment together. `prepared` are the streams of the values, if they were encoded before.
    func add(
        _ column: Column, presence: (kind: StreamKind, bytes: [UInt8])? = nil, role: ColumnRole = .alone,
        prepared: [(kind: StreamKind, bytes: [UInt8])]? = nil
    ) {
        var column = column
        column.normalise()
        if case .related(let related) = role { return add(column, related, presence: presence, prepared: prepared) }
        if case .predicted(let predicted) = role { return add(column, predicted, presence: presence) }
        if case .pieced(let pieced) = role { return add(column, pieced, presence: presence) }
        let isSource = if case .source = role { true } else { false }
        var streams: [(kind: StreamKind, bytes: [UInt8])] = []
        if let present = column.present {
            let presence = presence ?? (.present, BooleansEncoder.encode(present, profile: profile))
            streams.append(presence)
        }
        var payload = column
        if type.isCollection {
            streams.append((.lengths, column.offsets.withUnsafeBufferPointer { LengthsEncoder.encode($0, profile: profile) }))
            if let keys { keys.add(column.children[0].text, present: nil) }
            payload = column.children.last!
            payload.normalise()
            if let present = payload.present { streams.append((.elementPresent, BooleansEncoder.encode(present, profile: profile))) }
        }
        streams += prepared ?? ColumnEncoder.numbers(payload, isCoded: isSource, profile: profile)
        text?.add(payload.text, present: payload.presence(of: .text), isCoded: isSource)
        keep(streams, of: column)
    }

    /// Adds the entries of a column whose values follow from another one.
    private func add(
        _ column: Column, _ related: RelatedColumn, presence: (kind: StreamKind, bytes: [UInt8])?,
        prepared: [(kind: StreamKind, bytes: [UInt8])]?
    ) {
        let entries = related.entries(of: column)
        var streams: [(kind: StreamKind, bytes: [UInt8])] = []
        if related.ownsPresence, let present = column.present {
            streams.append(presence ?? (.present, BooleansEncoder.encode(present, profile: profile)))
        } else if let present = entries.present {
            streams.append((.elementPresent, BooleansEncoder.encode(present, profile: profile)))
        }
        streams += prepared ?? ColumnEncoder.numbers(entries, profile: profile)
        streams.append((.relation, related.relation.encoded(exceptions: related.exceptions, profile: profile)))
        text?.add(entries.text, present: entries.present, rows: column.count)
        keep(streams, of: column)
    }

    /// Adds a column that stores differences from a prediction.
    private func add(_ column: Column, _ predicted: PredictedColumn, presence: (kind: StreamKind, bytes: [UInt8])?) {
        var streams = predicted.streams
        if let present = column.present { streams.append(presence ?? (.present, BooleansEncoder.encode(present, profile: profile))) }
        keep(streams, of: column)
    }

    /// Adds a column of text with pieces of other columns.
    private func add(_ column: Column, _ pieced: PiecedColumn, presence: (kind: StreamKind, bytes: [UInt8])?) {
        var streams: [(kind: StreamKind, bytes: [UInt8])] = [(.relation, pieced.pieces.encoded)]
        if let present = column.present { streams.append(presence ?? (.present, BooleansEncoder.encode(present, profile: profile))) }
        text?.add(pieced.text, present: column.presence(of: .text))
        keep(streams, of: column, hasPieces: true)
    }

    /// Keeps the chunk of the next segment until its text is encoded.
    private func keep(_ streams: [(kind: StreamKind, bytes: [UInt8])], of column: Column, hasPieces: Bool = false) {
        // Kinds ascend; those of shared validity and relations are the highest.
        let sorted = streams.sorted { $0.kind.rawValue < $1.kind.rawValue }
        let summary = Summary(zone: column.zone.shortened, logicalHash: column.logicalHash, hasPieces: hasPieces)
        waiting[segments] = (Chunk(streams: sorted), summary, (text == nil ? 0 : 1) + (keys == nil ? 0 : 1), column.count)
        segments += 1
    }

    /// Encodes the values of a column that are not text. `isCoded`: other columns follow from the codes of its values.
    static func numbers(_ column: Column, isCoded: Bool = false, profile: Profile) -> [(kind: StreamKind, bytes: [UInt8])] {
        let single = column.type.kind == .float
        func integers(_ values: [Int64], _ present: Bits?, isCoded: Bool = false) -> [UInt8] {
            values.withUnsafeBufferPointer {
                isCoded
                    ? IntegersEncoder.encodeCoded($0, present: present, profile: profile)
                    : IntegersEncoder.encode($0, present: present, profile: profile)
            }
        }
        var streams: [(kind: StreamKind, bytes: [UInt8])] = []
        for kind in column.type.payload {
            switch kind {
            case .words: streams.append((kind, integers(column.words, column.presence(of: .words), isCoded: isCoded)))
            case .extra: streams.append((kind, integers(column.extra, column.presence(of: .extra))))
            case .tags: streams.append((kind, integers(column.tags.map(Int64.init), nil)))
            case .reals:
                let present = column.presence(of: .reals)
                let bytes = column.reals.withUnsafeBufferPointer {
                    isCoded
                        ? FloatsEncoder.encodeCoded($0, present: present, single: single, profile: profile)
                        : FloatsEncoder.encode($0, present: present, single: single, profile: profile)
                }
                streams.append((kind, bytes))
            default: break
            }
        }
        return streams
    }

    /// Returns the chunks that became ready since the last call.
    func takeReady() -> [Ready] {
        if let text { for (segment, bytes) in text.takeReady() { complete(segment, .text, bytes) } }
        if let keys { for (segment, bytes) in keys.takeReady() { complete(segment, .keys, bytes) } }
        return drain()
    }

    /// Ends the group. Returns the remaining chunks, and the blobs that the text and key streams of the group share.
    func finish() -> (ready: [Ready], text: [SharedBlob], keys: [SharedBlob]) {
        var shared: (text: [SharedBlob], keys: [SharedBlob]) = ([], [])
        if let text {
            let end = text.finish()
            shared.text = end.shared
            for (segment, bytes) in end.rest { complete(segment, .text, bytes) }
        }
        if let keys {
            let end = keys.finish()
            shared.keys = end.shared
            for (segment, bytes) in end.rest { complete(segment, .keys, bytes) }
        }
        return (drain(), shared.text, shared.keys)
    }

    private func complete(_ segment: Int, _ kind: StreamKind, _ bytes: [UInt8]) {
        let streamIndex =
            waiting[segment]!.chunk.streams.firstIndex { $0.kind.rawValue > kind.rawValue } ?? waiting[segment]!.chunk.streams.count
        waiting[segment]!.chunk.streams.insert((kind, bytes), at: streamIndex)
        waiting[segment]!.missing -= 1
    }

    private func drain() -> [Ready] {
        var ready: [Ready] = []
        for (segment, entry) in waiting where entry.missing == 0 {
            var summary = entry.summary
            summary.features = entry.chunk.features(rows: entry.rows)
            ready.append(Ready(segment: segment, chunk: entry.chunk, summary: summary))
        }
        for entry in ready { waiting[entry.segment] = nil }
        return ready.sorted { $0.segment < $1.segment }
    }
}
