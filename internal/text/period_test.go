package text

import (
	"testing"
	"time"
)

func TestPeriod(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Second: "second", time.Minute: "minute", time.Hour: "hour", 24 * time.Hour: "day", 36 * time.Hour: "36h",
	} {
		if got := Period(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}

func TestNamedPeriod(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		0: time.Second, time.Second: time.Second, time.Minute - 1: time.Second, 90 * time.Minute: time.Hour, 36 * time.Hour: 24 * time.Hour,
	} {
		if got := NamedPeriod(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}
