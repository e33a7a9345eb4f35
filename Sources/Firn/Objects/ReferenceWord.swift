/// The word of an object in which the runtime counts references, as it is while there is exactly one strong reference.
///
/// Iterators reuse an object that nothing else refers to. Querying the runtime for that costs a call, and returning the object costs
/// another one with an atomic exchange; and the runtime's answer ignores weak and unowned references, through which the object would be
/// seen to become another row's. The word shows all of this: it equals `alone` if there is one strong reference and no other of any kind (a
/// weak reference, even a former one, changes it permanently). In that state no other thread can change it, so it can be set to the value
/// for two references without an atomic operation.
///
/// The values are observed when they are first needed. If a runtime counts references in another way, no object is found to be alone, and
/// iterations create a new object for each row.
@usableFromInline
struct ReferenceWord: Sendable {
    @usableFromInline let alone: UInt
    /// The word with a second strong reference.
    @usableFromInline let shared: UInt
    /// True if the observed values are consistent.
    let isKnown: Bool

    static let observed = ReferenceWord()

    /// Returns a pointer to the word, which follows the pointer to the class.
    @inlinable @inline(__always)
    static func of(_ object: UnsafeMutableRawPointer) -> UnsafeMutablePointer<UInt> {
        (object + MemoryLayout<UnsafeRawPointer>.size).assumingMemoryBound(to: UInt.self)
    }

    /// Returns whether the only reference to the object is the variable that it was taken from.
    @inline(__always)
    static func isAlone(_ object: Unmanaged<ObjectBase>) -> Bool { observed.isKnown && of(object.toOpaque()).pointee == observed.alone }

    /// Returns a second reference to an object that is alone, as a value of its class.
    @inlinable @inline(__always)
    static func handOut<Element>(_ object: Unmanaged<ObjectBase>, _ word: UnsafeMutablePointer<UInt>, shared: UInt) -> Element {
        word.pointee = shared
        var reference = object.toOpaque()
        return withUnsafeMutablePointer(to: &reference) { UnsafeMutableRawPointer($0).assumingMemoryBound(to: Element.self).move() }
    }

    private final class Sample {}

    /// The references to a sample, in addition to the strong reference of `first`.
    private final class Holder {
        var first: Sample?
        var second: Sample?
        weak var weakly: Sample?
        unowned var unowned: Sample?
    }

    // Not optimized, so that every reference that is written here exists.
    @_optimize(none)
    @inline(never)
    private init() {
        alone = ReferenceWord.observe { _, _ in }
        shared = ReferenceWord.observe { $0.second = $1 }
        let others = [
            shared,
            ReferenceWord.observe { $0.weakly = $1 },
            ReferenceWord.observe {
                $0.weakly = $1
                $0.weakly = nil
            },
            ReferenceWord.observe { $0.unowned = $1 },
        ]
        let again = ReferenceWord.observe {
            $0.second = $1
            $0.second = nil
        }
        isKnown = again == alone && !others.contains(alone)
    }

    /// Returns the word of an object with one strong reference and those that `refer` adds.
    @_optimize(none)
    @inline(never)
    private static func observe(_ refer: (Holder, Sample) -> Void) -> UInt {
        let holder = Holder()
        let address = make(holder, refer)
        let word = ReferenceWord.of(address).pointee
        withExtendedLifetime(holder) {}
        return word
    }

    @_optimize(none)
    @inline(never)
    private static func make(_ holder: Holder, _ refer: (Holder, Sample) -> Void) -> UnsafeMutableRawPointer {
        let sample = Sample()
        holder.first = sample
        refer(holder, sample)
        return Unmanaged.passUnretained(sample).toOpaque()
    }
}
