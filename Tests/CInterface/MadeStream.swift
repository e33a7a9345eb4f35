import CArrow
import Foundation

/// A column that a test makes, in Arrow's layout.
struct MadeColumn {
    var name = ""
    var format: String
    var count: Int
    /// Bytes of each buffer; nil: there is none.
    var buffers: [[UInt8]?]
    var children: [MadeColumn] = []

    /// Values of a fixed width.
    static func numbers<T: FixedWidthInteger>(_ name: String, _ format: String, _ values: [T]) -> MadeColumn {
        MadeColumn(name: name, format: format, count: values.count, buffers: [nil, values.flatMap { withUnsafeBytes(of: $0, Array.init) }])
    }

    static func texts(_ name: String, _ values: [String]) -> MadeColumn {
        var column = numbers(name, "u", values.reduce(into: [Int32(0)]) { $0.append($0.last! + Int32($1.utf8.count)) })
        column.count = values.count
        column.buffers.append(values.flatMap { Array($0.utf8) })
        return column
    }

    static func structure(_ name: String, _ children: [MadeColumn], count: Int) -> MadeColumn {
        MadeColumn(name: name, format: "+s", count: count, buffers: [nil], children: children)
    }

    func export(to out: UnsafeMutablePointer<ArrowSchema>) {
        var made = ArrowSchema()
        made.format = UnsafePointer(strdup(format))
        made.name = UnsafePointer(strdup(name))
        made.n_children = Int64(children.count)
        made.children = .allocate(capacity: children.count + 1)
        for (i, child) in children.enumerated() {
            made.children[i] = .allocate(capacity: 1)
            made.children[i]!.initialize(to: ArrowSchema())
            child.export(to: made.children[i]!)
        }
        made.release = { schema in
            guard let schema else { return }
            for i in 0..<Int(schema.pointee.n_children) {
                if let child = schema.pointee.children[i] {
                    child.pointee.release?(child)
                    child.deallocate()
                }
            }
            schema.pointee.children.deallocate()
            free(UnsafeMutableRawPointer(mutating: schema.pointee.format))
            free(UnsafeMutableRawPointer(mutating: schema.pointee.name))
            schema.pointee.release = nil
        }
        out.initialize(to: made)
    }

    func export(to out: UnsafeMutablePointer<ArrowArray>) {
        var made = ArrowArray()
        made.length = Int64(count)
        made.n_buffers = Int64(buffers.count)
        made.buffers = .allocate(capacity: buffers.count + 1)
        for (i, bytes) in buffers.enumerated() {
            guard let bytes else {
                made.buffers[i] = nil
                continue
            }
            let copy = UnsafeMutableRawPointer.allocate(byteCount: bytes.count + 1, alignment: 64)
            bytes.withUnsafeBytes { copy.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(copy), byteCount: bytes.count) }
            made.buffers[i] = UnsafeRawPointer(copy)
        }
        made.n_children = Int64(children.count)
        made.children = .allocate(capacity: children.count + 1)
        for (i, child) in children.enumerated() {
            made.children[i] = .allocate(capacity: 1)
            made.children[i]!.initialize(to: ArrowArray())
            child.export(to: made.children[i]!)
        }
        made.release = { array in
            guard let array else { return }
            for i in 0..<Int(array.pointee.n_children) {
                if let child = array.pointee.children[i] {
                    child.pointee.release?(child)
                    child.deallocate()
                }
            }
            for i in 0..<Int(array.pointee.n_buffers) { UnsafeMutableRawPointer(mutating: array.pointee.buffers[i])?.deallocate() }
            array.pointee.buffers.deallocate()
            array.pointee.children.deallocate()
            array.pointee.release = nil
        }
        out.initialize(to: made)
    }
}

/// A stream that returns the same batch a number of times.
final class MadeStream {
    private let rows: MadeColumn
    private var left: Int
    let pointer = UnsafeMutablePointer<ArrowArrayStream>.allocate(capacity: 1)

    init(_ columns: [MadeColumn], batches: Int = 1) {
        rows = .structure("", columns, count: columns.first?.count ?? 0)
        left = batches
        var stream = ArrowArrayStream()
        stream.private_data = Unmanaged.passUnretained(self).toOpaque()
        stream.get_schema = { stream, out in
            guard let out else { return EINVAL }
            MadeStream.at(stream).rows.export(to: out)
            return 0
        }
        stream.get_next = { stream, out in
            guard let out else { return EINVAL }
            let made = MadeStream.at(stream)
            if made.left > 0 { made.rows.export(to: out) } else { out.initialize(to: ArrowArray()) }
            made.left -= 1
            return 0
        }
        stream.get_last_error = { _ in nil }
        stream.release = { $0?.pointee.release = nil }
        pointer.initialize(to: stream)
    }

    deinit {
        pointer.pointee.release?(pointer)
        pointer.deallocate()
    }

    private static func at(_ stream: UnsafeMutablePointer<ArrowArrayStream>?) -> MadeStream {
        Unmanaged<MadeStream>.fromOpaque(stream!.pointee.private_data).takeUnretainedValue()
    }
}
