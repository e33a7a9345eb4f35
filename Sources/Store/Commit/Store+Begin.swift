import FirnBytes
import FirnDisk

extension Store {
    /// Begins a transaction and takes the write lock.
    /// - Throws: `.locked` if another transaction, of this process or another one, runs for longer than `wait` allows.
    package func begin(wait: WriterPatience = .always) throws(FirnError) -> StoreTransaction {
        guard !isInherited else { throw file.inherited }
        if isBeyondWriting { throw beyondWriting }
        guard isWritable else { throw FirnError(.inputOutput, "the file is open for reading only", at: .init(file: path)) }
        let end = wait.end
        guard try takeTurn(wait, until: end) else {
            throw FirnError(
                .locked, "another thread of this process is writing the file", at: .init(file: path),
                advice: "try again when its transaction has ended")
        }
        do throws(FirnError) {
            if group.pending?.isFull(waiting: 0) ?? false {
                try revalidateFile()
                try publishPending()
                // Other processes have been waiting since the first of these versions.
                file.unlock(at: Store.writerLock)
            }
            // While versions are pending, the lock is still held.
            if group.pending == nil, !(try takeWriterLock(wait, until: end)) {
                throw FirnError(
                    .locked, "the file is being written by another process", at: .init(file: path),
                    advice: "try again when that process has finished")
            }
            // A compaction holds the lock until the new file has the name: whatever is written to the old file after that would be lost.
            try revalidateFile()
            try restoreNewest()
            let base = try writersSnapshot()
            // Another process may have begun to use an unknown feature after this process opened the file.
            guard base.root.isWritable else {
                throw beyondWriting
            }
            if group.pending == nil, writer.replacement == nil, writer.length < base.root.fileLength {
                throw FirnError.damaged(path, what: "the file was cut short while it was open", byte: writer.length)
            }
            guard base.version < ExtentRef.maximumVersion else {
                throw FirnError(
                    .unsupported, "no version numbers are left", at: .init(file: path),
                    advice: "copy it with 'firn compact FILE OUT', which numbers versions from 1")
            }
            if writer.space?.version != base.version { try loadWriterState(base) }
            // The durable version stays whole until a later one is durable.
            let durable = group.pending?.durable.version ?? base.version
            let protected = min(base.root.oldestKept, durable == 0 ? 0 : durable - 1)
            let tagged = (writer.history.tags + writer.durableTags).map(\.version)
            writer.space!.release(protected: protected, pins: try pins(newest: base.version) + tagged)
            if let fault = writer.space!.contradiction { throw FirnError(fault, in: path) }
            try clearRejected()
            return StoreTransaction(store: self, base: base)
        } catch {
            endWriting()
            throw error
        }
    }

    /// Reads the state of space and the history that the newest version has.
    private func loadWriterState(_ base: StoreSnapshot) throws(FirnError) {
        writer.space = nil
        let loaded = try loadSpace(base)
        writer.history = try readHistory(loaded.history, base)
        if group.pending == nil { writer.durableTags = writer.history.tags }
        (writer.space, writer.records, writer.checkpoint, writer.logBytes, writer.historyRef) = loaded
    }

    private var beyondWriting: FirnError {
        FirnError(
            .unsupported, "the file has feature bits that this program does not know: it can be read, but not written",
            at: .init(file: path),
            advice: "use a newer version of Firn to write it")
    }

    func endWriting() {
        lock.withLock {
            if group.pending == nil { file.unlock(at: Store.writerLock) }
            queue.end()
            lock.wakeAll()
        }
    }
}
