package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// A Proof is one entry of [Net.Prove]: what must hold of the net under the
// policy that it is part of.
type Proof struct {
	Claim    string   // "deadlock-free", "conserved", "no-terminal-states" or "exclusive"
	Places   []string // of "exclusive": two or more
	Position Position
}

// exclusive is the claim that names places.
const exclusive = "exclusive"

var claims = []string{"deadlock-free", "conserved", "no-terminal-states", exclusive}

func readProofs(d *decoder, to *[]Proof) func(key, value *node) {
	return func(key, value *node) {
		d.items(key, value, func(item *node) {
			if p, ok := readProof(d, key, item); ok {
				*to = append(*to, p)
			}
		})
	}
}

func readProof(d *decoder, key, item *node) (Proof, bool) {
	word, rest, _ := strings.Cut(strings.TrimSpace(item.text), " ")
	p := Proof{Claim: word, Position: d.position(item)}
	if !d.word(key, item, word, claims, nil) {
		return p, false
	}
	if word == exclusive {
		return p, readExclusive(d, item, rest, &p.Places)
	}
	if rest != "" {
		d.at(item, fmt.Sprintf("%q of \"prove\" is about the whole net", word), fmt.Sprintf("write %s", word))
		return p, false
	}
	return p, true
}

// readExclusive reads the places.
func readExclusive(d *decoder, item *node, text string, to *[]string) bool {
	for place := range strings.SplitSeq(text, ",") {
		place = strings.TrimSpace(place)
		switch {
		case place == "":
			d.at(item, `"exclusive" requires two or more places, separated by commas`, `write "exclusive building, canary", in quotes`)
			return false
		case slices.Contains(*to, place):
			d.at(item, fmt.Sprintf("the place %q is named twice", place), "")
			return false
		}
		*to = append(*to, place)
	}
	if len(*to) == 1 {
		d.at(item, `"exclusive" requires two or more places, separated by commas`, `write "exclusive building, canary", in quotes`)
	}
	return len(*to) > 1
}

// checkProofs finds places that the net does not have.
func checkProofs(d *decoder, net *Net) {
	for _, p := range net.Prove {
		for _, place := range p.Places {
			if !slices.Contains(net.Places, place) {
				d.foreign(p.Position, fmt.Sprintf("unknown place %q", place), text.Suggest(place, net.Places))
			}
		}
	}
}
