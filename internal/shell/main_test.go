package shell_test

import (
	"runtime/debug"
	"testing"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // with the default of 100, garbage collection takes a quarter of the time
	m.Run()
}
