// A model file written for Realm's Swift SDK compiles unchanged: this module is Firn by that name.
@_exported import Firn
