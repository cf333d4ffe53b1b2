package examples

import (
	"os"
	"runtime/debug"
	"testing"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	_ = os.Setenv("GOGC", "400") // less garbage collection in the programs too, because there are dozens of short-lived processes
	m.Run()
}
