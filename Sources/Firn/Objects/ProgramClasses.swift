import FirnTable
import Foundation
import Synchronization

/// The classes of the program that are derived from `Object` and `EmbeddedObject`, found without being named in code.
///
/// On Linux they are read from the type records that the compiler writes into every binary. Everything that the records refer to must be in
/// the loaded binaries, in the form that is known here; a record that is not is skipped, and its class is found when it is first used.
enum ProgramClasses {
    /// Returns the only class of the program that is stored under a name; nil if there is none, or more than one.
    static func named(_ name: String) -> ObjectBase.Type? {
        let found = classes()[name] ?? []
        return found.count == 1 ? found[0] : nil
    }

    /// The classes that realms without `objectTypes` hold, in the order of their names. Classes that share a name are omitted.
    static var included: [ObjectBase.Type] {
        classes().sorted { $0.key.precedes($1.key) }.compactMap { $0.value.count == 1 ? $0.value[0] : nil }
            .filter { $0.shouldIncludeInDefaultSchema() }
    }

    private struct Known {
        var images = -1
        var classes: [String: [ObjectBase.Type]] = [:]
    }
    private static let known: Mutex<Known> = Mutex(Known())

    /// The classes by the names of their types. They are searched for again after binaries were loaded.
    private static func classes() -> [String: [ObjectBase.Type]] {
        known.withLock { known in
            let images = imageCount()
            if images == known.images { return Known(classes: known.classes) }
            var classes: [String: [ObjectBase.Type]] = [:]
            for found in all() where found != DynamicObject.self { classes[found.className(), default: []].append(found) }
            known = Known(images: images, classes: classes)
            return known
        }.classes
    }
}

#if canImport(Darwin)
    extension ProgramClasses {
        fileprivate static func imageCount() -> Int { Int(objc_getClassList(nil, 0)) }

        private static func all() -> [ObjectBase.Type] {
            var count: UInt32 = 0
            guard let list = objc_copyClassList(&count) else { return [] }
            defer { free(UnsafeMutableRawPointer(list)) }
            return (0..<Int(count)).compactMap { index in
                var ancestor: AnyClass? = list[index]
                // Asks the runtime only: other questions run code of the class.
                while let some = ancestor, some != ObjectBase.self { ancestor = class_getSuperclass(some) }
                return ancestor == nil || list[index] == ObjectBase.self ? nil : list[index] as? ObjectBase.Type
            }.filter { $0 != Object.self && $0 != EmbeddedObject.self }
        }
    }
