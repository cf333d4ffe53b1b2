// Package draw draws Petri nets: as Mermaid and DOT, which other programs lay out, and as SVG with
// its own layout.
//
// A picture shows what a net gates. The boxes contain the tools; below them, small print states
// whether approval is required and whether the net waits for the call's success.
//
// [OfPolicy], [OfNet] and [OfFile] convert nets to a [Net]. [Mermaid], [DOT] and [SVG] write
// several nets; [LiveSVG] writes a single net with its current marking. Layers are computed with
// the method of Sugiyama et al. (layout.go). A Net is plain data, and only [Net.Live] modifies it.
package draw

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/petri"
	"github.com/petrigate/petrigate/internal/text"
)

// A Net is a net to be drawn. Arcs refer to places by index.
type Net struct {
	Name        string
	From        string // position in the user's files, for example safety.rules:3; may be empty
	Places      []Place
	Transitions []Transition

	live bool // whether Live was called
}

// A Place is drawn as a circle with its initial tokens.
type Place struct {
	Name     string
	Tokens   int
	Terminal bool // a workflow may end when this place is marked

	// The following fields are set by Net.Live.
	Now      int  // current tokens, including those in flight
	InFlight int  // tokens held by calls in flight
	Wanted   bool // a blocked call needs a token from this place
}

// A Transition is drawn as a box.
type Transition struct {
	Name    string
	Tools   []string // the tools that the transition gates; empty: it fires on its own
	In, Out []petri.Arc

	Manual   bool          // whether approval is required
	People   int           // number of different people who must approve; 0: one
	Deferred bool          // the transition waits for the call's success
	Observe  bool          // the transition never blocks a call
	Spoils   bool          // the transition invalidates evidence from other calls
	Row      bool          // the transition counts equal calls in a row
	Sum      string        // limit of a sum, for example "1000 of amount"; may be empty
	Never    bool          // the transition is known never to fire
	Every    time.Duration // interval between the times when the clock fires the transition; 0: the clock does not fire it
	Key      []string      // fields of the key; the transition fires separately for each of their values
	Unless   []string      // calls with one of these names are exempt
	Listed   bool          // the box shows a list of admitted names, not a transition

	Lacks []Lack // the missing tokens, set by Net.Live; empty: the transition is enabled
}

// maxTools is the maximum number of tools listed in a box.
const maxTools = 3

// title returns the large print in a box. If the name of a transition only repeats the name of its
// tool, title returns the name of the tool.
func (t *Transition) title() string {
	if t.namesTool() {
		return t.Tools[0]
	}
	return t.Name
}

func (t *Transition) namesTool() bool {
	return len(t.Tools) == 1 && (t.Name == t.Tools[0] || t.Name == "do-"+t.Tools[0])
}

// notes returns the small print in a box.
func (t *Transition) notes() string {
	var notes []string
	switch {
	case t.Every > 0:
		notes = append(notes, "every "+text.Exact(t.Every))
	case len(t.Tools) == 0:
		notes = append(notes, "by itself")
	case len(t.Tools) > maxTools, !t.namesTool():
		notes = append(notes, text.First(maxTools, t.Tools))
	}
	if len(t.Key) > 0 {
		notes = append(notes, "for each "+strings.Join(t.Key, ", "))
	}
	if len(t.Unless) > 0 {
		notes = append(notes, "unless "+strings.Join(t.Unless, ", "))
	}
	for _, note := range []struct {
		is   bool
		text string
	}{
		{t.Sum != "", "up to " + t.Sum}, {t.Row, "equal calls in a row"}, {t.Manual, "asks " + text.People(t.People, "", "")},
		{t.Deferred, "on success"}, {t.Spoils, "spoils evidence"}, {t.Observe && !t.Spoils, "only watches"}, {t.Never, "never"},
	} {
		if note.is {
			notes = append(notes, note.text)
		}
	}
	return strings.Join(notes, " · ")
}

