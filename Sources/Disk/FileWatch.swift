import FirnThreads
import Synchronization
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Calls a closure after any process has written to a file, on a thread of its own, while the watch lives.
///
/// Several writes may cause one call. If the system has no watch available, the closure is called ten times a second, whether or not the
/// file was written.
package final class FileWatch: Sendable {
    private let ending: Ending
    private let isRunning: Bool

    /// Starts a watch. A call of `onWrite` may be under way when the watch is released; no call begins after that.
    package init(path: String, onWrite: @escaping @Sendable () -> Void) {
        let ending = Ending()
        self.ending = ending
        let watch = Watch(path)
        let thread = SystemThread {
            while !ending.isOver {
                if watch.wait(ending.reader), !ending.isOver { onWrite() }
            }
            watch.close()
            ending.close()
        }
        // The thread ends by itself: `onWrite` may release the watch.
        thread.detach()
        isRunning = thread.isRunning
        if !isRunning { watch.close() }
    }

    deinit {
        ending.end()
        if !isRunning { ending.close() }
    }

    /// Records that the watch has ended, and wakes the waiting thread.
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

        /// Closes the pipe after the watch has ended.
        func close() {
            // Wait for the byte of `end`, so that it is not written to a closed or reused descriptor.
            var byte: UInt8 = 0
            if reader >= 0 { _ = retrying { read(reader, &byte, 1) } }
            for end in [reader, writer] where end >= 0 { sysClose(end) }
        }
    }
}

private func sysClose(_ descriptor: Int32) { _ = close(descriptor) }

/// The interval of the calls without a watch, in milliseconds.
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

        /// Returns true if the file may have been written.
        func wait(_ ending: Int32) -> Bool {
            var polled = [pollfd(fd: ending, events: Int16(POLLIN), revents: 0), pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
            let ready = poll(&polled, 2, descriptor < 0 || ending < 0 ? pause : -1)
            if ready < 0 { return false }
            if ready == 0 { return true }
            guard polled[1].revents != 0 else { return false }
            // All events are read: many writes are one commit.
            var events = [UInt8](repeating: 0, count: 4096)
            while read(descriptor, &events, events.count) > 0 {}
            return true
        }

        func close() { if descriptor >= 0 { sysClose(descriptor) } }
    }
#else
    /// A kqueue that observes the file and the end of the watch.
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
