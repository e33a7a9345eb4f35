import FirnBytes
import FirnExchange
import FirnTable

/// A file with its metadata, and the plan for its columns. It does not change.
final class ParquetContent: @unchecked Sendable {
    let file: FileBytes
    let footer: ParquetFooter
    let root: ParquetNode
    /// All leaves, by position.
    let leaves: [ParquetNode]
    let plans: [ParquetPlan]
    let schema: Schema
    let type: TypeSchema
    /// The types of the folder that the file was written into.
    let folderTypes: [String]
    let remarks: [String]

    init(_ file: FileBytes, _ options: ParquetOptions) throws(FirnError) {
        self.file = file
        do throws(ParquetFault) {
            footer = try ParquetFooter.read(file)
            root = try ParquetNode.tree(footer.elements)
            leaves = root.allLeaves
            try ParquetContent.check(footer, leaves, file)
        } catch { throw error.error(in: file.name) }
        folderTypes = footer.metadata.last { $0.key == FolderTypes.key }?.value.map(FolderTypes.names) ?? []
        let
            facts = ParquetFacts(
                footer, typeName: options.typeName, keepsName: options.keepsTypeName, linked: options.readsFolder ? folderTypes : []),
            typeName = options.keepsTypeName ? facts?.storedName : nil
        // A file of Firn states which of these columns are text.
        if facts == nil { ParquetContent.noteDigits(footer, leaves, file) }
        let name = typeName ?? options.typeName
        var planner = ParquetPlanner(typeName: name, facts: facts)
        var plans: [ParquetPlan]
        do throws(ParquetFault) { plans = try planner.columns(root, typeName: name) } catch { throw error.error(in: file.name) }
        plans += facts?.companions(of: plans) ?? []
        var embedded = planner.embedded
        if let wanted = options.columns {
            let needed = wanted.map { name in plans.firstIndex { name == $0.name || name.hasPrefix($0.name + ".") } }
            if !needed.contains(nil) {
                let positions = Set(needed.compactMap(\.self)), kept = Set(positions.map { plans[$0].name })
                // Original texts belong to their column.
                plans = plans.indices.filter { at in
                    positions.contains(at) || plans[at].known?.originalTextOf.map(kept.contains) ?? false
                }.map { plans[$0] }
            }
            let used = ParquetContent.targets(plans.map(\.type), embedded)
            embedded.removeAll { !used.contains($0.name) }
        }
        self.plans = plans
        var type = TypeSchema(name, columns: ParquetPlanner.columns(plans))
        facts?.complete(&type)
        self.type = type
        var schema = Schema([type] + embedded), values: [String: Int] = [:], entries: [MetadataEntry] = [], lost = 0
        for (key, value) in footer.metadata where key != ParquetContent.arrowSchema && !key.hasPrefix(SchemaFacts.prefix) {
            let entry = MetadataEntry(key, value ?? [])
            if let known = values[key] {
                entries[known] = entry
            } else if entries.count < 1 << 16, entry.value.count <= 64 << 20 {
                values[key] = entries.count
                entries.append(entry)
            } else {
                lost += 1
            }
        }
        for entry in facts?.metadata ?? [] where values[entry.key] == nil { entries.append(entry) }
        schema.metadata = entries
        schema.otherAttributes += facts?.schema.otherAttributes ?? []
        self.schema = schema
        remarks =
            planner.remarks + ParquetFacts.remarks(footer, facts)
            + (lost > 0 ? ["entries of the metadata are too many or too long, and were left out: \(lost)"] : [])
    }

    /// Notes the decimals of more than 34 digits whose statistics state, for each row group, that their values have at most 34. Sums of decimals
    /// declare 38 digits.
    private static func noteDigits(_ footer: ParquetFooter, _ leaves: [ParquetNode], _ file: FileBytes) {
        for (i, leaf) in leaves.enumerated() {
            guard case .decimal(let precision, _)? = leaf.logical, precision > 34, leaf.physical == .fixed || leaf.physical == .byteArray
            else {
                continue
            }
            let orders = footer.hasTypeOrder ?? [], hasOrder = i < orders.count && orders[i]
            leaf.hasFewDigits = footer.groups.allSatisfy { group in
                let chunk = group.chunks[i]
                guard let statistics = chunk.statistics else { return false }
                if chunk.valueCount > 0, statistics.nullCount == chunk.valueCount { return true }
                let low = (hasOrder ? statistics.minimum : nil) ?? statistics.oldMinimum
                let high = (hasOrder ? statistics.maximum : nil) ?? statistics.oldMaximum
                return [low, high].allSatisfy { $0.map { hasFewDigits($0, file) } ?? false }
            }
        }
    }

