// libFuzzer brings a `main` along; the package manager wants one of the module's own, which starts libFuzzer.

import FirnAttacks
import FirnBytes
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

private let attack: Attack = {
    guard let name = getenv("FIRN_ATTACK"), let attack = Attack(rawValue: String(cString: name)) else {
        fatalError("say which attack in FIRN_ATTACK: \(Attack.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    Hash128.believesAnything = attack.knowsHashes
    return attack
}()

private let scratch = (getenv("FIRN_SCRATCH").map { String(cString: $0) } ?? "/dev/shm") + "/firn-fuzz-\(getpid())"

/// Whether faults are to be found that stand here for that alone: who fuzzes for days wants to know that it would be told.
private let hasPlanted = getenv("FIRN_FUZZ_PLANTED") != nil

/// Whether everything is done with each input, as in the tests: slower, for replaying a case.
private let doesAll = getenv("FIRN_FUZZ_ALL") != nil

/// An input that begins with `Fr` traps, with `Fo` reads behind its end, with `Fh` never ends.
private func meetPlanted(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
    guard count >= 2, bytes[0] == UInt8(ascii: "F") else { return }
    switch bytes[1] {
    case UInt8(ascii: "r"): fatalError("a planted trap")
    case UInt8(ascii: "o"): if bytes[count] == 1 { print("a byte behind the end") }
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
private func runDriver(_ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
                       _ body: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt) -> CInt

@_cdecl("firn_fuzz_main")
public func main(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt {
    var count = count, arguments = arguments
    return runDriver(&count, &arguments) { bytes, count in fuzzOne(bytes, count) }
}
