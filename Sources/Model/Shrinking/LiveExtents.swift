import FirnBytes
import FirnStore

/// All extents that one version leads to, but for its catalogue's own.
struct LiveExtents {
    struct Segment {
        var entry: DirectoryEntry
        var header: SegmentHeader

        /// Chunks and patches; none of a packed one.
        var parts: [ExtentRef] { header.entries.flatMap { [$0.chunk, $0.patch].compactMap { $0 } } }
        /// What it takes in the file, without what it shares.
        var bytes: UInt64 { entry.header.length + parts.reduce(0) { $0 + $1.length } }
        /// The version that the oldest of its own extents are from.
        var birth: UInt64 { (header.entries.compactMap(\.chunk).map(\.birth)).min() ?? entry.header.birth }
    }

    struct TypeExtents {
        var segments: [Segment] = []
        var directory = ExtentRef.none
        var runs: [ExtentRef] = []
        var delta: Set<ExtentRef> = []
    }

    var schema: ExtentRef
    var types: [TypeExtents] = []

    /// Those that can be moved as they are, without the headers of segments.
    var parts: Set<ExtentRef> {
        var all: Set<ExtentRef> = []
        for type in types {
            all.formUnion(type.runs)
            for segment in type.segments {
                all.formUnion(segment.parts)
                all.formUnion(segment.header.shared.map(\.ref))
            }
        }
        return all
    }

    var all: Set<ExtentRef> {
        var all = parts
        all.insert(schema)
        for type in types {
            all.insert(type.directory)
            all.formUnion(type.segments.map(\.entry.header))
            all.formUnion(type.delta)
        }
        all.remove(.none)
        return all
    }
}

extension SnapshotCore {
    func liveExtents() throws(Damage) -> LiveExtents {
        var live = LiveExtents(schema: catalogue.schemaRef)
        for (type, state) in catalogue.types.enumerated() {
            var extents = LiveExtents.TypeExtents(directory: state.directory)
            for index in 0..<state.segmentCount where state.inner == nil { extents.segments.append(try liveSegment(type: type, index: index)) }
            extents.runs = state.indexes.flatMap { $0.runs.map(\.ref) }
            extents.delta = try TreeReader(root: state.delta, source: store).extents()
            live.types.append(extents)
        }
        return live
    }

    func liveSegment(type: Int, index: Int) throws(Damage) -> LiveExtents.Segment {
        let entry = try directoryEntry(type: type, index: index)
        return LiveExtents.Segment(entry: entry, header: try SegmentHeader(try store.read(entry.header)))
    }
}

extension ExtentRef {
    /// The bytes of the file that nobody else can have.
    var place: Range<UInt64> { offset..<offset + (max(length, 1) + 63) / 64 * 64 }
}
