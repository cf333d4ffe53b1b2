package shell_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/shell"
)

// TestValuesAreBounded checks that a value that is doubled repeatedly, or used often, costs no more
// memory than the script may.
func TestValuesAreBounded(t *testing.T) {
	long := strings.Repeat("a", 50_000)
	for name, script := range map[string]string{
		"doubled":   "X=aaaaaaaa\n" + strings.Repeat("X=$X$X\n", 40),
		"arguments": "f() { " + strings.Repeat("foo \"$1\"; ", 300) + "}; X=" + long + "\n" + strings.Repeat("f \"$X\"\n", 100),
		"called":    "f() { \"$@\"; }; X=" + long + "\n" + strings.Repeat("f foo \"$X\" \"$X\" \"$X\"\n", 100),
		"through":   "f() { f2 \"$1$1\"; }; f2() { f3 \"$1$1\"; }; f3() { foo \"$1$1\"; }; X=" + long[:4000] + "\n" + strings.Repeat("f \"$X\"\n", 60),
		"used":      "X=" + long + "\n" + strings.Repeat("echo \"$X\"\n", 2000),
		"array":     "c=(" + long[:4000] + " b)\n" + strings.Repeat("c+=(\"${c[@]}\")\n", 30) + "\"${c[@]}\"",
		"either":    "X=" + long[:4000] + "; [ x ] && X=" + long[:3000] + "\n" + strings.Repeat("$X push\n", 2000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		shell.Read(script)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
			t.Errorf("%s: %d bytes for a script of %d", name, used, len(script))
		}
	}
}
