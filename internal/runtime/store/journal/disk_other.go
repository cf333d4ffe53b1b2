//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package journal

const noFollow = 0

// syncDir does nothing, because these operating systems flush directory entries themselves.
func (osDisk) syncDir(string) error { return nil }
