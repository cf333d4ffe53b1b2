package audit

import "runtime/debug"

// withMapped calls do, which accesses mapped memory. It returns false if there is no such memory,
// or if the file was truncated by another process; the memory is then unmapped.
func withMapped(mapped *[]byte, do func()) (done bool) {
	if *mapped == nil {
		return false
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if !done && recover() != nil {
			unmapFile(*mapped)
			*mapped = nil
		}
	}()
	do()
	return true
}
