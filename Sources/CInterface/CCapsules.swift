import CArrow
import CFirn
import Synchronization

/// Structures whose memory the library owns, and the destructors of Python's capsules around them. Destructors run in any order when the
/// interpreter ends, so they are no functions of Python.

/// `firn_stream_new` of `firn.h`.
@_cdecl("firn_stream_new")
public func firnStreamNew() -> UnsafeMutablePointer<ArrowArrayStream> {
    let stream = UnsafeMutablePointer<ArrowArrayStream>.allocate(capacity: 1)
    stream.initialize(to: ArrowArrayStream())
    return stream
}

/// `firn_schema_new` of `firn.h`.
@_cdecl("firn_schema_new")
public func firnSchemaNew() -> UnsafeMutablePointer<CArrow.ArrowSchema> {
    let schema = UnsafeMutablePointer<CArrow.ArrowSchema>.allocate(capacity: 1)
    schema.initialize(to: CArrow.ArrowSchema())
    return schema
}

/// `firn_stream_free` of `firn.h`.
@_cdecl("firn_stream_free")
public func firnStreamFree(_ stream: UnsafeMutablePointer<ArrowArrayStream>?) {
    guard let stream else { return }
    stream.pointee.release?(stream)
    stream.deallocate()
}

/// `firn_schema_free` of `firn.h`.
@_cdecl("firn_schema_free")
public func firnSchemaFree(_ schema: UnsafeMutablePointer<CArrow.ArrowSchema>?) {
    guard let schema else { return }
    schema.pointee.release?(schema)
    schema.deallocate()
}

/// `PyCapsule_GetPointer`.
private typealias GetPointer = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?) -> UnsafeMutableRawPointer?
private let getPointer = Mutex<GetPointer?>(nil)
private let streamName = CText("arrow_array_stream"), schemaName = CText("arrow_schema")

/// `firn_python_begin` of `firn.h`.
@_cdecl("firn_python_begin")
public func firnPythonBegin(_ function: (@convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?) -> UnsafeMutableRawPointer?)?) {
    getPointer.withLock { $0 = function }
}

/// `firn_stream_capsule_free` of `firn.h`.
@_cdecl("firn_stream_capsule_free")
public func firnStreamCapsuleFree(_ capsule: UnsafeMutableRawPointer?) {
    guard let get = getPointer.withLock({ $0 }), let stream = get(capsule, streamName.pointer) else { return }
    firnStreamFree(stream.assumingMemoryBound(to: ArrowArrayStream.self))
}

/// `firn_schema_capsule_free` of `firn.h`.
@_cdecl("firn_schema_capsule_free")
public func firnSchemaCapsuleFree(_ capsule: UnsafeMutableRawPointer?) {
    guard let get = getPointer.withLock({ $0 }), let schema = get(capsule, schemaName.pointer) else { return }
    firnSchemaFree(schema.assumingMemoryBound(to: CArrow.ArrowSchema.self))
}