    /// The least number of 35 digits: 10^34.
    private static let leastLongDecimal: UInt128 = 100_000_000_000_000_000 * 100_000_000_000_000_000

    /// Whether a signed big-endian number has at most 34 digits.
    private static func hasFewDigits(_ range: Range<Int>, _ file: FileBytes) -> Bool {
        guard range.upperBound <= file.count, (1...16).contains(range.count) else { return false }
        var value: Int128 = file.bytes[range.lowerBound] >= 0x80 ? -1 : 0
        for at in range { value = value << 8 | Int128(file.bytes[at]) }
        return value.magnitude < leastLongDecimal
    }

    /// The key under which Arrow's writers keep their own description of the columns, which changes of columns would make wrong.
    private static let arrowSchema = "ARROW:schema"

    /// Returns the names of the embedded types that columns lead to.
    static func targets(_ types: [ColumnType], _ embedded: [TypeSchema]) -> Set<String> {
        let byName = Dictionary(embedded.map { ($0.name, $0) }) { first, _ in first }
        var found: Set<String> = [], waiting = types.compactMap(\.target)
        while let next = waiting.popLast() {
            guard found.insert(next).inserted, let type = byName[next] else { continue }
            waiting += type.columns.compactMap(\.type.target)
        }
        return found
    }

    private static func check(_ footer: ParquetFooter, _ leaves: [ParquetNode], _ file: FileBytes) throws(ParquetFault) {
        guard !leaves.isEmpty || footer.rowCount == 0 else {
            throw ParquetFault.unknown("the file has \(footer.rowCount) rows and no columns")
        }
        for (i, group) in footer.groups.enumerated() {
            guard group.chunks.count == leaves.count else {
                throw ParquetFault("row group \(i) has \(group.chunks.count) columns, and the schema \(leaves.count)")
            }
            for (chunk, leaf) in zip(group.chunks, leaves) {
                var name: String { "column \"\(leaf.path)\", row group \(i)" }
                if chunk.isEncrypted {
                    throw ParquetFault(
                        "\(name): the column is encrypted (Parquet modular encryption), which cannot be read", code: .encrypted,
                        advice: "decrypt the file with the program that wrote it")
                }
                if let other = chunk.otherFile {
                    throw ParquetFault.unknown("\(name): the column is in another file, \"\(other)\"", advice: "read that file")
                }
                guard chunk.isComplete else { throw ParquetFault("\(name): the metadata of the column is missing") }
                guard chunk.physical == leaf.physical?.rawValue else {
                    throw ParquetFault("\(name): the column has the physical type \(chunk.physical), and the schema another one")
                }
                guard chunk.valueCount >= group.rowCount, leaf.depth > 0 || chunk.valueCount == group.rowCount else {
                    throw ParquetFault("\(name): the column has \(chunk.valueCount) values, and the row group \(group.rowCount) rows")
                }
            }
            try checkCount(i, group, leaves, file)
        }
    }

    /// Checks the number of rows of a group that has very many for its size: a query that only counts rows reads no page.
    private static func checkCount(_ index: Int, _ group: ParquetGroup, _ leaves: [ParquetNode], _ file: FileBytes) throws(ParquetFault) {
        // A file without columns has no rows.
        guard let smallest = group.chunks.indices.min(by: { group.chunks[$0].compressedSize < group.chunks[$1].compressedSize }) else {
            return
        }
        let size = max(1, min(group.chunks[smallest].compressedSize, file.count))
        guard group.rowCount > 1 << 20, group.rowCount / size > 1 << 12 else { return }
        do throws(ParquetFault) {
            let chunk = group.chunks[smallest], leaf = leaves[smallest]
            try ChunkReader(file, chunk, leaf, leaf.leafType().form, LeafScratch()).checkCount()
        } catch { throw ParquetFault("row group \(index): \(error.what)", at: error.offset, code: error.code) }
    }

    /// The number of bytes of the chunks that the plans read.
    var plannedBytes: Int { plans.reduce(0) { $0 &+ storedBytes($1) } }

    /// The number of bytes of the chunks that a plan reads.
    func storedBytes(_ plan: ParquetPlan) -> Int {
        var sum = 0
        for group in footer.groups {
            for leaf in plan.leaves { sum = sum &+ max(0, min(group.chunks[leaf].compressedSize, file.count)) }
        }
        return sum
    }

    /// About the number of bytes of a row in memory.
    private var rowBytes: Double {
        var bytes = 0.0, rows = 0.0, leafCount = 0
        for plan in plans { leafCount += plan.leaves.count }
        for group in footer.groups {
            rows += Double(group.rowCount)
            for plan in plans { for leaf in plan.leaves { bytes += Double(max(0, group.chunks[leaf].uncompressedSize)) } }
        }
        return max(bytes / max(rows, 1), Double(leafCount) * 16)
    }

