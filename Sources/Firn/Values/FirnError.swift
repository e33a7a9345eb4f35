/// `FirnError` is a part of this module's interface: programs that catch it need no other import. It is the only public symbol of FirnBytes.
@_exported import FirnBytes
