import FirnBytes
print("firn")