    /// About the number of bytes of all values in memory.
    var valueBytes: Int { Int(min(rowBytes * Double(footer.rowCount), 1e18)) }

    /// The number of rows of a batch: of at most 16 MiB, or of 8 MiB if the rows of a segment do not fit. Three batches are in memory.
    func batchRows(_ options: ParquetOptions) -> Int {
        let mebibytes = rowBytes * Double(segmentSize) > 16 * 1_048_576 ? 8.0 : 16.0
        return max(1, min(options.batchRows, max(1024, Int(mebibytes * 1_048_576 / max(rowBytes, 1)))))
    }
}

/// Reads one column of the file: a leaf, or the leaves of a list, map or object. Only one thread at a time may use
/// it.
final class PlanReader: @unchecked Sendable {
    let plan: ParquetPlan
    private let readers: [LeafReader]
    private let file: FileBytes
    private let groups: [ParquetGroup]
    private var changes = MapChanges()

    init(_ plan: ParquetPlan, _ content: ParquetContent) {
        self.plan = plan
        file = content.file
        groups = content.footer.groups
        var forms: [(Int, LeafForm)] = []
        PlanReader.collect(plan, &forms)
        readers = forms.map { LeafReader(content.file, content.footer, content.leaves[$0.0], $0.1) }
    }

    private static func collect(_ plan: ParquetPlan, _ forms: inout [(Int, LeafForm)]) {
        switch plan.shape {
        case .leaf(let position, let form): forms.append((position, form))
        case .json(let position, _, _): forms.append((position, .exactJSON))
        case .given: break
        case .object(let fields): for field in fields { collect(field, &forms) }
        case .wrapped(let inner): collect(inner, &forms)
        case .list(let element, _, _): collect(element, &forms)
        case .map(let key, let value, _, _):
            collect(key, &forms)
            collect(value, &forms)
        }
    }

    /// The row of its group that is read next, and the pages so far.
    var row: Int { readers.first?.row ?? 0 }
    var pages: PageCounts { readers.reduce(PageCounts()) { $0 + $1.pages } }

    func read(_ parts: [RowPart]) throws(FirnError) -> Column {
        if case .given(let texts) = plan.shape {
            var column = Column(plan.type)
            for part in parts {
                let first = groups[part.group].firstRow
                OriginalTextRows.column(texts, first + part.rows.lowerBound..<first + part.rows.upperBound, into: &column)
            }
            return column
        }
        var leaves: [LeafRows] = []
        for reader in readers { leaves.append(try reader.read(parts)) }
        return try assembled(leaves, parts)
    }

    /// Whether `readCoded` can keep codes: a column of text or bytes that is not within a list or an object.
    static func keepsCodes(_ plan: ParquetPlan, _ content: ParquetContent) -> Bool {
        guard case .leaf(let position, let form) = plan.shape else { return false }
        return (form == .text || form == .bytes) && content.leaves[position].depth == 0
    }

    /// Reads a column for which `keepsCodes` is true: as codes of a dictionary if it is stored so.
    func readCoded(_ part: RowPart) throws(FirnError) -> any ColumnReader {
        var leaf = try readers[0].read([part], keepsCodes: true)
        guard let ranks = leaf.ranks, let dictionary = leaf.dictionary else {
            leaf.ranks = nil
            return MemoryColumnReader(try assembled([leaf], [part]))
        }
        do throws(ParquetFault) {
            let count = part.rows.count
            let present = try ColumnAssembly([leaf], of: plan).present(leaf, nil, count, from: plan.definition)
            do throws(Damage) { return try CodedColumn(plan.type, dictionary.values, ranks, present, rows: count) } catch {
                throw ParquetFault("\(error)")
            }
        } catch { throw error.error(in: file.name, "column \"\(plan.name)\", row group \(part.group)") }
    }

    private func assembled(_ leaves: [LeafRows], _ parts: [RowPart]) throws(FirnError) -> Column {
        var assembly = ColumnAssembly(leaves, of: plan)
        do throws(ParquetFault) {
            let column = try assembly.column(plan, rows: parts.reduce(0) { $0 + $1.rows.count })
            changes += assembly.changes
            return column
        } catch { throw error.error(in: file.name, "column \"\(plan.name)\", row group \(parts.first?.group ?? 0)") }
    }

    /// What was changed in the maps of the column.
    var remarks: [String] { changes.remarks(plan.name) }
}
