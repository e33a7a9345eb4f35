import FirnBytes
import FirnDisk

/// Finds the newest root whose commit is valid. It runs once, at opening.
struct RootSearch {
    let file: File
    let path: String
    let key: EncryptionKey?
    /// The cipher of an encrypted file that is already open.
    var known: ExtentCipher?

    /// `why` states what is wrong with the slot or commit that should be the newest or the one before. `refused` is the whole root that was
    /// rejected.
    struct Found {
        var root: Root
        var refused: Root?
        var why: Damage?
        var cipher: ExtentCipher?
        /// One bit of the newest root was corrected: its slot is not whole.
        var isCorrected = false
    }

    func run() throws(FirnError) -> Found {
        // Another process may commit meanwhile: a failure counts only if the slots are unchanged afterwards.
        for _ in 0..<1000 {
            let before = try slots()
            let result: Result<Found, FirnError>
            do throws(FirnError) { result = .success(try search()) } catch { result = .failure(error) }
            if case .success(let found) = result, found.why == nil, !found.isCorrected { return found }
            if try slots() == before { return try result.get() }
        }
        throw FirnError(.locked, "the file changes too fast to be opened", at: .init(file: path))
    }

    private struct Slot: Equatable {
        var offset: UInt64
        var bytes: [UInt8]

        func root() throws(Damage) -> Root {
            do throws(Damage) {
                return try bytes.withBytes { (bytes) throws(Damage) in try Root(slot: bytes, at: offset) }
            } catch {
                throw error.shifted(by: offset).naming("the root at \(offset)")
            }
        }

        var corrected: Root? { bytes.withUnsafeBytes { Root(correcting: $0, at: offset) } }
    }

    /// Returns the slot at 0 and the slot that it names (4096 if it is vacant). If the slot at 0 is not whole, returns every possible
    /// second slot.
    private func slots() throws(FirnError) -> [Slot] {
        let first = Slot(offset: 0, bytes: try file.read(count: Root.slotBytes, at: 0))
        var offsets = (1...Root.maximumSlotDistance).map { $0 * 4096 }
        if first.bytes == Root.vacantSlot { offsets = [4096] }
        if let root = (try? first.root()) ?? first.corrected { offsets = [root.secondOffset] }
        var slots = [first]
        for offset in offsets { slots.append(Slot(offset: offset, bytes: try file.read(count: Root.slotBytes, at: offset))) }
        return slots
    }

    /// The roots that are whole, and what is wrong with the other slots.
    private struct Candidates {
        var whole: [Root] = []
        var fault: Damage?
        /// Whether a slot begins as those of `.firn` files do.
        var looksLikeOurs = false
        /// The offsets of slots of which one bit was corrected.
        var corrected: Set<UInt64> = []

        init(_ slots: [Slot]) {
            for slot in slots {
                if slot.bytes.starts(with: Root.magic) { looksLikeOurs = true }
                do throws(Damage) { try add(slot, isOneOfTwo: slots.count == 2) } catch {
                    // Most of the 32 positions hold no root: the fault to report is that of the slot at 0.
                    if fault == nil || slots.count == 2 { fault = error }
                }
            }
        }

        private mutating func add(_ slot: Slot, isOneOfTwo: Bool) throws(Damage) {
            let root: Root
            do throws(Damage) { root = try slot.root() } catch {
                // While all positions of the second slot are searched, bytes that are nearly a root do not count.
                guard isOneOfTwo, let right = slot.corrected else { throw error }
                corrected.insert(slot.offset)
                root = right
            }
            if isOneOfTwo, let first = whole.first, first.identity != root.identity || first.secondSlot != root.secondSlot {
                throw Damage("the roots belong to different stores", at: Int(slot.offset))
            }
            whole.append(root)
        }

        func isCorrected(_ root: Root) -> Bool { corrected.contains(root.offset(of: root.version)) }
    }

