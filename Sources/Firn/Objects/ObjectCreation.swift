// The library creates objects of classes that it knows only at run time, and user code does so with `T()` and `type.init()`. Swift permits
// this with `required` initializers only, and a `required init()` in the base class would refuse the `override init()` of subclasses, which
// compiles with Realm. In a convenience initializer, `self.init()` calls the override of the dynamic class. The declarations without a body
// below call such an initializer with a metatype: an initializer and a static function have the same calling convention.

extension ObjectBase {
    /// Returns a new unmanaged object of the class that this is called on, which its `init()` has initialized. Traps with "Use of
    /// unimplemented initializer" if the class has designated initializers but no `init()`.
    static func _make() -> Self { _allocated(()) }

    @_silgen_name("firn_object_make")
    private static func _allocated(_: Void) -> Self
}

/// The classes whose `init()` can be called with a metatype: `T()`, `type.init()`.
public protocol _CreatableObject: AnyObject {}

extension ObjectBase: _CreatableObject {}

extension _CreatableObject where Self: ObjectBase {
    /// Creates an unmanaged object of the metatype's class with its `init()`. Chosen by the compiler where the class is a generic parameter, a
    /// metatype or `Self`; otherwise it chooses the `init()` of the class.
    @_disfavoredOverload
    @_silgen_name("firn_object_create")
    public init(_object: Void = ())

    @usableFromInline
    @_silgen_name("firn_object_create")
    static func _created(_object: Void) -> Self { _make() }
}
