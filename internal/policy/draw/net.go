// Package draw shows Petri nets to people: as Mermaid and DOT, which other
// programs lay out, and as SVG, laid out here.
//
// A picture says what a net gates and how: the tools stand in the boxes, and
// below them in small print whether a person is asked and whether the net
// waits for the success of the call.
package draw

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/petri"
	"github.com/petrigate/petrigate/internal/text"
)

// A Net is a net to draw. Arcs refer to places by number.
type Net struct {
	Name        string
	From        string // where the user wrote it, such as safety.rules:3; may be empty
	Places      []Place
	Transitions []Transition

	live bool // Net.Live was called
}

// A Place is a circle with its tokens at the start.
type Place struct {
	Name     string
	Tokens   int
	Terminal bool // it is right to stop here

	// Of a net that is live.
	Now      int  // tokens, those in flight included
	InFlight int  // of them, which a call holds
	Wanted   bool // a call lacks a token here
}

// A Transition is a box.
type Transition struct {
	Name    string
	Tools   []string // what it gates; none: it fires by itself
	In, Out []petri.Arc

	Manual   bool          // a person is asked
	People   int           // how many different persons must approve; 0: one
	Deferred bool          // it waits for the success of the call
	Observe  bool          // it never forbids the call
	Spoils   bool          // it takes evidence away that other calls gave
	Row      bool          // it counts equal calls in a row
	Sum      string        // what may be spent, such as "1000 of amount"; empty: it is not about that
	Never    bool          // it is known that it cannot fire
	Every    time.Duration // it fires by the clock; 0: it does not
	Key      []string      // it fires for each value of these fields by itself
	Unless   []string      // calls with one of these names are exempt
	Listed   bool          // it is no transition, but names that pass

	Lacks []Lack // of a net that is live: why it cannot fire; empty: it can
}

// maxTools is the maximum number of tools in a box.
const maxTools = 3

// title is the large print of a box. A transition that only repeats the name
// of its tool shows the tool.
func (t *Transition) title() string {
	if t.namesTool() {
		return t.Tools[0]
	}
	return t.Name
}

func (t *Transition) namesTool() bool {
	return len(t.Tools) == 1 && (t.Name == t.Tools[0] || t.Name == "do-"+t.Tools[0])
}

// notes are the small print of a box.
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

// look returns the style of the kind of a box.
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

// tokens are dots, or a number where they are many.
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

// heading is the name of a net and where it was written.
func (n *Net) heading() string {
	if n.From == "" {
		return n.Name
	}
	return n.Name + " (" + n.From + ")"
}

// link is an arc as it is drawn: one line for a transition that takes tokens
// and puts as many back.
type link struct {
	place, transition int
	weight            int
	in, out           bool // to the transition, from it
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