    private func search() throws(FirnError) -> Found {
        let size = try file.size(), slots = try slots(), isVacant = slots[0].bytes == Root.vacantSlot
        let candidates = Candidates(slots)
        var whole = candidates.whole, fault = candidates.fault
        // A position where the second slot may be can hold any bytes, even a root. If several do, the right one cannot be determined.
        if slots.count > 2, whole.count > 1 {
            throw FirnError.damaged(path, what: "the first root is damaged, and several second roots are possible", byte: 0)
        }
        if let first = whole.first, first.isInlineFile, slots.count == 2,
            slots[1].bytes.allSatisfy({ $0 == 0 }) || first.isVacant(slots[1].bytes)
        {
            fault = more(than: first, size)
        }
        for root in whole { try Store.checkFeatures(root, path) }
        let cipher = try unseal(&whole, &fault)
        whole.sort { $0.version > $1.version }
        guard let first = whole.first else {
            guard candidates.looksLikeOurs else {
                throw FirnError(
                    .notThisFormat, size == 0 ? "the file is empty" : "not a .firn file", at: .init(file: path),
                    advice: size == 0 ? nil : "'firn convert \(path) OUT.firn' converts a file of another format")
            }
            throw FirnError.damaged(path, what: fault?.what ?? "no root", byte: fault?.offset ?? 0)
        }
        do throws(Damage) {
            try check(first, newest: true, size: size, cipher)
            // The other slot holds the version before, if there is one. If it is not whole, a commit was interrupted, or the slot is
            // damaged.
            let isCorrected = candidates.isCorrected(first)
            if first.version == 0 { return Found(root: first, why: empty(size), cipher: cipher, isCorrected: isCorrected) }
            return Found(
                root: first, why: whole.count < 2 && !(isVacant && first.version == 1) ? fault : nil, cipher: cipher,
                isCorrected: isCorrected)
        } catch {
            // The newest version could not be read, but may be intact: an older one must not replace it.
            if error.isUnread { throw FirnError(error, in: path) }
            // Extents that were durable before the root cannot have been torn by a crash: the file is damaged, and an older version must
            // not replace it.
            guard whole.count == 2, first.listsExtents else { throw FirnError(error, in: path) }
            let why = error
            do throws(Damage) {
                try check(whole[1], newest: false, size: size, cipher)
            } catch { throw FirnError(missingEnd(of: first, size) == nil ? error : why, in: path) }
            return Found(
                root: whole[1], refused: first, why: why, cipher: cipher,
                isCorrected: candidates.isCorrected(whole[1]))
        }
    }

    /// Returns what is wrong with an inline file whose second slot is empty: nothing, unless bytes were written after its one extent.
    private func more(than first: Root, _ size: UInt64) -> Damage? {
        guard size > first.fileLength, (try? file.firstConflict(in: Store.writerLock..<Store.writerLock + 1)) ?? nil == nil else {
            return nil
        }
        return Damage(
            "no root of a second commit is whole: that commit was interrupted, or the file is damaged", inFileAt: first.secondOffset)
    }

    /// Returns what is wrong with a file that has only the empty version: its bytes may be the beginning of the first commit, or the rest
    /// of a file with many.
    private func empty(_ size: UInt64) -> Damage? {
        guard size > UInt64(Root.slotBytes), (try? file.firstConflict(in: Store.writerLock..<Store.writerLock + 1)) ?? nil == nil else {
            return nil
        }
        return Damage("no root of a commit is whole: the first one was interrupted, or the file is damaged", at: Root.slotBytes)
    }

