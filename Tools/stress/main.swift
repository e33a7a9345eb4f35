// firn-stress WHAT FILE [--name number]…: tests a file with real processes, and prints lines of results. FILE is created again.
//
//   kill     writers and readers, killed at random      --kills N --seed N
//   crowd    readers in threads and processes, writers in turn    --count commits of each writer --writers N --readers N --threads N
// --shrink 1 --seed N
//   fork     children that inherit open files
//   soak     many commits to a data set of constant size --count N --pins N --keep N --shrink every-so-many --seed N
//   write, read, pin: the single processes that the others start, on an existing file
// --copied 1: files are read with system calls, not mapped. --key-file PATH: the file is encrypted with this key.

import FirnBytes
import FirnDisk
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

signal(SIGPIPE, SIG_IGN)
// The parent process may ignore SIGTERM, which is inherited.
signal(SIGTERM, SIG_DFL)
Interruption.endWithCode()
var noSignals = sigset_t()
sigemptyset(&noSignals)
sigprocmask(SIG_SETMASK, &noSignals, nil)
let words = CommandLine.arguments
guard words.count >= 3 else {
    complain("usage: firn-stress kill|crowd|fork|soak|write|read|pin FILE [--name number]...")
    exit(2)
}
let options: StressOptions
do throws(FirnError) { options = try StressOptions(words[3...]) } catch {
    complain("\(error)")
    exit(2)
}
if options["copied", 0] > 0 { FileReading.standard = .copied }
do throws(FirnError) {
    Bank.key = try options.key()
    switch words[1] {
    case "kill":
        var loop = KillLoop(words[2], options)
        try loop.run()
    case "crowd": try Crowd(path: words[2], options: options).run()
    case "fork": try ForkCheck(path: words[2]).run()
    case "soak": try Workers.soak(words[2], options)
    case "write": try Workers.write(words[2], options)
    case "read": try Workers.read(words[2], options)
    case "pin": try Workers.pin(words[2], options)
    default:
        complain("unknown test \"\(words[1])\"")
        exit(2)
    }
} catch {
    say("failed \(error)")
    exit(1)
}
