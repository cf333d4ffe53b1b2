package audit

import "runtime/debug"

// touch does something with the memory of a file. It reports false where there is none, or
// the file was cut short by somebody: then there is none any more.
func touch(mapped *[]byte, do func()) (done bool) {
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