    /// Opens the roots of an encrypted file. Roots that the key does not open are not whole.
    private func unseal(_ whole: inout [Root], _ fault: inout Damage?) throws(FirnError) -> ExtentCipher? {
        guard let salt = whole.lazy.compactMap(\.seal?.salt).first else {
            guard key == nil || whole.isEmpty else {
                throw FirnError(
                    .notEncrypted, "the file is not encrypted, and a key was given", at: .init(file: path),
                    advice: "open it without the key")
            }
            return nil
        }
        guard key != nil || known != nil else {
            throw FirnError(
                .encrypted, "the file is encrypted", at: .init(file: path), advice: "open it with the key that it was written with")
        }
        var cipher: ExtentCipher?, opened: [Root] = []
        for root in whole {
            // If the roots have two salts or identities, the first one that the key opens is used.
            let tried: ExtentCipher
            if let cipher = cipher ?? known {
                tried = cipher
            } else {
                tried = try ExtentCipher(key!, salt: root.seal?.salt ?? salt, identity: root.identity)
            }
            do throws(Damage) {
                opened.append(try root.unsealed(tried))
                cipher = tried
            } catch {
                if error.isUnread { throw FirnError(error, in: path) }
                fault = error.shifted(by: root.offset(of: root.version))
            }
        }
        guard !opened.isEmpty else {
            throw FirnError(
                .wrongKey, "the key is not the one that the file was encrypted with", at: .init(file: path),
                advice: "pass the key with --key-file or FIRN_KEY, or in the configuration")
        }
        whole = opened
        return cipher
    }

    /// Returns a fault if the file is shorter than it was when this root was written.
    private func missingEnd(of root: Root, _ size: UInt64) -> Damage? {
        let length = root.version == 0 ? UInt64(Root.slotBytes) : root.isInlineFile ? root.fileLength : root.end * 64
        return size < length ? .cut(size, of: length) : nil
    }

    private func check(_ root: Root, newest: Bool, size: UInt64, _ cipher: ExtentCipher?) throws(Damage) {
        let isAlone = root.version == 0 || root.isInlineFile
        // Free space at the end of an older version can have been removed since.
        if newest || isAlone, let end = missingEnd(of: root, size) { throw end }
        guard !isAlone else { return }
        let record = try naming("the commit record of version \(root.version)") { () throws(Damage) in
            try withExtent(root.record, size, cipher) { (bytes) throws(Damage) in
                do throws(Damage) { return try CommitRecord(bytes) } catch { throw error.shifted(by: root.record.offset) }
            }
        }
        guard record.version == root.version, record.catalogue == root.catalogue, record.end == root.end,
            record.oldestKept == root.oldestKept
        else {
            throw Damage("root and commit record disagree", inFileAt: root.record.offset)
        }
        if newest, root.listsExtents {
            do throws(Damage) { try record.checkListed(within: size) } catch { throw error.shifted(by: root.record.offset) }
            try naming("an extent that version \(root.version) wrote") { () throws(Damage) in
                for ref in record.listed { try withExtent(ref, size, cipher) { _ in } }
            }
        }
    }

    /// Passes a copy of the extent to `body`; the copy exists only during the call.
    private func withExtent<R>(
        _ ref: ExtentRef, _ size: UInt64, _ cipher: ExtentCipher?, _ body: (UnsafeRawBufferPointer) throws(Damage) -> R
    ) throws(Damage) -> R {
        guard ref.offset >= UInt64(Root.slotBytes), ref.length <= size, ref.offset <= size - ref.length else {
            throw Damage("reference to bytes outside the file", inFileAt: ref.offset)
        }
        // Encrypted extents are checked when they are opened.
        let bytes = try file.copy(ref, isSealed: cipher != nil)
        defer { File.giveBack(bytes) }
        guard let opened = try cipher?.open(bytes, ref) else { return try body(bytes) }
        return try withExtendedLifetime(opened) { () throws(Damage) in try body(opened.bytes) }
    }
}

extension Damage {
    /// The fault of a file that has lost its end.
    static func cut(_ size: UInt64, of length: UInt64) -> Damage {
        Damage("the file was cut short: \(size) of \(length) bytes", at: Int(clamping: size))
    }
}
