package mining

import (
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
)

// TestAllow checks that two sessions are enough for an allow list, and that the list has only tools
// that ran often and were never refused or asked about.
func TestAllow(t *testing.T) {
	order := slices.Concat(slices.Repeat([]string{"read_note", "get_note", "delete_note", "bash", "ship", "lint", "view"}, 3), []string{"rare"})
	rules := "limit ship to 2 per session\nshadow block lint\nrequire human-approval before view\n"
	for sessions, want := range map[int]string{1: "", 2: "get_note read_note"} {
		r := suggested(t, always(t, rules, sessions, order...))
		var got []string
		for _, a := range r.Allow {
			_, name, _ := strings.Cut(strings.Trim(a.Tool, `"`), ".")
			got = append(got, name)
			if a.Calls != 6 || a.Sessions != 2 {
				t.Errorf("%+v", a)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%d sessions: %q, want %q", sessions, got, want)
		}
		if says := strings.Contains(r.Text(), "\n# allow "); says != (want != "") {
			t.Errorf("%d sessions:\n%s", sessions, r.Text())
		}
	}
	denied, err := Suggest(t.Context(), always(t, "allow *", 2, order...), &config.Config{Default: "deny"}, Options{})
	if err != nil || len(denied.Allow) > 0 {
		t.Errorf("an allow list beside default: deny: %v %v", denied.Allow, err)
	}
}
