// libFuzzer has a `main`, but the package manager requires one in the module. This one starts libFuzzer.

import FirnAttacks
import FirnBytes
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

private let attack: Attack = {
    guard let name = getenv("FIRN_ATTACK"), let attack = Attack(rawValue: String(cString: name)) else {
        trap("set FIRN_ATTACK to an attack: \(Attack.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    Hash128.believesAnything = attack.knowsHashes
    return attack
}()

private let scratch = (getenv("FIRN_SCRATCH").map { String(cString: $0) } ?? "/dev/shm") + "/firn-fuzz-\(getpid())"

/// Whether faults are planted deliberately, to check that the fuzzer reports faults at all.
private let hasPlanted = getenv("FIRN_FUZZ_PLANTED") != nil

/// Whether all parts of the attack run on each input, as in the tests. This is slower, and meant for replaying a case.
private let doesAll = getenv("FIRN_FUZZ_ALL") != nil

/// Traps if the input begins with `Fr`, reads past its end for `Fo`, and loops forever for `Fh`.
private func meetPlanted(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
    guard count >= 2, bytes[0] == UInt8(ascii: "F") else { return }
    switch bytes[1] {
    case UInt8(ascii: "r"): trap("a planted trap")
    case UInt8(ascii: "o"): if bytes[count] == 1 { print("a byte past the end") }
    case UInt8(ascii: "h"): while true { usleep(1000) }
    default: break
    }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    if hasPlanted { meetPlanted(bytes, count) }
    let input = UnsafeRawBufferPointer(start: bytes, count: count)
    attack.run(input, scratch: scratch, part: attack == .file && !doesAll ? FileAttack.Part(of: input) : nil)
    return 0
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt
) -> CInt

@_cdecl("firn_fuzz_main")
public func main(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt {
    var count = count, arguments = arguments
    return runDriver(&count, &arguments) { bytes, count in fuzzOne(bytes, count) }
}
