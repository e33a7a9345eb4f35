import FirnModel
