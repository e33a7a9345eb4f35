import CFirn
import Synchronization

/// The functions of the interpreter that handle signals, and the exception that a handler raised while this library was waited for.
private struct Interpreter: @unchecked Sendable {
    typealias Object = UnsafeMutableRawPointer
    typealias Place = UnsafeMutablePointer<Object?>

    let ensure: @convention(c) () -> Int32
    let release: @convention(c) (Int32) -> Void
    let check: @convention(c) () -> Int32
    let fetch: @convention(c) (Place?, Place?, Place?) -> Void
    let restore: @convention(c) (Object?, Object?, Object?) -> Void
    let setInterrupt: @convention(c) () -> Void
    let keyboardInterrupt: Object
    var raised: Raised?

    /// An exception, which owns its three parts.
    typealias Raised = (type: Object?, value: Object?, trace: Object?)

    /// Runs the handlers of signals that have arrived. Returns the exception that one raised.
    func handleSignals() -> Raised? {
        let state = ensure()
        defer { release(state) }
        guard check() != 0 else { return nil }
        var found: Raised = (nil, nil, nil)
        fetch(&found.type, &found.value, &found.trace)
        return found
    }

    /// Releases an exception, and with it what its traceback refers to.
    func drop(_ raised: Raised) {
        let state = ensure()
        restore(raised.type, raised.value, raised.trace)
        restore(nil, nil, nil)
        release(state)
    }
}

private let interpreter = Mutex<Interpreter?>(nil)

/// `firn_python_signals` of `firn.h`.
@_cdecl("firn_python_signals")
public func firnPythonSignals(
    _ ensure: (@convention(c) () -> Int32)?, _ release: (@convention(c) (Int32) -> Void)?, _ check: (@convention(c) () -> Int32)?,
    _ fetch:
        (
            @convention(c) (
                UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
                UnsafeMutablePointer<UnsafeMutableRawPointer?>?
            ) -> Void
        )?,
    _ restore: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void)?,
    _ setInterrupt: (@convention(c) () -> Void)?, _ keyboardInterrupt: UnsafeMutableRawPointer?
) {
    guard let ensure, let release, let check, let fetch, let restore, let setInterrupt, let keyboardInterrupt else { return }
    let made = Interpreter(
        ensure: ensure, release: release, check: check, fetch: fetch, restore: restore, setInterrupt: setInterrupt,
        keyboardInterrupt: keyboardInterrupt)
    interpreter.withLock { $0 = made }
    CInterrupt.set {
        // A handler can call the library, and so can the release of an exception: no lock is held while they run.
        guard let current = interpreter.withLock({ $0 }), let found = current.handleSignals() else { return 0 }
        let former = interpreter.withLock { interpreter in
            let former = interpreter?.raised
            interpreter?.raised = found
            return former
        }
        if let former { current.drop(former) }
        return 1
    }
}

extension CInterrupt {
    /// Called when another library reads a stream, whose error takes the place of the exception: the interpreter raises a KeyboardInterrupt
    /// when that library returns to it.
    static func repeatKeyboardInterrupt(dropsOthers: Bool = false) {
        let found = interpreter.withLock { interpreter in
            guard let found = interpreter, let raised = found.raised else { return nil as Interpreter? }
            guard dropsOthers || raised.type == found.keyboardInterrupt else { return nil }
            interpreter?.raised = nil
            return found
        }
        guard let found, let raised = found.raised else { return }
        if raised.type == found.keyboardInterrupt { found.setInterrupt() }
        found.drop(raised)
    }
}

/// `firn_python_raise` of `firn.h`.
@_cdecl("firn_python_raise")
public func firnPythonRaise() -> Int32 {
    let found = interpreter.withLock { interpreter in
        let found = interpreter
        interpreter?.raised = nil
        return found
    }
    guard let found, let raised = found.raised else { return 0 }
    found.restore(raised.type, raised.value, raised.trace)
    return 1
}
