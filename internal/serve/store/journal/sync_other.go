//go:build !linux

package journal

func (f *machineFile) sync() error { return f.Sync() }
