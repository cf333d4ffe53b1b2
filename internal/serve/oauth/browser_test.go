package oauth

import (
	"runtime"
	"testing"
)

// TestOpenBrowserRefusesOtherSchemes compares the errors for addresses that must not be opened.
func TestOpenBrowserRefusesOtherSchemes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs are looked for in another way")
	}
	t.Setenv("BROWSER", "no-such-browser")
	for address, want := range map[string]string{
		"javascript:alert(1)": "the page to open is not a web page",
		"%":                   "the page to open is not a web page",
		"https://h.example/":  `opening the browser: exec: "no-such-browser": executable file not found in $PATH (petrigate login --no-browser prints the address)`,
	} {
		if err := OpenBrowser(address); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %q", address, err, want)
		}
	}
}
