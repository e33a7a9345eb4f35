import FirnBytes
import FirnExchange
import FirnTable

/// The batches of a stream from a pipe, or of compressed bytes. One message is in memory at a time.
final class ArrowStream: ArrowSource {
    let layout: ArrowLayout
    private(set) var remarks: [String] = []
    private let input: Input
    private var dictionaries = ArrowDictionaries()
    private var position: Int
    private var count = 0
    private var isEnded = false

    init(_ input: Input, _ options: ArrowOptions) throws(FirnError) {
        self.input = input
        position = 0
        do throws(ArrowFault) {
            var first = [UInt8](repeating: 0, count: 8)
            let peeked: [UInt8]
            do throws(FirnError) { peeked = try input.peek(8) } catch { throw ArrowStream.fault(error) }
            first.replaceSubrange(0..<peeked.count, with: peeked)
            try peeked.withBytes { (bytes) throws(ArrowFault) in try ArrowSignature.check(bytes) }
            guard case .message(let message, let memory) = try ArrowStream.message(input, &position) else {
                throw ArrowFault("the stream has no schema", at: 0)
            }
            guard message.kind == .schema else { throw ArrowFault("the stream does not begin with a schema", at: 0) }
            let schema = try ArrowSchema(message.header, version: message.version, size: memory.bytes.count)
            _ = try ArrowStream.read(input, &position, message.bodyLength)
            do throws(FirnError) {
                layout = try ArrowLayout(schema, named: input.name, options)
            } catch {
                throw ArrowFault(
                    error.message, at: error.location?.byte.map { Int(clamping: $0) }, code: error.code, advice: error.advice)
            }
            remarks = layout.remarks
        } catch { throw error.error(in: input.name) }
    }

    private static func fault(_ error: FirnError) -> ArrowFault { ArrowFault(error.message, code: error.code, advice: error.advice) }

    func next() throws(FirnError) -> ArrowBatch? {
        guard !isEnded else { return nil }
        do throws(ArrowFault) { return try nextBatch() } catch { throw error.error(in: input.name, "batch \(count)") }
    }

    private func nextBatch() throws(ArrowFault) -> ArrowBatch? {
        while true {
            let start = position
            guard case .message(let message, let memory) = try ArrowStream.message(input, &position, notes: &remarks) else {
                isEnded = true
                return nil
            }
            let bodyAt = position, body = try ArrowStream.read(input, &position, message.bodyLength)
            func batch(_ total: ArrowField.Numbering) throws(ArrowFault) -> ArrowBatch {
                let header = try ArrowBatchHeader(try message.batch(), total)
                return ArrowBatch(
                    header, index: count, body: UnsafeRawBufferPointer(body.bytes), at: bodyAt, owners: [memory, body],
                    dictionaries: dictionaries)
            }
            switch message.kind {
            case .dictionaryBatch:
                let (id, isDelta) = try message.dictionary
                guard let total = layout.dictionaries.totals[id] else { throw ArrowFault("no column has the dictionary \(id)", at: start) }
                guard layout.dictionaries.plans[id] != nil else { continue }
                try dictionaries.add(id, try batch(total), isDelta: isDelta, layout.dictionaries)
            case .recordBatch:
                let next = try batch(layout.total)
                guard !layout.fields.isEmpty || next.rowCount == 0 else {
                    throw ArrowFault.unknown("a batch has \(next.rowCount) rows and no columns", at: start)
                }
                count += 1
                return next
            default: throw ArrowFault("a second schema follows the first one", at: start)
            }
        }
    }

    private enum Next {
        case message(ArrowMessage, ChargedMemory)
        case end
    }

    /// Reads the metadata of the next message.
    private static func message(_ input: Input, _ position: inout Int) throws(ArrowFault) -> Next {
        var none: [String] = []
        return try message(input, &position, notes: &none)
    }

    /// `notes` receives what is to be reported about the end.
    private static func message(_ input: Input, _ position: inout Int, notes: inout [String]) throws(ArrowFault) -> Next {
        let start = position
        guard let first = try fixed(input, &position, 4) else {
            notes.append(ArrowContent.noEnd)
            return .end
        }
        var length = first
        if first == ArrowFormat.continuation {
            guard let second = try fixed(input, &position, 4) else { throw ArrowFault("a message is cut short", at: start) }
            length = second
        }
        if length == 0 {
            var rest = [UInt8](repeating: 0, count: 1), got = 0
            do throws(FirnError) { got = try rest.withMutableBytes { (room) throws(FirnError) in try input.read(into: room) } } catch {
                throw fault(error)
            }
            if got > 0 { notes.append("bytes follow the end of the stream, and are not read") }
            return .end
        }
        guard length <= UInt32(Int32.max) else { throw ArrowFault("a message has the length \(length)", at: start) }
        let base = position, memory = try read(input, &position, Int(length))
        return .message(try ArrowMessage(UnsafeRawBufferPointer(memory.bytes), base: base), memory)
    }

    private static func fixed(_ input: Input, _ position: inout Int, _ count: Int) throws(ArrowFault) -> UInt32? {
        var bytes = [UInt8](repeating: 0, count: count), got = 0
        do throws(FirnError) { got = try bytes.withMutableBytes { (room) throws(FirnError) in try input.read(into: room) } } catch {
            throw fault(error)
        }
        if got == 0 { return nil }
        guard got == count else { throw ArrowFault("the stream is cut short", at: position + got) }
        position += count
        return bytes.withBytes { UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) }
    }

    private static let piece = 1 << 20

    /// Reads bytes. Memory is allocated as they arrive, because any length can be stated.
    private static func read(_ input: Input, _ position: inout Int, _ count: Int) throws(ArrowFault) -> ChargedMemory {
        var memory = try ChargedMemory(min(count, piece), "a message"), done = 0
        while true {
            let room = UnsafeMutableRawBufferPointer(rebasing: memory.bytes[done...])
            let got: Int
            do throws(FirnError) { got = try input.read(into: room) } catch { throw fault(error) }
            done += got
            position += got
            if done == count { return memory }
            guard got == room.count else {
                throw ArrowFault("the stream is cut short: \(count) bytes should follow, and there are \(done)", at: position)
            }
            let larger = try ChargedMemory(min(count, done * 2), "a message")
            larger.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory.bytes)[..<done]))
            memory = larger
        }
    }
}
