import Synchronization
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Tells when anybody, in whatever process, has written to a file. On a thread of its own while it lives.
///
/// Several writes may be one call. Where the system has no watch to give, it calls ten times a second, written or not.
package final class FileWatch: Sendable {
    private let ending: Ending
    private let isRunning: Bool

    /// `onWrite` may be under way on the watch's thread when the watch is let go of; it is not called after that.
    package init(path: String, onWrite: @escaping @Sendable () -> Void) {
        let ending = Ending()
        self.ending = ending
        let watch = Watch(path)
        let thread = Thread {
            while !ending.isOver {
                if watch.wait(ending.reader), !ending.isOver { onWrite() }
            }
            watch.close()
            ending.close()
        }
        // It ends by itself: `onWrite` may be what lets go of the watch.
        thread.detach()
        isRunning = thread.isRunning
        if !isRunning { watch.close() }
    }

    deinit {
        ending.end()
        if !isRunning { ending.close() }
    }

    /// Says that it is over, and wakes the thread that waits.
    private final class Ending: Sendable {
        private let over = Atomic<Bool>(false)
        let reader: Int32
        private let writer: Int32

        init() {
            var ends: [Int32] = [-1, -1]
            if pipe(&ends) != 0 { ends = [-1, -1] }
            for end in ends where end >= 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            reader = ends[0]
            writer = ends[1]
        }

        var isOver: Bool { over.load(ordering: .acquiring) }

        func end() {
            over.store(true, ordering: .releasing)
            if writer >= 0 {
                var byte: UInt8 = 0
                _ = write(writer, &byte, 1)
            }
        }

        /// Once it is over.
        func close() {
            // Whoever ends it has not written to a pipe that is closed, or another's by then.
            var byte: UInt8 = 0
            if reader >= 0 { _ = retrying { read(reader, &byte, 1) } }
            for end in [reader, writer] where end >= 0 { sysClose(end) }
        }
    }
}

private func sysClose(_ descriptor: Int32) { _ = close(descriptor) }

/// How long it waits where it cannot be told, in milliseconds.
private let pause: Int32 = 100

#if os(Linux) || os(Android)
/// An inotify watch.
private struct Watch {
    private let descriptor: Int32

    init(_ path: String) {
        var descriptor = inotify_init1(Int32(O_CLOEXEC | O_NONBLOCK))
        if descriptor >= 0, inotify_add_watch(descriptor, path, UInt32(IN_MODIFY)) < 0 {
            sysClose(descriptor)
            descriptor = -1
        }
        self.descriptor = descriptor
    }

    /// True: somebody may have written.
    func wait(_ ending: Int32) -> Bool {
        var polled = [pollfd(fd: ending, events: Int16(POLLIN), revents: 0), pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        let ready = poll(&polled, 2, descriptor < 0 || ending < 0 ? pause : -1)
        if ready < 0 { return false }
        if ready == 0 { return true }
        guard polled[1].revents != 0 else { return false }
        // All that is there: many writes are one commit.
        var events = [UInt8](repeating: 0, count: 4096)
        while read(descriptor, &events, events.count) > 0 {}
        return true
    }

    func close() { if descriptor >= 0 { sysClose(descriptor) } }
}
#else
/// A kqueue with the file and the end of the watch.
private struct Watch {
    private let queue: Int32
    private let file: Int32

    init(_ path: String) {
        queue = kqueue()
        file = open(path, O_EVTONLY | O_CLOEXEC)
        guard queue >= 0, file >= 0 else { return }
        var event = kevent()
        event.ident = UInt(file)
        event.filter = Int16(EVFILT_VNODE)
        event.flags = UInt16(EV_ADD | EV_CLEAR)
        event.fflags = UInt32(NOTE_WRITE | NOTE_EXTEND)
        _ = kevent(queue, &event, 1, nil, 0, nil)
    }

    func wait(_ ending: Int32) -> Bool {
        guard queue >= 0, file >= 0, ending >= 0 else {
            var polled = [pollfd(fd: ending, events: Int16(POLLIN), revents: 0)]
            return poll(&polled, 1, pause) == 0
        }
        var end = kevent(), happened = kevent()
        end.ident = UInt(ending)
        end.filter = Int16(EVFILT_READ)
        end.flags = UInt16(EV_ADD)
        guard kevent(queue, &end, 1, &happened, 1, nil) == 1 else { return false }
        return happened.filter == Int16(EVFILT_VNODE)
    }

    func close() {
        if queue >= 0 { sysClose(queue) }
        if file >= 0 { sysClose(file) }
    }
}
#endif
