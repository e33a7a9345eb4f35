import FirnBytes
import FirnDisk

/// A small change of a file that another program writes again and again: its turn is waited for, a few seconds long.
func inTurn<R>(_ body: () throws(FirnError) -> R) throws(FirnError) -> R {
    let end = Machine.seconds + 5
    var pause = 0.001
    while true {
        do throws(FirnError) { return try body() } catch {
            guard error.code == .locked else { throw error }
            guard Machine.seconds < end else {
                var told = error
                told.advice = error.advice ?? "run it again when that has ended"
                throw told
            }
        }
        Machine.sleep(seconds: pause)
        pause = min(pause * 2, 0.02)
    }
}
