package mining

import "testing"

// TestSameText checks that the suggestions depend on the log alone.
func TestSameText(t *testing.T) {
	log := planted(t, 1, 300)
	want := suggested(t, log).Text()
	for range 5 {
		if got := suggested(t, log).Text(); got != want {
			t.Fatalf("%s\nand before:\n%s", got, want)
		}
	}
}
