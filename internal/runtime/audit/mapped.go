package audit

import "runtime/debug"

// withMapped calls do, which accesses mapped memory. It returns false without mapped memory. If
// another process has truncated the file, withMapped unmaps the memory and returns false.
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
