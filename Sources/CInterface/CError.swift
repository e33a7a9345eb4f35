import CFirn
import FirnBytes
import FirnDisk

/// An error, as the functions of `firn_error_…` read it.
final class CError: COwned {
    private let error: FirnError
    let code: Int32
    let name: CText, message: CText
    let file: CText?, advice: CText?

    init(_ error: FirnError) {
        self.error = error
        code = CError.code(error.code)
        name = CText(error.code.description)
        message = CText(error.message)
        file = error.location.map { CText($0.file) }
        advice = error.advice.map { CText($0) }
    }

    var location: FirnError.Location? { error.location }
    var systemCode: Int32 { error.systemCode ?? 0 }

    /// The number of a code in `enum firn_code`. Permanent.
    static func code(_ code: FirnError.Code) -> Int32 {
        let codes: [FirnError.Code] = [
            .usage, .rejected, .damaged, .notThisFormat, .unsupported, .inputOutput, .exists, .notFound, .noSpace, .locked, .interrupted,
            .duplicateKey, .schema, .encrypted, .wrongKey, .notEncrypted, .outOfMemory,
        ]
        return Int32((codes.firstIndex(of: code) ?? 0) + 1)
    }
}

/// Where a caller wants an error, or NULL.
public typealias ErrorOut = UnsafeMutablePointer<OpaquePointer?>?

/// A process that calls the library holds no more of the mapped files than the command, apart from what it maps itself.
private let limitsMappings: Bool = {
    MappedMemory.limit(to: MappedMemory.standard, of: .mappings)
    return true
}()

/// Runs the body of a function of the interface. Returns its code, and stores the error if the caller wants it.
func attempt(_ out: ErrorOut, _ body: () throws(FirnError) -> Void) -> Int32 {
    out?.pointee = nil
    _ = limitsMappings
    do throws(FirnError) { try body() } catch {
        let object = CError(error)
        out?.pointee = object.retained
        return object.code
    }
    return 0
}

/// `firn_error_code` of `firn.h`.
@_cdecl("firn_error_code")
public func firnErrorCode(_ error: OpaquePointer?) -> Int32 { CError.at(error)?.code ?? 0 }

/// `firn_error_name` of `firn.h`.
@_cdecl("firn_error_name")
public func firnErrorName(_ error: OpaquePointer?) -> UnsafePointer<CChar>? { CError.at(error)?.name.pointer }

/// `firn_error_message` of `firn.h`.
@_cdecl("firn_error_message")
public func firnErrorMessage(_ error: OpaquePointer?) -> UnsafePointer<CChar>? { CError.at(error)?.message.pointer }

/// `firn_error_file` of `firn.h`.
@_cdecl("firn_error_file")
public func firnErrorFile(_ error: OpaquePointer?) -> UnsafePointer<CChar>? { CError.at(error)?.file?.pointer }

/// `firn_error_advice` of `firn.h`.
@_cdecl("firn_error_advice")
public func firnErrorAdvice(_ error: OpaquePointer?) -> UnsafePointer<CChar>? { CError.at(error)?.advice?.pointer }

/// `firn_error_line` of `firn.h`.
@_cdecl("firn_error_line")
public func firnErrorLine(_ error: OpaquePointer?) -> Int64 { CError.at(error)?.location?.line.map { Int64($0) } ?? -1 }

/// `firn_error_column` of `firn.h`.
@_cdecl("firn_error_column")
public func firnErrorColumn(_ error: OpaquePointer?) -> Int64 { CError.at(error)?.location?.column.map { Int64($0) } ?? -1 }

/// `firn_error_byte` of `firn.h`.
@_cdecl("firn_error_byte")
public func firnErrorByte(_ error: OpaquePointer?) -> Int64 { CError.at(error)?.location?.byte.map { Int64(clamping: $0) } ?? -1 }

/// `firn_error_system_code` of `firn.h`.
@_cdecl("firn_error_system_code")
public func firnErrorSystemCode(_ error: OpaquePointer?) -> Int32 { CError.at(error)?.systemCode ?? 0 }

/// `firn_error_free` of `firn.h`.
@_cdecl("firn_error_free")
public func firnErrorFree(_ error: OpaquePointer?) { CError.release(error) }
