import FirnBytes
