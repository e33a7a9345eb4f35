/// The word of an object in which the runtime counts references to it, as it is while one strong reference is all there is.
///
/// An iterator uses an object again that nobody else refers to. To ask the runtime whether that is so costs a call, and then another with an atomic
/// exchange to hand the object out again; and the runtime's answer leaves weak and unowned references aside, which would see the object become
/// another row's. The word tells all of it: it is `alone` where there is one strong reference and no other of any kind (a weak one, now or earlier,
/// makes it something else for good). And where it is, no other thread can change it, so that it may simply be set to what it is with two.
///
/// How the runtime counts is looked at when it is first needed, not known beforehand. Should it ever count in another way than expected, no object is
/// found alone, and iterations make a new one for each row.
@usableFromInline
struct ReferenceWord: Sendable {
    @usableFromInline let alone: UInt
    /// With a second strong reference.
    @usableFromInline let shared: UInt
    /// Both mean what they should.
    let isKnown: Bool

    static let observed = ReferenceWord()

    /// It follows the pointer to the class.
    @inlinable @inline(__always)
    static func of(_ object: UnsafeMutableRawPointer) -> UnsafeMutablePointer<UInt> {
        (object + MemoryLayout<UnsafeRawPointer>.size).assumingMemoryBound(to: UInt.self)
    }

    /// Nobody refers to the object but the one variable that it was taken from.
    @inline(__always)
    static func isAlone(_ object: Unmanaged<ObjectBase>) -> Bool { observed.isKnown && of(object.toOpaque()).pointee == observed.alone }

    /// Gives a second reference to an object that is alone, as a value of its class.
    @inlinable @inline(__always)
    static func handOut<Element>(_ object: Unmanaged<ObjectBase>, _ word: UnsafeMutablePointer<UInt>, shared: UInt) -> Element {
        word.pointee = shared
        var reference = object.toOpaque()
        return withUnsafeMutablePointer(to: &reference) { UnsafeMutableRawPointer($0).assumingMemoryBound(to: Element.self).move() }
    }

    private final class Sample {}

    /// What may refer to a sample, besides the one strong reference of `first`.
    private final class Holder {
        var first: Sample?
        var second: Sample?
        weak var weakly: Sample?
        unowned var unowned: Sample?
    }

    // Not optimised: every reference that is written here is there.
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

    /// The word of an object with one strong reference and what `refer` adds to it.
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
