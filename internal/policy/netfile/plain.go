package netfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/internal/diag"
)

// A plainNet is a net in plain JSON. Other keys, such as those that state the origin of the net,
// are ignored.
type plainNet struct {
	Name        string         `json:"name"`
	Places      []string       `json:"places"`
	Initial     map[string]int `json:"initial"`
	Terminal    []string       `json:"terminal"`
	Transitions []struct {
		Name string        `json:"name"`
		In   []weightedArc `json:"in"`
		Out  []weightedArc `json:"out"`
	} `json:"transitions"`
}

// UnmarshalJSON decodes an arc of the form ["place", weight].
func (w *weightedArc) UnmarshalJSON(doc []byte) error {
	var pair []json.RawMessage
	if json.Unmarshal(doc, &pair) != nil || len(pair) != 2 || json.Unmarshal(pair[0], &w.place) != nil || json.Unmarshal(pair[1], &w.weight) != nil {
		return fmt.Errorf("an arc is [\"place\", weight], not %.40s", doc)
	}
	return nil
}

// isPlain reports whether src is a net in plain JSON. A net in a configuration uses inputs, outputs
// and initialMarking instead of in, out and initial.
func isPlain(src []byte) bool {
	if !bytes.HasPrefix(src, []byte("{")) {
		return false
	}
	var doc struct {
		Initial     json.RawMessage              `json:"initial"`
		Transitions []map[string]json.RawMessage `json:"transitions"`
	}
	if json.Unmarshal(src, &doc) != nil {
		return false
	}
	return doc.Initial != nil || slices.ContainsFunc(doc.Transitions, func(t map[string]json.RawMessage) bool {
		return t["in"] != nil || t["out"] != nil
	})
}

func readPlain(name string, src []byte) (*Net, error) {
	var doc plainNet
	if err := json.Unmarshal(src, &doc); err != nil {
		return nil, jsonError(name, src, err)
	}
	b := newBuilder(name, doc.Name)
	for _, place := range doc.Places {
		b.place(place, doc.Initial[place])
	}
	for place := range doc.Initial {
		if _, ok := b.numbers[place]; !ok {
			b.fail("the initial marking names the unknown place %q", place)
		}
	}
	for _, place := range doc.Terminal {
		p, ok := b.numbers[place]
		if !ok {
			b.fail("unknown terminal place %q", place)
		}
		b.net.Terminal = append(b.net.Terminal, p)
	}
	for i, t := range doc.Transitions {
		if t.Name == "" {
			b.fail("transition %d has no name", i+1)
		}
		b.transition(t.Name, t.In, t.Out)
	}
	return b.finish()
}

// jsonError converts a JSON error to a problem, with the position of the error if that is known.
func jsonError(name string, src []byte, err error) error {
	e := diag.Problem{File: name, Msg: err.Error()}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		before := src[:min(int(wrong.Offset), len(src))]
		e.Line = 1 + bytes.Count(before, []byte("\n"))
		e.Column = len([]rune(string(before[bytes.LastIndexByte(before, '\n')+1:])))
		e.Msg = fmt.Sprintf("%s cannot be %s", wrong.Field, wrong.Value)
	}
	return e
}
