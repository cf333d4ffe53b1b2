package audit

import "testing"

// BenchmarkReadEntry decodes a decision and an outcome.
func BenchmarkReadEntry(b *testing.B) {
	for name, event := range map[string]string{
		"decision": `{"time":"2026-01-02T03:04:05.123456789Z","event":"decision","session":"s-7a6f","principal":"local","client":"agent","call":12,"id":"12","upstream":"files","tool":"read","names":["files.read"],"arguments":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","values":[{"field":"path","sha256":["44136fa3"]}],"decision":"allow","nets":[{"net":"limit-read-1","verdict":"free","transition":"read","rule":"rules:1:1"},{"net":"limit-read-2","verdict":"free","transition":"read","rule":"rules:2:1"}],"policy":"44136fa355b3678a"}`,
		"outcome":  `{"time":"2026-01-02T03:04:05.123456789Z","event":"outcome","session":"s-7a6f","call":12,"tool":"files.read","outcome":"success","ms":12.5}`,
	} {
		b.Run(name, func(b *testing.B) {
			event := []byte(event)
			b.SetBytes(int64(len(event)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ReadEntry(event); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
