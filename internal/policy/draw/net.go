// Package draw draws Petri nets: as Mermaid and DOT, which other programs lay out, and as SVG with
// a layout of its own.
//
// A picture shows what a net gates: the tools are in the boxes, and below them in small print
// whether approval is required and whether the net waits for the success of the call.
//
// [OfPolicy], [OfNet] and [OfFile] convert nets into a [Net]. [Mermaid], [DOT] and [SVG] write
// several nets; [LiveSVG] writes one with its current marking. Layers are computed by the method of
// Sugiyama et al. (layout.go). A Net is plain data; the functions do not modify it, except
// [Net.Live].
package draw

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/petri"
	"github.com/petrigate/petrigate/internal/text"
)

// A Net is a net to draw. Arcs refer to places by index.
type Net struct {
	Name        string
	From        string // position in the user's files, such as safety.rules:3; may be empty
	Places      []Place
	Transitions []Transition

	live bool // Net.Live was called
}

// A Place is drawn as a circle with its initial tokens.
type Place struct {
	Name     string
	Tokens   int
	Terminal bool // a workflow may end here

	// Set by Net.Live.
	Now      int  // tokens, including those in flight
	InFlight int  // tokens held by calls in flight
	Wanted   bool // a blocked call lacks a token here
}

// A Transition is drawn as a box.
type Transition struct {
	Name    string
	Tools   []string // tools that it gates; none: it fires by itself
	In, Out []petri.Arc

	Manual   bool          // requires approval
	People   int           // number of different people who must approve; 0: one
	Deferred bool          // waits for the success of the call
	Observe  bool          // never blocks a call
	Spoils   bool          // invalidates evidence that other calls gave
	Row      bool          // counts equal calls in a row
	Sum      string        // limit of a sum, such as "1000 of amount"; empty: none
	Never    bool          // is known never to fire
	Every    time.Duration // fires by the clock; 0: it does not
	Key      []string      // fires for each value of these fields separately
	Unless   []string      // calls with one of these names are exempt
	Listed   bool          // not a transition, but a list of admitted names

	Lacks []Lack // set by Net.Live: missing tokens; empty: enabled
}

// maxTools is the maximum number of tools listed in a box.
const maxTools = 3

// title returns the large print of a box. A transition that only repeats the name of its tool shows
// the tool.
func (t *Transition) title() string {
	if t.namesTool() {
		return t.Tools[0]
	}
	return t.Name
}

func (t *Transition) namesTool() bool {
	return len(t.Tools) == 1 && (t.Name == t.Tools[0] || t.Name == "do-"+t.Tools[0])
}

// notes returns the small print of a box.
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

// look returns the style of the box.
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

// tokens returns dots, or a number if there are many.
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

// heading returns the name of a net and its position.
func (n *Net) heading() string {
	if n.From == "" {
		return n.Name
	}
	return n.Name + " (" + n.From + ")"
}

// link is a drawn arc: a single line for a transition that takes tokens and puts the same number
// back.
type link struct {
	place, transition int
	weight            int
	in, out           bool // arrow to the transition, arrow to the place
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
	for _, a := range arcs {
		if a.Place == place {
			return a.Weight
		}
	}
	return 0
}

// A Lack is a place that has fewer tokens than a transition takes.
type Lack struct {
	Place      string
	Has, Needs int // tokens that are not in flight
}

// String describes the missing tokens.
func (l Lack) String() string {
	if l.Has == 0 && l.Needs == 1 {
		return l.Place + " is empty"
	}
	return fmt.Sprintf("%s has %d of %d", l.Place, l.Has, l.Needs)
}

// showsState reports whether the picture shows if the transition is enabled.
func (n *Net) showsState(t *Transition) bool {
	return n.live && !t.Listed && (len(t.Tools) > 0 || t.Every > 0)
}

// Blocks reports whether calls are refused if the transition is not enabled.
func (t *Transition) Blocks() bool { return len(t.Tools) > 0 && !t.Observe && !t.Listed }

// stateText returns the text about the state of a transition in a live net.
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
	words := make([]string, len(t.Lacks))
	for i, l := range t.Lacks {
		words[i] = l.String()
	}
	return strings.Join(words, ", ")
}

// longestState returns the longest possible result of stateText, so that the layout does not change
// when tokens move.
func (n *Net) longestState(t *Transition) string {
	all := &Transition{Tools: t.Tools, Observe: t.Observe}
	for _, a := range t.In {
		all.Lacks = append(all.Lacks, Lack{n.Places[a.Place].Name, 0, a.Weight})
	}
	return all.stateText()
}

// look is the style of a kind of box.
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
