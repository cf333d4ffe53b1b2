package policytest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/internal/text"
)

// A policyCase is one case: a policy, and what happens under it.
type policyCase struct {
	Name    string            `json:"name"`
	Rules   string            `json:"rules"`
	Nets    []json.RawMessage `json:"nets"`
	Active  []string          `json:"active"`
	Default string            `json:"default"`
	Mode    string            `json:"mode"`
	Events  []event           `json:"events"`
}

// An event is a call, the answer of a person, a result, a switch of a net, or
// time that passes.
type event struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Tool    string          `json:"tool"`
	Also    []string        `json:"also"` // further names of the tool
	Args    json.RawMessage `json:"args"`
	Approve consent         `json:"approve"`
	Outcome string          `json:"outcome"`
	Net     string          `json:"net"`
	For     string          `json:"for"`   // how long time passes, such as 20s
	Times   int             `json:"times"` // the call is made so often, one after the other, and each succeeds; 0: once, and a result tells how it ends
}

// maxTimes bounds how often one event makes a call.
const maxTimes = 10_000_000

// consent is [sandbox.Consent] as a case writes it.
type consent sandbox.Consent

// UnmarshalJSON reads true, false or "wait".
func (c *consent) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "null":
	case "true":
		*c = consent(sandbox.Yes)
	case "false":
		*c = consent(sandbox.No)
	case `"wait"`:
		*c = consent(sandbox.Later)
	default:
		return fmt.Errorf(`approve is true, false or "wait", not %s`, b)
	}
	return nil
}

var outcomes = map[string]gate.Outcome{"success": gate.Success, "failure": gate.Failure, "unknown": gate.Unknown}

// readCase reads a line: a case, or a case beside what is expected of it.
func readCase(line []byte) (*policyCase, json.RawMessage, error) {
	inner, expect, err := split(line)
	if err != nil {
		return nil, nil, err
	}
	c := &policyCase{}
	if err := strict(inner, c); err != nil {
		return c, expect, unknownField(inner, err) // with its name, where that was read
	}
	return c, expect, c.check()
}

// unknownField says which fields there are, where err is about one that there
// is not.
func unknownField(src []byte, err error) error {
	var outer map[string]json.RawMessage
	if json.Unmarshal(src, &outer) != nil {
		return err
	}
	if wrong := fieldsBut(outer, policyCase{}); wrong != nil {
		return wrong
	}
	var events []map[string]json.RawMessage
	if json.Unmarshal(outer["events"], &events) != nil {
		return err
	}
	for i, e := range events {
		if wrong := fieldsBut(e, event{}); wrong != nil {
			return fmt.Errorf("event %d: %w", i, wrong)
		}
	}
	return err
}

// readEvent reads an event by itself.
func readEvent(src []byte) (*event, error) {
	e := &event{}
	if err := strict(src, e); err != nil {
		var keys map[string]json.RawMessage
		if json.Unmarshal(src, &keys) == nil {
			if wrong := fieldsBut(keys, *e); wrong != nil {
				return e, wrong
			}
		}
		return e, err
	}
	return e, e.check()
}

// fieldsBut is an error about the first key that the type of v has no field for.
func fieldsBut(keys map[string]json.RawMessage, v any) error {
	var known []string
	for f := range reflect.TypeOf(v).Fields() {
		known = append(known, f.Tag.Get("json"))
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if slices.ContainsFunc(known, func(name string) bool { return strings.EqualFold(name, key) }) {
			continue
		}
		if near := text.Nearest(key, known); near != "" {
			return fmt.Errorf("unknown field %q (did you mean %q?)", key, near)
		}
		return fmt.Errorf("unknown field %q (the fields are %s)", key, strings.Join(known, ", "))
	}
	return nil
}

// split takes {"case": ..., "expect": ...} apart, and leaves other lines as they are.
func split(line []byte) (inner, expect json.RawMessage, err error) {
	if !bytes.Contains(line, []byte(`"case"`)) {
		return line, nil, nil // it need not be read twice
	}
	var outer map[string]json.RawMessage
	if err := json.Unmarshal(line, &outer); err != nil {
		return nil, nil, err
	}
	if _, ok := outer["case"]; !ok {
		return line, nil, nil
	}
	for key := range outer {
		if key != "case" && key != "expect" {
			return nil, nil, fmt.Errorf("unknown key %q beside the case", key)
		}
	}
	return outer["case"], outer["expect"], nil
}

// strict decodes one JSON value and refuses unknown keys and a second value.
func strict(src []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(src))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the case")
	}
	return nil
}

func (c *policyCase) check() error {
	if c.Mode != "" && c.Mode != "enforce" && c.Mode != "shadow" {
		return fmt.Errorf("unknown mode %q: enforce or shadow", c.Mode)
	}
	for i, e := range c.Events {
		if err := e.check(); err != nil {
			return fmt.Errorf("event %d: %w", i, err)
		}
	}
	return nil
}

func (e *event) check() error {
	switch e.Type {
	case "call":
		if e.Tool == "" {
			return errors.New("the call has no tool")
		}
		if a := e.arguments(); a != nil && a[0] != '{' {
			return errors.New("the args are no object")
		}
		if e.Times < 0 || e.Times > maxTimes {
			return fmt.Errorf("a call is made from 1 to %d times", maxTimes)
		}
		if e.Times > 0 && e.Approve == consent(sandbox.Later) {
			return errors.New("a call that is made several times is answered at once")
		}
	case "result":
		if _, ok := outcomes[e.Outcome]; !ok {
			return fmt.Errorf("unknown outcome %q", e.Outcome)
		}
	case "answer":
		if e.Approve != consent(sandbox.Yes) && e.Approve != consent(sandbox.No) {
			return errors.New("the answer is neither true nor false")
		}
	case "activate", "deactivate":
	case "wait":
		if e.duration() <= 0 {
			return fmt.Errorf("%q is not how long time passes, such as 20s", e.For)
		}
	default:
		return fmt.Errorf("unknown type %q", e.Type)
	}
	return nil
}

// duration is how long time passes; 0 where that is not known.
func (e *event) duration() time.Duration {
	d, _ := time.ParseDuration(e.For)
	return d
}

// also are the further names of the tool.
func (e *event) also() []gate.Name {
	var names []gate.Name
	for _, text := range e.Also {
		names = append(names, gate.Name{Text: text, Certain: true})
	}
	return names
}

// arguments is the object of arguments; nil where there is none.
func (e *event) arguments() []byte {
	if string(e.Args) == "null" {
		return nil
	}
	return e.Args
}
