package config

import (
	"fmt"
	"slices"
	"strings"
)

// A Proof is an element of [Net.Prove]: a property of the net that must hold under the policy that
// contains the net.
type Proof struct {
	Claim    string   // "deadlock-free", "conserved", "no-terminal-states" or "exclusive"
	Places   []string // names of two or more places in the net, if Claim is "exclusive"
	Position Position
}

const exclusive = "exclusive"

var claims = []string{"deadlock-free", "conserved", "no-terminal-states", exclusive}

func readProof(v Value) (Proof, bool) {
	p := Proof{Position: v.Position()}
	if !v.hasKind(textKind) {
		return p, false
	}
	word, rest, _ := strings.Cut(strings.TrimSpace(v.text), " ")
	p.Claim = word
	switch {
	case !v.passes(word, checkWord(claims)):
		return p, false
	case word == exclusive:
		p.Places = readExclusive(v, rest)
		return p, len(p.Places) > 1
	case rest != "":
		v.Fault(fmt.Sprintf("%q of \"prove\" applies to the whole net", word), "write "+word)
	}
	return p, rest == ""
}

// readExclusive reads the names of two or more places in the net.
func readExclusive(v Value, text string) (places []string) {
	for place := range strings.SplitSeq(text, ",") {
		place = strings.TrimSpace(place)
		if place != "" && slices.Contains(places, place) {
			v.Fault(fmt.Sprintf("the place %q is named twice", place), "")
			return nil
		}
		places = append(places, place)
	}
	if len(places) < 2 || slices.Contains(places, "") {
		v.Fault(`"exclusive" requires two or more places, separated by commas`, `write "exclusive building, canary", in quotes`)
		return nil
	}
	return places
}
