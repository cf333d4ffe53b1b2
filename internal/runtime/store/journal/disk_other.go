//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package journal

const noFollow = 0

// syncDir does nothing: these systems write directory entries to the disk by themselves.
func (osDisk) syncDir(string) error { return nil }
