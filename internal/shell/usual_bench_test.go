package shell_test

import "testing"

// BenchmarkUsual measures a policy with twenty-five maps on typical scripts of agents.
func BenchmarkUsual(b *testing.B) {
	for name, script := range map[string]string{
		"test":    `cd app && npm test 2>&1 | tail -30`,
		"commit":  "git add -A && git commit -m \"$(cat <<'EOF'\nfix: x\n\nbody of the message\nEOF\n)\"",
		"typical": typical,
	} {
		b.Run(name, func(b *testing.B) {
			r := twentyMaps(b)
			b.ReportAllocs()
			for b.Loop() {
				asks(r, script)
			}
		})
	}
}
