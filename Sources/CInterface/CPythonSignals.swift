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
    var raised: (type: Object?, value: Object?, trace: Object?)?

    /// Runs the handlers of signals that have arrived. Returns whether one raised an exception, which is kept.
    mutating func isInterrupted() -> Bool {
        let state = ensure()
        defer { release(state) }
        guard check() != 0 else { return false }
        var found: (type: Object?, value: Object?, trace: Object?)
        fetch(&found.type, &found.value, &found.trace)
        raised = found
        return true
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
        // A handler can call the library, so no lock is held while it runs.
        guard var current = interpreter.withLock({ $0 }), current.isInterrupted() else { return 0 }
        let raised = current
        interpreter.withLock { $0 = raised }
        return 1
    }
}

extension CInterrupt {
    /// Called when another library reads a stream, whose error takes the place of the exception: the interpreter raises a KeyboardInterrupt
    /// when that library returns to it.
    static func repeatKeyboardInterrupt(dropsOthers: Bool = false) {
        let current = interpreter.withLock { interpreter in
            guard let found = interpreter, let raised = found.raised else { return nil as Interpreter? }
            let isKeyboard = raised.type == found.keyboardInterrupt
            if isKeyboard || dropsOthers { interpreter?.raised = nil }
            return isKeyboard ? found : nil
        }
        current?.setInterrupt()
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
