package streamable

import (
	"testing"
)

func TestSameOrigin(t *testing.T) {
	const base = "https://u:p@host/a/sse?x=1"
	for reference, want := range map[string]string{
		"/m?s=1": "https://u:p@host/m?s=1", "m": "https://u:p@host/a/m", "?s=1": "https://u:p@host/a/sse?s=1",
		"https://HOST:443/m": "https://u:p@HOST:443/m", "https://host/m#f": "https://u:p@host/m",
		"http://host/m": "", "https://host:444/m": "", "https://host.evil/m": "", "//evil/m": "", "https://x@host/m": "", "": "", "javascript:1": "",
	} {
		if got, err := SameOrigin(base, reference); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q %v, want %q", reference, got, err, want)
		}
	}
}