// look returns the style for the transition's box.
func (t *Transition) look() look {
	kind := "call"
	switch {
	case t.Never:
		kind = "never"
	case t.Manual:
		kind = "manual"
	case t.Observe:
		kind = "observe"
	case len(t.Tools) == 0:
		kind = "auto"
	}
	return looks[slices.IndexFunc(looks, func(l look) bool { return l.name == kind })]
}

// tokens returns one dot per token or, if there are many tokens, their number.
func (p *Place) tokens() string {
	switch {
	case p.Tokens == 0:
		return ""
	case p.Tokens <= 4:
		return strings.Repeat("●", p.Tokens)
	default:
		return fmt.Sprint(p.Tokens)
	}
}

// heading returns the net's name and position.
func (n *Net) heading() string {
	if n.From == "" {
		return n.Name
	}
	return n.Name + " (" + n.From + ")"
}

// A link is an arc in the drawing. If a transition takes tokens from a place and puts the same
// number back, there is only a single link.
type link struct {
	place, transition int
	weight            int
	in, out           bool // whether the link has an arrow at the transition, and whether it has one at the place
}

func (n *Net) links() []link {
	var links []link
	for t := range n.Transitions {
		tr := &n.Transitions[t]
		for _, a := range tr.In {
			both := weight(tr.Out, a.Place) == a.Weight
			links = append(links, link{a.Place, t, a.Weight, true, both})
		}
		for _, a := range tr.Out {
			if weight(tr.In, a.Place) != a.Weight {
				links = append(links, link{a.Place, t, a.Weight, false, true})
			}
		}
	}
	return links
}

func weight(arcs []petri.Arc, place int) int {
	if a := list.Find(arcs, func(a petri.Arc) bool { return a.Place == place }); a != nil {
		return a.Weight
	}
	return 0
}

// A Lack describes a place that holds fewer tokens than a transition takes.
type Lack struct {
	Place      string
	Has, Needs int // the number of tokens that are not in flight, and the number that the transition needs
}

// String describes the missing tokens.
func (l Lack) String() string {
	if l.Has == 0 && l.Needs == 1 {
		return l.Place + " is empty"
	}
	return fmt.Sprintf("%s has %d of %d", l.Place, l.Has, l.Needs)
}

// showsState reports whether the picture shows whether the transition is enabled.
func (n *Net) showsState(t *Transition) bool {
	return n.live && !t.Listed && (len(t.Tools) > 0 || t.Every > 0)
}

// Blocks reports whether calls are refused while the transition is not enabled.
func (t *Transition) Blocks() bool { return len(t.Tools) > 0 && !t.Observe && !t.Listed }

// stateText returns a description of the transition's state in a live net.
func (t *Transition) stateText() string {
	if len(t.Lacks) == 0 {
		return "enabled"
	}
	if !t.Blocks() {
		return "rests: " + t.lacks()
	}
	return t.lacks()
}

func (t *Transition) lacks() string {
	return strings.Join(list.Map(t.Lacks, Lack.String), ", ")
}

// longestState returns the longest description that stateText can return. It is used so that the
// layout does not change when tokens move.
func (n *Net) longestState(t *Transition) string {
	all := &Transition{Tools: t.Tools, Observe: t.Observe}
	all.Lacks = list.Map(t.In, func(a petri.Arc) Lack { return Lack{n.Places[a.Place].Name, 0, a.Weight} })
	return all.stateText()
}

// A look is the style of a kind of box.
type look struct {
	name, fill, stroke string
	dash               bool
}

var looks = []look{
	{"call", "#e0e7ff", "#4f46e5", false},
	{"manual", "#fef3c7", "#b45309", false},
	{"observe", "#ffffff", "#4f46e5", true},
	{"auto", "#f1f5f9", "#94a3b8", false},
	{"never", "#fee2e2", "#dc2626", false},
}
