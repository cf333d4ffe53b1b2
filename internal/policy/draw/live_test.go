package draw

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/petri"
)

// ruled returns the backup net with a start transition, as generated from rules.
func ruled() Net {
	return Net{
		Name:   "backup first",
		Places: []Place{{Name: "idle", Tokens: 1}, {Name: "ready"}, {Name: "gate"}},
		Transitions: []Transition{
			{Name: "start", In: one(0), Out: one(1)},
			{Name: "do-backup", Tools: []string{"backup"}, In: one(1), Out: one(2), Deferred: true},
			{Name: "do-delete", Tools: []string{"delete"}, In: one(2), Out: one(1)},
		},
	}
}

func TestWithoutStart(t *testing.T) {
	whole := ruled()
	n := whole.WithoutStart()
	if got := fmt.Sprint(n.Places[0].Name, n.Places[0].Tokens, n.Transitions[0].In, n.Transitions[1].In); got != "ready1 [{0 1}] [{1 1}]" || len(n.Transitions) != 2 {
		t.Error(got, len(n.Transitions))
	}
	if whole.Places[0].Name != "idle" || whole.Transitions[1].In[0].Place != 1 {
		t.Error("the net itself has changed")
	}
	kept := map[string]func(*Net){
		"it gates a call":       func(n *Net) { n.Transitions[0].Tools = []string{"start"} },
		"the place is refilled": func(n *Net) { n.Transitions[2].Out = one(0) },
		"the place is read":     func(n *Net) { n.Transitions[1].In = one(0) },
		"it has not happened":   func(n *Net) { n.Places[0].Tokens = 0 },
	}
	for name, change := range kept {
		n := ruled()
		change(&n)
		if len(n.WithoutStart().Transitions) != 3 {
			t.Errorf("%s: the start is left out", name)
		}
	}
}

// TestLiveShowsTokensAndLacks checks that tokens are in their places, and that a disabled transition names the empty
// place.
func TestLiveShowsTokensAndLacks(t *testing.T) {
	for marking, want := range map[string][]string{
		"ready:1":      {"ready has 1 token", "backup: enabled", "delete: gate is empty", `class="place wanted"`, `class="box call enabled"`, `class="box call lacks"`},
		"gate:1":       {"gate has 1 token", "backup: ready is empty", "delete: enabled"},
		"ready:1/1":    {"ready has 1 token", "backup: ready is empty", `class="token flight"`},
		"gate:6":       {"gate has 6 tokens", `class="number"`, ">6</text>"},
		"ready:5/2":    {"ready has 5 tokens", "backup: enabled"},
		"other:1":      {"backup: ready is empty; delete: gate is empty"},
		"gate:1000000": {">1000000</text>"},
	} {
		n := ruled().WithoutStart()
		var m gate.Marking
		place, count, _ := strings.Cut(marking, ":")
		tokens := gate.Tokens{Place: place}
		if _, err := fmt.Sscanf(count, "%d/%d", &tokens.Count, &tokens.InFlight); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && tokens.Count == 0 {
			t.Fatal(err)
		}
		n.Live(append(m, tokens))
		picture := livePicture(t, &n)
		for _, w := range want {
			if !strings.Contains(picture, w) {
				t.Errorf("%s: no %s in\n%s", marking, w, picture)
			}
		}
		if tokens.Count <= maxDots && strings.Count(picture, `class="token`) != tokens.Count && place != "other" {
			t.Errorf("%s: %d dots", marking, strings.Count(picture, `class="token`))
		}
	}
}

// TestLiveSizeIsStable checks that the picture has the same size for every marking.
func TestLiveSizeIsStable(t *testing.T) {
	var sizes []string
	for _, m := range []gate.Marking{nil, {{Place: "ready", Count: 1}}, {{Place: "gate", Count: 1}}, {{Place: "ready", Count: 9}}} {
		n := ruled().WithoutStart()
		n.Live(m)
		size, _, _ := strings.Cut(livePicture(t, &n), "viewBox")
		sizes = append(sizes, size)
	}
	if len(slices.Compact(sizes)) != 1 {
		t.Error(sizes)
	}
}

// TestLiveHostile checks that names do not become markup and that pictures contain no inline
// styles, which the console's pages forbid.
func TestLiveHostile(t *testing.T) {
	bad := "</text><script>alert(1)</script>\x1b[2J\u202e\""
	n := Net{Name: bad, Places: []Place{{Name: bad, Tokens: 1}}, Transitions: []Transition{{Name: bad, Tools: []string{bad, "b"}, In: one(0)}}}
	n.Live(nil)
	picture := livePicture(t, &n)
	for _, no := range []string{"<script", "\x1b", "\u202e", "style="} {
		if strings.Contains(picture, no) {
			t.Errorf("%q in %s", no, picture)
		}
	}
	r := rand.New(rand.NewPCG(3, 9))
	for range 100 {
		n := randomNet(r)
		n.Live(gate.Marking{{Place: "p", Count: r.IntN(9)}})
		livePicture(t, &n)
	}
}

// TestRestingTransitionsBlockNothing checks that an observer or a clock transition that is not
// enabled does not refuse any call, and that no place is marked as lacking a token for it.
func TestRestingTransitionsBlockNothing(t *testing.T) {
	n := Net{Places: []Place{{Name: "a"}}, Transitions: []Transition{
		{Name: "watch", Tools: []string{"x"}, Observe: true, In: one(0)}, {Name: "refill", Every: 1e9, In: one(0)}, {Name: "auto", In: one(0)},
	}}
	n.Live(nil)
	picture := livePicture(t, &n)
	if strings.Count(picture, ">rests: a is empty<") != 2 || strings.Contains(picture, "wanted") || strings.Contains(picture, " lacks") {
		t.Error(picture)
	}
}

func TestLack(t *testing.T) {
	for want, l := range map[string]Lack{"gate is empty": {"gate", 0, 1}, "budget has 0 of 2": {"budget", 0, 2}, "budget has 1 of 3": {"budget", 1, 3}} {
		if l.String() != want {
			t.Errorf("%q, want %q", l.String(), want)
		}
	}
	n := Net{Places: []Place{{Name: "a"}}, Transitions: []Transition{{Name: "t", Tools: []string{"t"}, In: []petri.Arc{{Place: 0, Weight: 2}}}}}
	n.Live(gate.Marking{{Place: "a", Count: 1}})
	if got := n.Transitions[0].stateText(); got != "a has 1 of 2" {
		t.Error(got)
	}
}

func livePicture(t *testing.T, n *Net) string {
	t.Helper()
	var b bytes.Buffer
	if err := LiveSVG(&b, n); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(bytes.NewReader(b.Bytes()))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return b.String()
		} else if err != nil {
			t.Fatal(err, b.String())
		}
	}
}
