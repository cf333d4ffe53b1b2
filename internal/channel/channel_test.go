package channel

import (
	"slices"
	"testing"
)

// TestFind checks that each channel is found by its name, and by no other.
func TestFind(t *testing.T) {
	for _, c := range All() {
		if found, ok := Find(c.Name); !ok || found != c {
			t.Errorf("Find(%q) returned %v, %t", c.Name, found, ok)
		}
	}
	if c, ok := Find("mail"); ok || c != (Channel{}) {
		t.Errorf("Find returned %v for a name that no channel has", c)
	}
}

// TestNames checks that channels are selected by their properties, in the order of the table.
func TestNames(t *testing.T) {
	for _, tt := range []struct {
		what      string
		got, want []string
	}{
		{"all", Names(nil), []string{Elicit, URL, Web, CLI, Webhook}},
		{"usual", Usual(), []string{Elicit, Web, CLI}},
		{"of the client", OfClient(), []string{Elicit, URL}},
	} {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.what, tt.got, tt.want)
		}
	}
	if !IsClient(URL) || IsClient(CLI) || IsClient("mail") {
		t.Error("IsClient is wrong")
	}
}
