import CSimdJSON
