import FirnDatabase
import FirnTable
