// libFuzzer brings `main` along and calls this.

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

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    attack.run(UnsafeRawBufferPointer(start: bytes, count: count), scratch: scratch)
    return 0
}
