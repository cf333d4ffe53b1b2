// Package draw draws Petri nets in the formats Mermaid, DOT and SVG. It computes a layout only for
// SVG; the other formats leave the layout to the program that displays them.
//
// A picture shows what a net gates. A box is a transition, with the tools it gates; small print
// shows whether it requires approval, whether it waits for the call to succeed, and so on.
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

// A Net is a Petri net to be drawn. Arcs refer to places by index.
type Net struct {
	Name        string
	From        string // position in the user's files, such as safety.rules:3; may be empty
	Places      []Place
	Transitions []Transition

	live bool // set by Live
}

// A Place is drawn as a circle that contains its initial tokens.
type Place struct {
	Name     string
	Tokens   int
	Terminal bool // whether a workflow can end when this place is marked

	// Set by Net.Live.
	Now      int  // current tokens, including those in flight
	InFlight int  // tokens held by calls in flight
	Wanted   bool // whether a blocked call needs a token from this place
}

// A Transition is drawn as a box.
type Transition struct {
	Name    string
	Tools   []string // tools that the transition gates; if empty, the transition fires by itself
	In, Out []petri.Arc

	Manual   bool          // whether the transition requires approval
	People   int           // number of different people who must approve; 0 means one
	Deferred bool          // whether the transition waits for the call to succeed
	Observe  bool          // whether the transition never blocks a call
	Spoils   bool          // whether earlier calls stop counting toward requirements when the transition fires
	Row      bool          // whether the transition counts consecutive identical calls
	Sum      string        // limit on a sum, such as "1000 of amount"; may be empty
	Never    bool          // whether the transition is known never to fire
	Every    time.Duration // interval between firings of a timed transition; 0 if the transition is not timed
	Key      []string      // fields of the key; the transition fires separately for each value of the key
	Unless   []string      // names that exempt a call from the transition, so that the call does not fire it
	Listed   bool          // whether the box shows an allowlist instead of a transition

	Lacks []Lack // missing tokens, set by Net.Live; empty if the transition is enabled
}

// maxTools is the maximum number of tools listed in a box.
const maxTools = 3

// title returns the text in large print in a box. If the transition has only one tool and is named
// after it, the text is the name of the tool. Otherwise, it is the name of the transition.
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

// look chooses the style of the transition's box.
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

// tokens returns a dot for each token or, if there are more than four, their number.
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

// heading returns the net's name with its position, if known.
func (n *Net) heading() string {
	if n.From == "" {
		return n.Name
	}
	return n.Name + " (" + n.From + ")"
}

// A link is an arc in the drawing. A transition that takes tokens from a place and puts the same
// number back has a single link to that place.
type link struct {
	place, transition int
	weight            int
	in, out           bool // whether the link has an arrowhead at the transition and at the place
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

// A Lack is a place that holds fewer tokens than a transition takes from it.
type Lack struct {
	Place      string
	Has, Needs int // tokens available, excluding those in flight, and tokens needed
}

// String describes the lack in words.
func (l Lack) String() string {
	if l.Has == 0 && l.Needs == 1 {
		return l.Place + " is empty"
	}
	return fmt.Sprintf("%s has %d of %d", l.Place, l.Has, l.Needs)
}

// showsState reports whether the box of transition t displays the transition's current state.
func (n *Net) showsState(t *Transition) bool {
	return n.live && !t.Listed && (len(t.Tools) > 0 || t.Every > 0)
}

// Blocks reports whether calls are refused while the transition is not enabled.
func (t *Transition) Blocks() bool { return len(t.Tools) > 0 && !t.Observe && !t.Listed }

// stateText describes the state of the transition in a live net.
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

// longestState returns the longest text that stateText can return for t. Making room for it keeps
// the layout stable when tokens move.
func (n *Net) longestState(t *Transition) string {
	all := &Transition{Tools: t.Tools, Observe: t.Observe}
	all.Lacks = list.Map(t.In, func(a petri.Arc) Lack { return Lack{n.Places[a.Place].Name, 0, a.Weight} })
	return all.stateText()
}

// A look is the style of one kind of box.
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
