import FirnBytes
import FirnDisk
import FirnStore

/// Opens an untrusted file with the store alone, and reads, verifies and writes it.
struct StoreAttack {
    let path: String

    func run(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= 1 << 20 else { return }
        do {
            let file = try File(path: path, .createOrTruncate)
            try file.write(bytes, at: 0)
        } catch { trap("cannot write the scratch file: \(error)") }
        guard let store = open() else { return }
        _ = try? store.verify { _ in }
        _ = try? store.spaceReport()
        for version in ((try? store.history()) ?? []).prefix(4) {
            guard let snapshot = try? store.snapshot(version: version.version) else { continue }
            walk(snapshot.catalogue, snapshot)
        }
        _ = try? store.retention()
        for tag in ((try? store.tags()) ?? []).prefix(4) {
            if let snapshot = try? store.snapshot(tag: tag.name) { walk(snapshot.catalogue, snapshot) }
        }
        write(store)
        _ = try? store.shrink()
        _ = try? store.verify { _ in }
    }

    /// Opens the file, with the key if it is encrypted: the attacker knows the key.
    private func open() -> Store? {
        do throws(FirnError) { return try Store.open(path: path, writable: true) } catch {
            guard error.code == .encrypted else { return nil }
            return try? Store.open(path: path, writable: true, key: EncryptionKey([UInt8](0..<64)))
        }
    }

    /// Reads the catalogue as a tree.
    private func walk(_ ref: ExtentRef, _ source: any ExtentSource) {
        let tree = TreeReader(root: ref, source: source)
        for key in [UInt64(0), 5, 1000, .max] { _ = try? tree.get(key) }
        guard var cursor = try? tree.cursor() else { return }
        var left = 5000
        while left > 0, (try? cursor.next()) == true {
            _ = try? cursor.value()
            _ = try? cursor.keyNumber()
            left -= 1
        }
    }

    private func write(_ store: Store) {
        for round in 0..<3 {
            guard let transaction = try? store.begin(wait: .no) else { return }
            let writer = TreeWriter(root: transaction.base.catalogue, transaction: transaction)
            for key in [UInt64(round), 7, 900, 1 << 40] { try? writer.put(key, [UInt8](repeating: UInt8(round), count: 40 + round * 700)) }
            _ = try? writer.delete(UInt64(7))
            if round == 1 {
                transaction.cancel()
                continue
            }
            guard let root = try? writer.finish() else { return }
            guard (try? transaction.commit(catalogue: root, keep: 2)) != nil else { return }
        }
        if let snapshot = try? store.snapshot() { walk(snapshot.catalogue, snapshot) }
    }
}