#else
    extension ProgramClasses {
        fileprivate static func imageCount() -> Int {
            var count = 0
            withUnsafeMutablePointer(to: &count) { count in
                enumerateSections(
                    { _, count in
                        count?.assumingMemoryBound(to: Int.self).pointee += 1
                        return true
                    }, count)
            }
            return count
        }

        private static func all() -> [ObjectBase.Type] {
            var reader = TypeRecords(LoadedMemory())
            withUnsafeMutablePointer(to: &reader) { reader in
                enumerateSections(
                    { sections, reader in
                        reader?.assumingMemoryBound(to: TypeRecords.self).pointee.read(sections)
                        return true
                    }, reader)
            }
            return reader.classes
        }
    }

    @_silgen_name("swift_enumerateAllMetadataSections")
    private func enumerateSections(
        _ body: @convention(c) (UnsafeRawPointer?, UnsafeMutableRawPointer?) -> Bool, _ context: UnsafeMutableRawPointer?)

    /// The readable memory of the process, as far as it does not change while binaries are loaded.
    private struct LoadedMemory {
        private var ranges: [Range<UInt>] = []

        /// Reads the list of the process's mappings: lines such as `5581c0a000-5581c0b000 r--p …`. Without it, no memory is readable.
        init() {
            let lines = (FileManager.default.contents(atPath: "/proc/self/maps") ?? Data()).split(separator: UInt8(ascii: "\n"))
            for line in lines {
                let parts = String(decoding: line.prefix(80), as: UTF8.self).split(separator: " ", maxSplits: 2)
                let ends = parts.first?.split(separator: "-").compactMap { UInt($0, radix: 16) } ?? []
                guard parts.count > 1, parts[1].first == "r", ends.count == 2, ends[0] < ends[1] else { continue }
                if let before = ranges.last, before.upperBound == ends[0] {
                    ranges[ranges.count - 1] = before.lowerBound..<ends[1]
                } else {
                    ranges.append(ends[0]..<ends[1])
                }
            }
            ranges.sort { $0.lowerBound < $1.lowerBound }
        }

        func holds(_ address: UInt, _ count: UInt) -> Bool {
            var low = 0, high = ranges.count
            while low < high {
                let middle = (low + high) / 2
                if ranges[middle].upperBound <= address { low = middle + 1 } else { high = middle }
            }
            return low < ranges.count && ranges[low].lowerBound <= address && ranges[low].upperBound - address >= count
        }

        func word(_ address: UInt) -> UInt? {
            holds(address, 8) ? UnsafeRawPointer(bitPattern: address)?.loadUnaligned(as: UInt.self) : nil
        }
        func half(_ address: UInt) -> Int32? {
            holds(address, 4) ? UnsafeRawPointer(bitPattern: address)?.loadUnaligned(as: Int32.self) : nil
        }
        func byte(_ address: UInt) -> UInt8? { holds(address, 1) ? UnsafeRawPointer(bitPattern: address)?.load(as: UInt8.self) : nil }

        /// Returns the address that a relative pointer refers to; nil for null.
        func target(_ address: UInt) -> UInt? { half(address).flatMap { $0 == 0 ? nil : address &+ UInt(bitPattern: Int($0)) } }

        /// The address of a descriptor that a type reference with the low two bits `kind` refers to.
        func descriptor(_ address: UInt, kind: Int32) -> UInt? { kind == 0 ? address : kind == 1 ? word(address) : nil }
    }

    /// Reads the type records of binaries: relative pointers to the descriptors of types.
    private struct TypeRecords {
        private let memory: LoadedMemory
        private(set) var classes: [ObjectBase.Type] = []
        /// Whether the class of a descriptor is derived from `ObjectBase`.
        private var derived: [UInt: Bool] = [:]

        init(_ memory: LoadedMemory) {
            self.memory = memory
            // A class that has no code to run when its metadata is accessed keeps its descriptor in it.
            if let base = TypeRecords.descriptor(of: ObjectBase.self, memory) { derived[base] = true }
        }

        private static func descriptor(of objectClass: AnyClass, _ memory: LoadedMemory) -> UInt? {
            // The descriptor is the ninth word of the class on 64-bit systems without Objective-C: after kind, superclass, flags and address
            // point (two words), and sizes (two words).
            let address = UInt(bitPattern: unsafeBitCast(objectClass, to: UnsafeRawPointer.self))
            return (5...8).lazy.compactMap { index in
                memory.word(address + UInt(index) * 8).flatMap { TypeRecords.name(of: $0, memory) == "ObjectBase" ? $0 : nil }
            }.first
        }

        /// Returns the name of the type of a class descriptor.
        private static func name(of descriptor: UInt, _ memory: LoadedMemory) -> String? {
            guard descriptor & 3 == 0, let flags = memory.half(descriptor), flags & 0x1F == 16, let name = memory.target(descriptor &+ 8)
            else {
                return nil
            }
            var bytes: [UInt8] = []
            while bytes.count < 1000, let byte = memory.byte(name &+ UInt(bytes.count)), byte != 0 { bytes.append(byte) }
            return String(decoding: bytes, as: UTF8.self)
        }

        /// Reads the sections of one binary: their version, three words, and the start and length of each section. The third is that of types.
        mutating func read(_ sections: UnsafeRawPointer?) {
            guard let sections else { return }
            let address = UInt(bitPattern: sections)
            guard let version = memory.word(address), (1...5).contains(version), let start = memory.word(address + 64),
                let length = memory.word(address + 72), length < 1 << 28, memory.holds(start, length)
            else { return }
            for record in 0..<length / 4 {
                let address = start + record * 4
                guard let pointer = memory.half(address), pointer != 0 else { continue }
                let target = (address &+ UInt(bitPattern: Int(pointer))) & ~3
                guard let descriptor = memory.descriptor(target, kind: pointer & 3), isDerived(descriptor, depth: 0), !isGeneric(descriptor)
                else { continue }
                if let found = type(of: descriptor) as? ObjectBase.Type, found != ObjectBase.self, found != Object.self,
                    found != EmbeddedObject.self
                {
                    classes.append(found)
                }
            }
        }

        /// Whether the descriptor is that of a generic class. Its objects have classes such as `Box<Int>`, which have no descriptors.
        private func isGeneric(_ descriptor: UInt) -> Bool { memory.half(descriptor).map { $0 & 0x80 != 0 } ?? true }

        /// Whether the descriptor is that of a class that is derived from `ObjectBase`, also through generic classes.
        private mutating func isDerived(_ descriptor: UInt, depth: Int) -> Bool {
            if let known = derived[descriptor] { return known }
            // Kind 16 is a class.
            guard depth < 100, descriptor & 3 == 0, let flags = memory.half(descriptor), flags & 0x1F == 16,
                let superclass = memory.target(descriptor &+ 20), let parent = parent(superclass)
            else {
                derived[descriptor] = false
                return false
            }
            let answer = isDerived(parent, depth: depth + 1)
            derived[descriptor] = answer
            return answer
        }

        /// Returns the descriptor of the class that a mangled name refers to: 1 and a relative pointer to it, or 2 and one to its address. The
        /// arguments of a generic class follow.
        private func parent(_ name: UInt) -> UInt? {
            guard let kind = memory.byte(name), kind == 1 || kind == 2, let target = memory.target(name &+ 1) else { return nil }
            return kind == 1 ? target : memory.word(target)
        }

        /// Calls the function that returns the metadata of the type.
        private func type(of descriptor: UInt) -> Any.Type? {
            guard let function = memory.target(descriptor &+ 12), memory.holds(function, 1) else { return nil }
            typealias Accessor = @convention(c) (UInt) -> UnsafeRawPointer?
            let accessor = unsafeBitCast(function, to: Accessor.self)
            return accessor(0).map { unsafeBitCast($0, to: Any.Type.self) }
        }
    }
#endif
